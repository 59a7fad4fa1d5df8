package import Core
package import Records

/// A row of a conversation, as the gateway keeps it (CONTRACT.md 6).
package struct OpenClawRow {
  package let role: MessageRecord.Role
  package var text: String
  package let pictures: Int
  package let time: Timestamp?
  package let id: String?
  /// What the words were sent under; nil for those of others, and of old gateways.
  package let key: String?
  /// The run that said it.
  package let run: String?
  /// The run into which the words went, where one was at work.
  package let steered: String?
  /// Whether the gateway says it to the agent by itself, to go on behind a restart.
  package let isOwn: Bool
  /// The calls of tools in it. What is said in such a row, or in another one of its id, is no part
  /// of an answer.
  package let calls: [JSONValue]
  /// What became of a call, where the row tells that.
  let result: (call: String, tool: String, isError: Bool)?
  /// Whether some of the text, or all of it, is missing.
  package var isCut: Bool
  /// How the run ended that said it, where it says so.
  package let end: TurnRecord.State?

  /// The most characters of a text that a gateway gives unasked.
  private static let usualText = 8000

  package init?(_ row: JSONValue) {
    guard let role = row["role"]?.string else { return nil }
    isOwn = row["provenance"]?["kind"]?.string == "internal_system"
    self.role = isOwn ? .system : MessageRecord.Role(rawValue: role) ?? .tool
    let blocks = row["content"]?.elements ?? []
    pictures = blocks.filter { $0["type"]?.string == "image" }.count
    calls = blocks.filter { $0["type"]?.string == "toolCall" }
    result = row["toolCallId"]?.string.map {
      ($0, row["toolName"]?.string ?? "", row["isError"]?.bool == true)
    }
    text = OpenClawMessage.text(of: row) ?? ""
    time = row["timestamp"]?.instant
    let more = row["__openclaw"]
    id = more?["id"]?.text ?? row[either: "id", "messageId"]?.text
    let key = row["idempotencyKey"]?.string
    self.key = key.map { $0.hasSuffix(":user") ? String($0.dropLast(5)) : $0 }
    run = more?["runId"]?.string
    steered = more?["steerTargetRunId"]?.string
    // An old gateway says it in the text alone.
    isCut =
      more?["truncated"]?.bool == true
      || text.hasSuffix("\n...(truncated)...") && text.utf16.count > Self.usualText
    end =
      row["openclawAbort"]?["aborted"]?.bool == true
      ? .aborted : row["stopReason"]?.string == "error" ? .failed : nil
  }

  /// Whether it says or shows anything.
  package var isHeard: Bool { !text.isEmpty || pictures > 0 }

  /// The ids of the rows that call tools.
  package static func asides(_ rows: [OpenClawRow]) -> Set<String> {
    Set(rows.lazy.filter { !$0.calls.isEmpty }.compactMap(\.id))
  }
}

extension JSONValue {
  /// An instant that is told in milliseconds since 1970; nil for what no calendar has.
  package var instant: Timestamp? {
    guard let number, number.magnitude < 2.5e14 else { return nil }
    return Timestamp(milliseconds: Int64(number))
  }
}
