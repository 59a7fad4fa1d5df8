import Core
import Records

struct ToolsUnderWay {
  private var open: [String: ToolCallRecord] = [:]
  private(set) var isUsed = false

  private static let most = 1000

  var isWorking: Bool { !open.isEmpty }

  /// Nil for an event that is not of a tool.
  mutating func receive(
    _ event: JoelclawEvent, _ origin: RecordOrigin, thread: String, _ now: Timestamp
  ) -> ToolCallRecord? {
    switch event {
    case .toolCall(let id, let tool, let arguments):
      var call = ToolCallRecord(
        origin, id: id, thread: thread, tool: tool, state: .running, time: now)
      call.arguments = arguments
      call.started = now
      if open.count < Self.most { open[id] = call }
      isUsed = true
      return call
    case .toolResult(let id, let tool, let output, let isError):
      var call =
        open.removeValue(forKey: id)
        ?? ToolCallRecord(
          origin, id: id, thread: thread, tool: tool ?? "", state: .running, time: now)
      call.state = isError ? .failed : .succeeded
      call.stdout = output
      call.ended = now
      call.time = now
      isUsed = true
      return call
    case .status, .text, .turnEnd, .error, .other: return nil
    }
  }
}
