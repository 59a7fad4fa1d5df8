package import Core
import Records
package import Web

/// What a record means for voice: bare, or wrapped as `sse-tail` writes it.
package enum VoiceRecord {
  /// All sessions that there are now.
  case state(RawState)
  /// One session by itself, as `-o json` writes it.
  case session(RawSession)
  /// A voice action, in either spelling.
  case news(VoiceNews)
  /// A record about the link: `lost`, `resumed`, `end`.
  case link(type: String, reason: String?, wait: Double?)
  /// Nothing of voice.
  case other

  /// Reads one JSON value: an object, or a list of them.
  ///
  /// - Parameters:
  ///   - bytes: one value with white space around it.
  ///   - deliver: told what it holds, oldest first, and when it was received
  ///     (`received_at`), nil when the record does not say.
  /// - Throws: `ScanFault` when it is neither an object nor a list of objects.
  package static func read(
    _ bytes: UnsafeRawBufferPointer, _ deliver: (VoiceRecord, Timestamp?) -> Void
  ) throws(ScanFault) {
    try ScanValidator.validate(bytes)
    guard bytes.first(where: { $0 > 32 }) == UInt8(ascii: "[") else {
      return try object(bytes, nil, deliver)
    }
    for element in ScanValue(bytes).elements {
      guard element.isObject else { throw .notAnObject }
      try object(element.bytes, nil, deliver)
    }
  }

  /// Reads an event of the stream of voice.
  ///
  /// - Parameters:
  ///   - event: of any type.
  ///   - deliver: told what it holds, a state or news.
  ///   - fault: told in a few words what of it cannot be used.
  /// - Returns: whether it is about voice and could be read.
  package static func read(
    _ event: StreamEventView, _ deliver: (VoiceRecord) -> Void, fault: (String) -> Void
  ) -> Bool {
    let data = event.data
    let type = String(decoding: event.type, as: UTF8.self)
    let wanted: String
    switch type {
    case "voice_state":
      wanted = "a voice state"
      guard let state = try? RawState(data) else { break }
      if state.faulty > 0 {
        let all = state.sessions.count + state.faulty
        fault("\(type): \(state.faulty) of \(all) sessions are not objects")
      }
      deliver(.state(state))
      return true
    case "voice_event", "action_event":
      wanted = "an action"
      guard (try? ScanMembers.value(of: "kind", in: data))?.isString == true,
        (try? read(data) { record, _ in if case .news = record { deliver(record) } }) != nil
      else { break }
      return true
    default: return false
    }
    let words = ScanValidator.firstFault(data).map { "not JSON: \($0.0.reason) at byte \($0.1)" }
    fault("\(type): \(words ?? "not \(wanted)")")
    return false
  }

  /// `RecordScan` tells what a record is, as in every command.
  private static func object(
    _ bytes: UnsafeRawBufferPointer, _ received: Timestamp?,
    _ deliver: (VoiceRecord, Timestamp?) -> Void
  ) throws(ScanFault) {
    var scan = RecordScan()
    let shape = try scan.read(bytes)
    var received = received
    if !scan.event.isAbsent {
      received = try text("received_at", of: bytes).flatMap { Timestamp(rfc3339: $0) }
    }
    let object = scan.object
    switch shape {
    case .action: deliver(action(object.bytes), received)
    case .list: try snapshot(scan, received, deliver)
    case .own: deliver(try link(scan.type, bytes), received)
    case .event: deliver(scan.data.isObject ? try session(scan.data) : .other, received)
    case .stats, .voiceState, .unmarked: deliver(try session(object), received)
    }
  }

  private static func snapshot(
    _ scan: RecordScan, _ received: Timestamp?, _ deliver: (VoiceRecord, Timestamp?) -> Void
  ) throws(ScanFault) {
    for row in scan.rows.elements.reversed() where row.isObject {
      deliver(action(row.bytes), received)
    }
    if scan.stats.isObject { deliver(try session(scan.stats), received) }
  }

  private static func action(_ bytes: UnsafeRawBufferPointer) -> VoiceRecord {
    guard let value = try? JSONValue.parse(bytes) else { return .other }
    let action = Action(value)
    return action.kind.hasPrefix("voice_") ? .news(VoiceNews(action)) : .other
  }

  private static func link(
    _ type: ScanValue, _ bytes: UnsafeRawBufferPointer
  ) throws(ScanFault) -> VoiceRecord {
    let wait = try text("retry_in", of: bytes).flatMap { Double($0) }
    return .link(type: type.string ?? "", reason: try text("reason", of: bytes), wait: wait)
  }

  private static func text(
    _ name: String, of bytes: UnsafeRawBufferPointer
  ) throws(ScanFault) -> String? {
    try ScanMembers.value(of: name, in: bytes).string
  }

  private static func session(_ object: ScanValue) throws(ScanFault) -> VoiceRecord {
    var fields = ScanFields<VoiceField>()
    try fields.read(object.bytes)
    let has = { (names: [VoiceField]) in names.contains { !fields[$0].isAbsent } }
    if has([.sessions, .activeCount]), let state = try? RawState(object.bytes) {
      return .state(state)
    }
    if fields[.runtime].isObject {
      let voice = try ScanMembers.value(of: "voice", in: fields[.runtime].bytes)
      if voice.isObject, let state = try? RawState(voice.bytes) { return .state(state) }
    }
    let parts: [VoiceField] = [
      .participants, .conversation, .voiceChannelId, .recentTurns, .botTurnOpen, .activeCaptures,
    ]
    guard fields[.sessionId].isString, has(parts), let session = RawSession(object) else {
      return .other
    }
    return .session(session)
  }
}

/// A session's own bytes, as they came.
package struct RawSession: Sendable, Equatable {
  /// One JSON object on one line.
  package let bytes: [UInt8]
  /// Its id and its guild's; nil when it does not say.
  package let id: String?, guild: String?

  init?(_ value: ScanValue) {
    guard value.isObject else { return nil }
    let fields = ScanFields<VoiceField>(value.bytes)
    bytes = Array(value.bytes).oneLine
    (id, guild) = (fields[.sessionId].string, fields[.guildId].string)
  }

  /// What the bytes say, nil when they are not JSON.
  package var session: VoiceSession? { JSONValue(bytes).map { VoiceSession($0) } }
}

extension [UInt8] {
  /// JSON on one line: a line end can only stand between tokens.
  var oneLine: [UInt8] {
    contains(10) || contains(13) ? map { $0 == 10 || $0 == 13 ? 32 : $0 } : self
  }
}

/// A voice state cut into its sessions (Agent/Clanky/CONTRACT.md 4).
package struct RawState: Sendable, Equatable {
  package let sessions: [RawSession]
  /// How many sessions the server counts.
  package let activeCount: Int
  /// How many elements were left out because they are not objects.
  package let faulty: Int

  /// - Parameter bytes: `{"activeCount":n,"sessions":[...]}`; elements that are
  ///   not objects are left out.
  /// - Throws: `ScanFault` when it is not such an object, or not JSON.
  package init(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    // What is cut out of it is passed on as it is.
    try ScanValidator.validate(bytes)
    var fields = ScanFields<VoiceField>()
    try fields.read(bytes)
    let (list, count) = (fields[.sessions], fields[.activeCount])
    guard list.isArray || list.isNull && !count.isAbsent else { throw .notAnObject }
    let elements = list.elements
    sessions = elements.compactMap(RawSession.init)
    faulty = elements.count - sessions.count
    activeCount = count.string.flatMap { Int($0) } ?? sessions.count
  }
}

/// What tells a voice state from a session, and one session from another.
enum VoiceField: Int, ScanName {
  case runtime, sessions, activeCount, sessionId, guildId
  case participants, conversation, voiceChannelId, recentTurns, botTurnOpen, activeCaptures
  static let table = NameTable<VoiceField>()
}
