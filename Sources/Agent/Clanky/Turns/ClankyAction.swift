import Core
import Records

/// One action of a dashboard, as long as its bytes are there.
struct ClankyAction {
  let fields: ActionFields
  /// Never empty.
  let kind: String
  let origin: RecordOrigin
  let time: Timestamp?

  init(_ fields: ActionFields, kind: String, _ origin: RecordOrigin) {
    (self.fields, self.kind, self.origin) = (fields, kind, origin)
    time = fields.createdAt.string.flatMap { Timestamp(rfc3339: $0) }
  }

  /// The row's id; without one its time and kind, which are the same wherever it is read.
  var id: String { fields.id.string ?? "\(fields.createdAt.string ?? "")/\(kind)" }
  var content: String? { fields.content.storedText }
  var user: String? { fields.user.storedText }
  var message: String? { fields.message.storedText }
  /// What happens outside of any channel belongs to the guild, or to the agent itself.
  var place: String { fields.channel.storedText ?? fields.guild.storedText ?? "agent" }
  /// US dollars; nil for 0, which is what a row has when nobody knows.
  var cost: Double? {
    ScanNumber(fields.cost).flatMap { $0.isZero || !$0.double.isFinite ? nil : $0.double }
  }

  /// What is read of what stands beside it.
  var metadata: ScanFields<ClankyField> { ScanFields(fields.metadata.bytes) }

  /// The action as a row, with what is read of its metadata alone: prompts are long.
  func copy() -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    func add(_ name: String, _ value: ScanValue) {
      if value.isAbsent { return }
      if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: name.utf8)
      bytes += [UInt8(ascii: "\""), UInt8(ascii: ":")]
      bytes.append(contentsOf: value.bytes)
    }
    add("id", fields.id)
    add("created_at", fields.createdAt)
    add("guild_id", fields.guild)
    add("channel_id", fields.channel)
    add("message_id", fields.message)
    add("user_id", fields.user)
    add("kind", fields.kind)
    add("content", fields.content)
    add("usd_cost", fields.cost)
    let metadata = metadata
    bytes += Array(",\"metadata\":{".utf8)
    for (name, field) in zip(ClankyField.names, ClankyField.allCases) { add(name, metadata[field]) }
    bytes += Array("}}".utf8)
    return bytes
  }
}

/// What is read of the metadata of actions, and of what stands in it.
enum ClankyField: Int, ScanName {
  case source, messageId, sessionId, sessionKey, latencyMs, durationMs
  // Of a call of a model, and of the calls of tools in it.
  case provider, model, usage, inputTokens, outputTokens, stopReason, toolNames, toolCalls
  case id, name, input, arguments
  // Of a tool, and of a step in a browser.
  case query, returnedResults, errorMessage, step, tool, isError, fullLength
  // Of an answer.
  case triggerMessageId, triggerMessageIds, performance, totalMs, llm, costUsd
  // Of what happens in voice.
  case transcript, transcriptSource, speakerName, itemId, allow, callId, toolName, toolInput
  case runtimeMs, outputSummary, toolResultSummary, error, skipCause, responseStatus
  case responseUsage, hadAudio

  static let table = NameTable<ClankyField>()
  static let names = allCases.map { String(describing: $0) }
}

extension ScanFields<ClankyField> {
  func text(_ name: ClankyField) -> String? {
    guard let text = self[name].string, !text.isEmpty else { return nil }
    return text
  }

  /// A whole number; nil when it is none, or too large.
  func count(_ name: ClankyField) -> Int? {
    ScanNumber(self[name]).flatMap { Int(exactly: $0.double.rounded()) }
  }

  func usage(_ name: ClankyField) -> TurnRecord.Usage? {
    let usage = Self(self[name].bytes)
    let (input, output) = (usage.count(.inputTokens), usage.count(.outputTokens))
    guard input != nil || output != nil else { return nil }
    return TurnRecord.Usage(inputTokens: input, outputTokens: output)
  }
}
