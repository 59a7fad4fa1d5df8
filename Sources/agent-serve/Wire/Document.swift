import Core

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
