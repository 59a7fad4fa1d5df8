import Core
import Records

/// The tools that a run calls, joined by their call ids (Agent/OpenClaw/CONTRACT.md 7). What
/// is kept of them has a limit, however many a gateway tells of.
struct GatewayTools {
  private var calls: [String: ToolCallRecord] = [:]
  /// The ids, oldest first.
  private var order: [String] = []
  private var bytes = 0

  /// The most calls that are kept, and their bytes.
  private static let (mostCalls, mostBytes) = (1000, 16 << 20)
  /// The longest id that is one, bytes.
  private static let longestID = 1024
  /// The longest output that is kept whole, and what is kept of a longer one, bytes.
  private static let (mostOutput, keptOutput) = (1 << 20, 1 << 18)

  /// Takes the data of an event of the stream `tool`.
  ///
  /// - Parameters:
  ///   - data: the event's.
  ///   - run: whose call it is.
  ///   - thread: the session key.
  /// - Returns: the call as it is now; nil when nothing of it changed.
  mutating func take(
    _ data: JSONValue, run: String, thread: String, origin: RecordOrigin, time: Timestamp
  ) -> ToolCallRecord? {
    guard let id = data["toolCallId"]?.string, id.utf8.count <= Self.longestID else { return nil }
    let known = calls[id]
    if known?.state.isEnd == true { return nil }
    let name = data["name"]?.string ?? known?.tool ?? "tool"
    var call =
      known
      ?? ToolCallRecord(origin, id: id, thread: thread, tool: name, state: .running, time: time)
    call.turn = run
    if let meta = data["meta"]?.string { call.label = meta }
    switch data["phase"]?.string {
    case "start":
      call.arguments = data["args"].map { Array($0.compact().utf8) }
      call.started = call.started ?? time
    case "update": if let output = Self.output(data["partialResult"]) { call.stdout = output }
    case "result", "end", "error":
      let failed = data["isError"]?.bool == true || data["phase"]?.string == "error"
      call.state = failed ? .failed : .succeeded
      call.ended = time
      if let output = Self.output(data["result"]) { call.stdout = output }
    default: return nil
    }
    if call == known { return nil }
    call.time = time
    keep(call, instead: known)
    return call
  }

  private mutating func keep(_ call: ToolCallRecord, instead known: ToolCallRecord?) {
    if known == nil { order.append(call.id) }
    bytes += Self.size(call) - (known.map(Self.size) ?? 0)
    calls[call.id] = call
    while order.count > 1, order.count > Self.mostCalls || bytes > Self.mostBytes {
      guard let oldest = calls.removeValue(forKey: order.removeFirst()) else { continue }
      bytes -= Self.size(oldest)
    }
  }

  private static func size(_ call: ToolCallRecord) -> Int {
    call.id.utf8.count + call.tool.utf8.count + (call.label?.utf8.count ?? 0)
      + (call.arguments?.count ?? 0) + (call.stdout?.utf8.count ?? 0)
  }

  private static func output(_ value: JSONValue?) -> String? {
    guard let value, let text = ReplyText.text(of: value) ?? value.text else { return nil }
    return text.utf8.count > mostOutput ? text.tail(bytes: keptOutput) : text
  }
}
