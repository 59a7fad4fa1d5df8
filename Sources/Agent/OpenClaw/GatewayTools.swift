import Core
import Records
import Turns

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

  /// Takes the data of an event of the stream `tool`.
  ///
  /// - Returns: the call as it is now; nil when nothing of it changed.
  mutating func take(_ data: JSONValue, _ turn: TurnRecord) -> ToolCallRecord? {
    guard
      var call = OpenClawTool.record(
        data, arguments: data["args"].map { Array($0.compact().utf8) }, turn),
      call.id.utf8.count <= Self.longestID
    else { return nil }
    let known = calls[call.id]
    if let known {
      if known.state.isEnd { return nil }
      let told = call
      call = known
      _ = call.merge(told)
      call.stdout = told.stdout ?? known.stdout
      if call == known { return nil }
      call.time = told.time
    }
    if call.tool.isEmpty { call.tool = "tool" }
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
}
