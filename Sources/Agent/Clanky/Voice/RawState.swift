package import Core

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
