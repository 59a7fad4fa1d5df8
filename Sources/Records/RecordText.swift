public import Core

/// The records that the commands make themselves, by their `type`. Each is
/// described in agentutils-records(5).
public enum RecordType: String, CaseIterable, Sendable {
  /// The link to a backend.
  case open, lost, resumed, gap, end, comment
  /// What actions have in common, and how many there are.
  case count
  /// A server that takes requests, and whether one is well.
  case listening, health
  /// The memory: what came of a change, and a copy of it.
  case factDelete = "fact_delete"
  case factRestore = "fact_restore"
  case memoryMirror = "memory_mirror"
  /// Sessions of tmux.
  case session, screen
  case sessionChange = "session_change"
  /// A file on its way into a session.
  case inboxItem = "inbox_item"
  /// What a follower and an attached terminal know from the last time.
  case sseState = "sse_state"
  case sessions
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
  /// - Parameters:
  ///   - name: the member's name, which needs no escapes.
  ///   - value: quoted as `JSONQuote` does.
  public func string(_ name: String, _ value: String?) -> RecordText {
    value.map { json(name, JSONQuote.string($0)) } ?? self
  }

  /// Adds a string, or null when there is none.
  public func stringOrNull(_ name: String, _ value: String?) -> RecordText {
    json(name, value.map(JSONQuote.string) ?? "null")
  }

  /// Adds a whole number.
  public func number(_ name: String, _ value: some BinaryInteger) -> RecordText {
    json(name, String(value))
  }

  /// Adds true or false.
  public func bool(_ name: String, _ value: Bool) -> RecordText {
    json(name, value ? "true" : "false")
  }

  /// Adds a time, see `Timestamp.rfc3339`; nothing when there is none.
  public func time(_ value: Timestamp?, as name: String = "time") -> RecordText {
    string(name, value?.rfc3339)
  }

  /// Adds a value as it is.
  ///
  /// - Parameters:
  ///   - name: the member's name, which needs no escapes.
  ///   - value: one JSON value on one line; nothing is added when there is none.
  public func json(_ name: String, _ value: String?) -> RecordText {
    value.map { json(name, bytes: Array($0.utf8)) } ?? self
  }

  /// Adds a value as it is, from its bytes.
  public func json(_ name: String, bytes value: [UInt8]?) -> RecordText {
    guard let value else { return self }
    return members(Array("\"\(name)\":".utf8) + value)
  }

  /// Adds members that are there already.
  ///
  /// - Parameter members: what stands between the braces of an object, on one line.
  public func members(_ members: [UInt8]) -> RecordText {
    if members.isEmpty { return self }
    var copy = self
    if open.count > 1 { copy.open.append(UInt8(ascii: ",")) }
    copy.open += members
    return copy
  }

  /// The object.
  public var bytes: [UInt8] { open + [UInt8(ascii: "}")] }

  /// The object and a LF.
  public var line: [UInt8] { open + [UInt8(ascii: "}"), 10] }

  /// The object as text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}
