import Core
import Records

/// What a reply command says of its work beside the reply: a record of
/// agentutils-records(5), of which it needs to write no more than what it is about.
enum ReplyNote: Equatable {
  struct Tool: Equatable {
    /// By which it is known again in the same reply.
    let id: String
    let name: String
    let label: String?
    let arguments: JSONNode
    /// All that it printed so far; nil for nothing new.
    let output: String?
    let exitCode: Int?
    let milliseconds: Int?
    let state: ToolCallRecord.State
  }

  case tool(Tool)
  case thinking(String)
  case usage(JSONNode)

  /// The longest id or name, bytes.
  private static let longestName = 200

  init(_ line: [UInt8]) throws(Failure) {
    let record: JSONValue
    do {
      record = try line.withUnsafeBytes { try JSONValue.parse($0) }
    } catch {
      throw Failure("not JSON" + ((error as? Failure).map { ": \($0.reason)" } ?? ""))
    }
    switch record["type"]?.string {
    case RecordType.toolCall.rawValue: self = .tool(try Self.tool(record))
    case RecordType.message.rawValue:
      guard record["role"]?.string == MessageRecord.Role.thinking.rawValue else {
        throw Failure("a message whose role is not thinking")
      }
      self = .thinking(try Self.text("text", of: record))
    case RecordType.turn.rawValue: self = .usage(Self.usage(record))
    default: throw Failure("neither a tool_call nor a message nor a turn")
    }
  }

  private static func tool(_ record: JSONValue) throws(Failure) -> Tool {
    let word = record["state"]?.string ?? ToolCallRecord.State.running.rawValue
    guard let state = ToolCallRecord.State(rawValue: word) else {
      throw Failure("a state that is not known")
    }
    let parts = [record["stdout"], record["stderr"]].compactMap { $0?.string }
    return Tool(
      id: try name("id", of: record), name: try name("tool", of: record),
      label: record["label"]?.string ?? record["reason"]?.string,
      arguments: .value(record["arguments"]), output: parts.isEmpty ? nil : parts.joined(),
      exitCode: record["exit_code"]?.integer.map(Int.init(clamping:)),
      milliseconds: record["duration_ms"]?.integer.map(Int.init(clamping:)), state: state)
  }

  private static func usage(_ record: JSONValue) -> JSONNode {
    func number(_ value: JSONValue?) -> JSONNode {
      .number((value?.integer).map { Int(clamping: max($0, 0)) })
    }
    let usage = record["usage"]
    let cost = record["usd_cost"]?.number.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    return [
      "input": number(usage?["input_tokens"]), "output": number(usage?["output_tokens"]),
      "cost": cost.map { ["total": .raw(Array("\($0)".utf8))] } ?? .absent,
    ]
  }

  private static func name(_ member: String, of record: JSONValue) throws(Failure) -> String {
    let name = try text(member, of: record)
    if name.isEmpty || name.utf8.count > longestName {
      throw Failure("the \(member) is empty or longer than \(longestName) bytes")
    }
    return name
  }

  private static func text(_ member: String, of record: JSONValue) throws(Failure) -> String {
    guard let value = record[member] else { throw Failure("no \(member)") }
    guard let text = value.string else { throw Failure("the \(member) is not a string") }
    return text
  }
}

extension JSONNode: Equatable {
  static func == (one: JSONNode, other: JSONNode) -> Bool { one.bytes == other.bytes }
}
