import Core

/// A session's own bytes, as they came.
struct RawSession: Sendable, Equatable {
  /// One JSON object on one line.
  let bytes: [UInt8]
  /// Its id and its guild's; nil when it does not say.
  let id: String?, guild: String?

  /// - Parameter value: an object.
  init?(_ value: ScanValue) {
    guard value.isObject, var members = try? ScanMembers(value.bytes) else { return nil }
    var id = ScanValue.absent
    var guild = ScanValue.absent
    while (try? members.next()) == true {
      if members.isKey("sessionId") { id = members.value }
      if members.isKey("guildId") { guild = members.value }
    }
    bytes = value.oneLine
    self.id = id.string
    self.guild = guild.string
  }

  /// - Parameter bytes: one JSON object on one line.
  init(bytes: [UInt8], id: String?, guild: String?) {
    self.bytes = bytes
    self.id = id
    self.guild = guild
  }

  /// What the bytes say, nil when they are not JSON.
  var value: JSONValue? {
    try? bytes.withUnsafeBytes { try JSONValue.parse($0) }
  }
}

/// The rows of a list, as they came.
enum RawList {
  /// - Returns: the elements that are objects, each with its own bytes on one line
  ///   and what they say; nil when this is not a list.
  static func objects(_ list: [UInt8]) -> [(bytes: [UInt8], value: JSONValue)]? {
    try? list.withUnsafeBytes { bytes in
      var rows: [(bytes: [UInt8], value: JSONValue)] = []
      var elements = try ScanElements(bytes)
      while try elements.next() {
        guard elements.value.isObject, let value = try? JSONValue.parse(elements.value.bytes)
        else { continue }
        rows.append((elements.value.oneLine, value))
      }
      return rows
    }
  }
}

extension ScanValue {
  /// The bytes on one line: a line end can only stand between tokens.
  var oneLine: [UInt8] {
    guard bytes.contains(10) || bytes.contains(13) else { return Array(bytes) }
    return bytes.map { $0 == 10 || $0 == 13 ? 32 : $0 }
  }
}

extension ScanMembers {
  /// Whether the current key is this name, without escapes.
  func isKey(_ name: StaticString) -> Bool {
    isKey(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }
}

/// A voice state cut into its sessions (Agent/Clanky/CONTRACT.md 4).
struct RawState: Sendable, Equatable {
  let sessions: [RawSession]
  /// How many sessions the server counts.
  let activeCount: Int
  /// How many elements were left out because they are not objects.
  var faulty = 0

  /// - Parameter bytes: `{"activeCount":n,"sessions":[...]}`; elements that are
  ///   not objects are left out.
  /// - Throws: `ScanFault` when it is not such an object, or not JSON.
  init(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
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

  /// - Parameter sessions: all of them.
  init(sessions: [RawSession]) {
    self.sessions = sessions
    activeCount = sessions.count
  }
}

/// Which sessions are wanted: `--guild` and `--session`.
struct SessionFilter: Sendable, Equatable {
  var guild: String?
  /// A session's id, or the beginning of it.
  var session: String?

  /// Whether a session is wanted.
  func takes(id: String?, guild: String?) -> Bool {
    if let wanted = self.guild, wanted != guild { return false }
    if let wanted = session { return id?.hasPrefix(wanted) == true }
    return true
  }

  /// Those that are wanted; a whole id means its session alone, not those whose
  /// ids begin with it.
  func select(_ sessions: [RawSession]) -> [RawSession] {
    let found = sessions.filter { takes(id: $0.id, guild: $0.guild) }
    let exact = found.filter { $0.id == session }
    return session == nil || exact.isEmpty ? found : exact
  }
}
