public import Core

/// The records that the commands make themselves, by their `type`. Each is
/// described in agentutils-records(5).
public enum RecordType: String, CaseIterable, Sendable {
  /// The link to a backend.
  case open, lost, resumed, gap, end, comment
  /// What actions have in common, and how many there are.
  case count
  /// A server that takes requests, the end of what it was to replay, and whether one is
  /// well.
  case listening, gateway, replayed, health
  /// The memory: what came of a change, and a copy of it.
  case factDelete = "fact_delete"
  case factRestore = "fact_restore"
  case memoryMirror = "memory_mirror"
  /// Sessions of tmux.
  case session, screen
  case sessionChange = "session_change"
  /// A file on its way into a session.
  case inboxItem = "inbox_item"
  case inboxFile = "inbox_file"
  /// What could not be sent yet, and what became of it.
  case outboxItem = "outbox_item"
  /// What followers and an attached terminal know from the last time.
  case sseState = "sse_state"
  case sessions
  case transcriptState = "transcript_state"
  /// What an agent does, see `AgentRecord`.
  case thread, message, turn
  case toolCall = "tool_call"
  case approval
  case approvalAnswer = "approval_answer"
  case task, notification, route
  /// What was said in a clip.
  case transcript
  /// What is said of a finished turn.
  case narration
  /// What a fold knows at the end.
  case turnState = "turn_state"
  /// What an id is called.
  case name
  /// What a person was told.
  case notifyState = "notify_state"
  /// What was triaged.
  case triageState = "triage_state"
  /// What came from a bus, what became of what was sent to one, and how far a reader of one is.
  case busMessage = "bus_message"
  case busAck = "bus_ack"
  case busState = "bus_state"
  /// What a compressed file of an archive holds.
  case archiveIndex = "archive_index"
}

/// A JSON object while it is written, member by member in their order: a record
/// of our own, or what a backend is sent.
public struct RecordText: Sendable {
  private var open: [UInt8]

  /// An object without members.
  public init() { open = [UInt8(ascii: "{")] }

  /// A record of our own.
  public init(_ type: RecordType) {
    self = RecordText().string("type", type.rawValue)
  }

  /// Adds a string; nothing when there is none.
  ///
  /// - Parameter name: the member's name, which needs no escapes.
  public consuming func string(_ name: String, _ value: String?) -> RecordText {
    guard let value else { return self }
    var quoted = ByteBuffer()
    JSONQuote.append(value, to: &quoted)
    return adding(name, quoted.bytes)
  }

  /// Adds a string, or null when there is none.
  public consuming func stringOrNull(_ name: String, _ value: String?) -> RecordText {
    value == nil ? json(name, "null") : string(name, value)
  }

  /// Adds an array of strings; nothing when there is none.
  public consuming func strings(_ name: String, _ values: [String]?) -> RecordText {
    list(name, values?.map { Array(JSONQuote.string($0).utf8) })
  }

  /// Adds an object; nothing when there is none.
  public consuming func object(_ name: String, _ value: RecordText?) -> RecordText {
    guard let value else { return self }
    return adding(name, value.bytes)
  }

  /// Adds an array of objects; nothing when there is none.
  public consuming func objects(_ name: String, _ values: [RecordText]?) -> RecordText {
    guard let values else { return self }
    var list: [UInt8] = [UInt8(ascii: "[")]
    for (index, value) in values.enumerated() {
      if index > 0 { list.append(UInt8(ascii: ",")) }
      list += value.open
      list.append(UInt8(ascii: "}"))
    }
    return adding(name, list + [UInt8(ascii: "]")])
  }

  /// Adds an array; nothing when there is none.
  ///
  /// - Parameter name: the member's name, which needs no escapes.
  public consuming func list(_ name: String, _ values: [[UInt8]]?) -> RecordText {
    json(name, bytes: values.map { [0x5b] + $0.joined(separator: [0x2c]) + [0x5d] })
  }

  /// Adds a whole number; nothing when there is none.
  public consuming func number(_ name: String, _ value: (some BinaryInteger)?) -> RecordText {
    json(name, value.map { String($0) })
  }

  /// Adds a number in its shortest spelling; nothing when there is none, or it is not
  /// finite.
  public consuming func number(_ name: String, _ value: Double?) -> RecordText {
    json(name, value.flatMap { $0.isFinite ? NumberText.of($0) : nil })
  }

  /// Adds true or false; nothing when there is none.
  public consuming func bool(_ name: String, _ value: Bool?) -> RecordText {
    json(name, value.map { $0 ? "true" : "false" })
  }

  /// Adds a time, see `Timestamp.rfc3339`; nothing when there is none.
  public consuming func time(_ value: Timestamp?, as name: String = "time") -> RecordText {
    string(name, value?.rfc3339)
  }

  /// Adds a value as it is.
  ///
  /// - Parameters:
  ///   - name: the member's name, which needs no escapes.
  ///   - value: one JSON value on one line; nothing is added when there is none.
  public consuming func json(_ name: String, _ value: String?) -> RecordText {
    guard let value else { return self }
    return adding(name, value.utf8)
  }

  /// Adds a value with its own bytes, on one line, see `RowText.line`.
  ///
  /// - Parameters:
  ///   - name: the member's name, which needs no escapes.
  ///   - value: one JSON value; nothing is added when there is none.
  public consuming func json(_ name: String, bytes value: [UInt8]?) -> RecordText {
    guard let value else { return self }
    return adding(name, RowText.line(value))
  }

  /// Adds members that are there already.
  ///
  /// - Parameter members: what stands between the braces of an object, on one line.
  public consuming func members(_ members: [UInt8]) -> RecordText {
    if members.isEmpty { return self }
    var next = self
    next.separate()
    next.open += members
    return next
  }

  // Consuming, so that the bytes grow in place: a text may be long.
  private consuming func adding(_ name: String, _ value: some Sequence<UInt8>) -> RecordText {
    var next = self
    next.separate()
    next.open += "\"\(name)\":".utf8
    next.open += value
    return next
  }

  private mutating func separate() {
    if open.count > 1 { open.append(UInt8(ascii: ",")) }
  }

  /// The object.
  public var bytes: [UInt8] { open + [UInt8(ascii: "}")] }

  /// The object and a LF.
  public var line: [UInt8] { open + [UInt8(ascii: "}"), 10] }

  /// The object as text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}
