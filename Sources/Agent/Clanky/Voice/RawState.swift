package import Core

/// A session's own bytes, as they came.
package struct RawSession: Sendable, Equatable {
  /// One JSON object on one line.
  package let bytes: [UInt8]
  /// Its id and its guild's; nil when it does not say.
  package let id: String?, guild: String?

  init?(_ value: ScanValue) {
    guard value.isObject, var members = try? ScanMembers(value.bytes) else { return nil }
    var id = ScanValue.absent
    var guild = ScanValue.absent
    while (try? members.next()) == true {
      if members.isKey("sessionId") { id = members.value }
      if members.isKey("guildId") { guild = members.value }
    }
    bytes = Array(value.bytes).oneLine
    self.id = id.string
    self.guild = guild.string
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
  package private(set) var faulty = 0

  /// - Parameter bytes: `{"activeCount":n,"sessions":[...]}`; elements that are
  ///   not objects are left out.
  /// - Throws: `ScanFault` when it is not such an object, or not JSON.
  package init(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    // What is cut out of it is passed on as it is.
    try ScanValidator.validate(bytes)
    var list = ScanValue.absent
    var count = ScanValue.absent
    var members = try ScanMembers(bytes)
    while try members.next() {
      if members.isKey("sessions") { list = members.value }
      if members.isKey("activeCount") { count = members.value }
    }
    guard list.isArray || list.isNull && !count.isAbsent else { throw .notAnObject }
    var sessions: [RawSession] = []
    if list.isArray {
      var elements = try ScanElements(list.bytes)
      while try elements.next() {
        if let session = RawSession(elements.value) {
          sessions.append(session)
        } else {
          faulty += 1
        }
      }
    }
    self.sessions = sessions
    activeCount = count.string.flatMap { Int($0) } ?? sessions.count
  }
}
