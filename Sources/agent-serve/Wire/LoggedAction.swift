import Core
import Records

/// One action as the store keeps it: what the agent told, in neither of the
/// wire's two spellings.
///
/// Texts are unescaped. JSON that is not ours to judge (metadata, further
/// members, the cost's digits) is kept as the bytes that came in.
struct LoggedAction: Sendable, Equatable {
  /// RFC 3339 in UTC with three decimals, as the dashboard writes it.
  var createdAt: String
  var guild: String?
  var channel: String?
  var message: String?
  var user: String?
  /// What the action is; never empty.
  var kind: String
  var content: String?
  /// One JSON value on one line; nil when null or absent.
  var metadata: String?
  /// A JSON number as it was written, nil when null or absent.
  var cost: String?
  /// As written, `"level":"warn"`, joined by commas; empty when there is none.
  var extra: String = ""

  var level: String? {
    guard extra.holds("level") else { return nil }
    var members = "{\(extra)}"
    return members.withUTF8 { bytes in
      try? ScanMembers.value(of: "level", in: UnsafeRawBufferPointer(bytes)).string
    }
  }

  /// Hands over the members of the metadata, which must not leave `body`.
  func facts<Result>(_ body: (ScanObject) -> Result) -> Result {
    var metadata = metadata ?? "{}"
    return metadata.withUTF8 { body(ScanObject(UnsafeRawBufferPointer($0)) ?? ScanObject()) }
  }

  /// US dollars; 0 when unknown or beyond what a double holds.
  var usd: Double {
    guard let cost, let value = Double(cost), value.isFinite else { return 0 }
    return value
  }

  static func session(metadata: String?) -> String? {
    guard var metadata, metadata.holds("sessionId") else { return nil }
    return metadata.withUTF8 { bytes in
      let value = try? ScanMembers.value(of: "sessionId", in: UnsafeRawBufferPointer(bytes))
      // SQLite ends a text at a NUL.
      guard let value, value.isString, let text = value.string, !text.isEmpty,
        !text.utf8.contains(0)
      else { return nil }
      return text
    }
  }
}

struct StoredAction: Sendable, Equatable {
  /// Ascending in the order in which actions were stored; never used twice.
  let id: Int64
  let action: LoggedAction
}

struct ActionDecoder {
  let now: Timestamp

  func decode(
    _ bytes: UnsafeRawBufferPointer, _ fields: ActionFields
  ) throws(Failure) -> LoggedAction {
    guard fields.kind.isString, let kind = id(fields.kind) else {
      throw Failure(
        fields.kind.isString || fields.kind.isNull ? "no kind" : "kind is not a text")
    }
    return LoggedAction(
      createdAt: try time(fields.createdAt), guild: id(fields.guild),
      channel: id(fields.channel), message: id(fields.message), user: id(fields.user),
      kind: kind, content: fields.content.storedText,
      metadata: fields.metadata.isNull ? nil : JSONText.oneLine(fields.metadata.bytes),
      cost: cost(fields.cost),
      extra: try furtherMembers(of: bytes))
  }

  /// An id or a kind. SQLite ends a text at a NUL, which no real id holds.
  private func id(_ value: ScanValue) -> String? {
    guard let text = value.storedText, !text.isEmpty else { return nil }
    return text.utf8.contains(0) ? String(text.map { $0 == "\0" ? "\u{fffd}" : $0 }) : text
  }

  /// As the dashboard writes times, so that they order as text.
  private func time(_ value: ScanValue) throws(Failure) -> String {
    if value.isNull { return now.rfc3339 }
    guard value.isString, let text = value.string, let time = Timestamp(rfc3339: text),
      (0...253_402_300_799).contains(time.seconds)
    else { throw Failure("createdAt is not an RFC 3339 time") }
    return time.rfc3339
  }

  /// A number, also one inside a text; anything else is not a cost.
  private func cost(_ value: ScanValue) -> String? {
    guard let raw = value.rawText, ScanNumber(raw) != nil else { return nil }
    return String(decoding: raw, as: UTF8.self)
  }

  /// As they stand; without the id, for the store numbers by itself.
  private func furtherMembers(of bytes: UnsafeRawBufferPointer) throws(Failure) -> String {
    var list: [String] = []
    try scanned { () throws(ScanFault) in
      var members = try ScanMembers(bytes)
      while try members.next() {
        if Self.known.contains(members.key.unescaped) { continue }
        let name = String(decoding: members.key.bytes, as: UTF8.self)
        list.append("\"\(name)\":\(JSONText.oneLine(members.value.bytes))")
      }
    }
    return list.joined(separator: ",")
  }

  private static let known: Set<String> = [
    "id", "kind", "content", "metadata", "created_at", "createdAt", "guild_id", "guildId",
    "channel_id", "channelId", "message_id", "messageId", "user_id", "userId", "usd_cost",
    "usdCost",
  ]
}

enum ActionEncoder {
  /// The longest content of a row, in UTF-16 units (Agent/Clanky/CONTRACT.md 3.1).
  static let rowContentLimit = 2000

  /// A row: snake_case, every member there, content cut; and the `level`, where there is one.
  static func appendRow(_ stored: StoredAction, to out: inout [UInt8]) {
    let action = stored.action
    out += "{\"id\":\(stored.id)".utf8
    append(",\"created_at\":", action.createdAt, to: &out)
    append(",\"guild_id\":", action.guild, to: &out)
    append(",\"channel_id\":", action.channel, to: &out)
    append(",\"message_id\":", action.message, to: &out)
    append(",\"user_id\":", action.user, to: &out)
    append(",\"kind\":", action.kind, to: &out)
    append(",\"content\":", action.content, limit: rowContentLimit, to: &out)
    append(",\"metadata\":", raw: action.metadata ?? "null", to: &out)
    append(",\"usd_cost\":", raw: action.cost ?? "0", to: &out)
    // Unlike the dashboard's: what is an error when it happens stays one.
    if let level = action.level { append(",\"level\":", level, to: &out) }
    out.append(UInt8(ascii: "}"))
  }

  /// camelCase, only the members that were given, content whole, and with its id.
  static func appendLive(_ stored: StoredAction, to out: inout [UInt8]) {
    let action = stored.action
    append("{\"kind\":", action.kind, to: &out)
    if let guild = action.guild { append(",\"guildId\":", guild, to: &out) }
    if let channel = action.channel { append(",\"channelId\":", channel, to: &out) }
    if let message = action.message { append(",\"messageId\":", message, to: &out) }
    if let user = action.user { append(",\"userId\":", user, to: &out) }
    if let content = action.content { append(",\"content\":", content, to: &out) }
    if let metadata = action.metadata { append(",\"metadata\":", raw: metadata, to: &out) }
    if let cost = action.cost { append(",\"usdCost\":", raw: cost, to: &out) }
    if !action.extra.isEmpty { append(",", raw: action.extra, to: &out) }
    append(",\"createdAt\":", action.createdAt, to: &out)
    out += ",\"id\":\(stored.id)}".utf8
  }

  static func rows(_ actions: [StoredAction]) -> [UInt8] {
    var out: [UInt8] = [UInt8(ascii: "[")]
    for (index, action) in actions.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      appendRow(action, to: &out)
    }
    out.append(UInt8(ascii: "]"))
    return out
  }

  private static func append(
    _ name: String, _ text: String?, limit: Int = .max, to out: inout [UInt8]
  ) {
    guard let text else { return append(name, raw: "null", to: &out) }
    out += name.utf8
    JSONText.append(text, limit: limit, to: &out)
  }

  private static func append(_ name: String, raw: String, to out: inout [UInt8]) {
    out += name.utf8
    out += raw.utf8
  }
}

/// What an agent tells about itself as a whole, and not action by action. Each
/// replaces what was there before (Agent/Clanky/CONTRACT.md 9.4).
enum Document: String, CaseIterable, Sendable {
  /// `{"activeCount":n,"sessions":[...]}` (Agent/Clanky/CONTRACT.md 4).
  case voiceState = "voice_state"
  case guilds
  case automations
  case automationRuns = "automation_runs"
  /// The tunnel, or null (Agent/Clanky/CONTRACT.md 5.4).
  case publicHTTPS = "public_https"
  case models = "llm_models"

  /// Where it is asked for and put, and what is answered while there is none.
  private static let facts: [Document: (path: String, absent: String)] = [
    .voiceState: ("/api/voice/state", #"{"activeCount":0,"sessions":[]}"#),
    .guilds: ("/api/guilds", "[]"), .automations: ("/api/automations", "[]"),
    .automationRuns: ("/api/automations/runs", "[]"),
    .publicHTTPS: ("/api/public-https", "null"), .models: ("/api/llm/models", "{}"),
  ]

  init?(path: String) {
    guard let found = Self.facts.first(where: { $0.value.path == path })?.key else { return nil }
    self = found
  }

  var absent: String { Self.facts[self]?.absent ?? "null" }
}

extension Document {
  /// The bytes to be stored: those that came, but for what is no UTF-8.
  func accept(_ body: [UInt8]) throws(Failure) -> [UInt8] {
    let bytes = UTF8Text.repaired(body)
    try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
      try check(UnsafeRawBufferPointer(bytes))
    }
    return bytes
  }

  /// Whether bytes can be stored as this document. Only what the answers are
  /// made with is asked for: an agent may add and leave out members.
  private func check(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    try scanned { () throws(ScanFault) in try ScanValidator.validate(bytes) }
    switch self {
    case .voiceState: try Self.checkState(bytes)
    case .guilds:
      for (place, guild) in try Self.rows(bytes, member: nil) {
        guard guild.text("id") != nil else { throw Failure("\(place): no id") }
        let channels = guild["channels"]
        if channels.isNull { continue }
        guard let rows = ScanObject.list(channels.bytes),
          rows.allSatisfy({ $0.text("id") != nil })
        else { throw Failure("\(place): channels is not an array of objects with an id") }
      }
    case .automations:
      for (place, row) in try Self.rows(bytes, member: "rows") {
        guard row.integer("id") != nil else { throw Failure("\(place): no integer id") }
        guard row.text("guild_id") != nil else { throw Failure("\(place): no guild_id") }
      }
    case .automationRuns:
      for (place, row) in try Self.rows(bytes, member: "rows") {
        for name in ["id", "automation_id"] where row.integer(name) == nil {
          throw Failure("\(place): no integer \(name)")
        }
      }
    case .publicHTTPS:
      guard ScanObject(bytes) != nil || Self.first(bytes) == UInt8(ascii: "n") else {
        throw Failure("neither an object nor null")
      }
    case .models:
      guard ScanObject(bytes) != nil else { throw Failure("not an object") }
    }
  }

  private static func checkState(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    guard let state = ScanObject(bytes) else { throw Failure("not an object") }
    guard let count = state.integer("activeCount"), count >= 0, state["activeCount"].isNumber else {
      throw Failure("activeCount is not a count")
    }
    guard state["sessions"].isArray else { throw Failure("sessions is not an array") }
    guard ScanObject.list(state["sessions"].bytes) != nil else {
      throw Failure("a session is not an object")
    }
  }

  static func rows(
    _ bytes: UnsafeRawBufferPointer, member: String?
  ) throws(Failure) -> [(place: String, row: ScanObject)] {
    var list = bytes
    if let member, let object = ScanObject(bytes) { list = object[member].bytes }
    guard first(list) == UInt8(ascii: "[") else { throw Failure("not an array") }
    guard let rows = ScanObject.list(list) else { throw Failure("an element is not an object") }
    return rows.enumerated().map { ("element \($0.offset + 1)", $0.element) }
  }

  private static func first(_ bytes: UnsafeRawBufferPointer) -> UInt8? { bytes.first { $0 > 0x20 } }
}
