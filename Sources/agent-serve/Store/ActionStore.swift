import CLibc
import CSQLite
import Core
import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The actions in SQLite, and all else that is kept: one connection that writes, and a few that
/// read beside it, each of what was there when it began. A store in memory has the one for both.
final class ActionStore: Sendable {
  private typealias Reading = @Sendable (Result<Database, any Error>) -> Void

  private struct State {
    var idle: [Database] = []
    var count = 0
    var waiting: [Reading] = []
    var isClosed = false
  }

  private static let readers = 5

  private let path: String
  private let writer: Database
  private let writes = DispatchQueue(label: "agent-serve.writes")
  private let reads = DispatchQueue(label: "agent-serve.reads", attributes: .concurrent)
  private let state = Guarded(State())

  init(path: String) throws {
    let path = path == ":memory:" ? path : try Self.sqliteName(path)
    self.path = path
    writer = try Database(path: path)
    // The log lets readers go on beside the writer; FULL, since NORMAL may lose the last
    // commits with the power.
    let mode = try writer.value(String.self, sql: "PRAGMA journal_mode = WAL")
    if mode != "wal" && path != ":memory:" { throw DatabaseError.withoutLog }
    try writer.execute(sql: "PRAGMA synchronous = FULL")
    try writeNow { try Self.migrate($0) }
  }

  /// SQLite takes names in UTF-8 alone. A file of another name it finds by way of a
  /// descriptor, whose link it follows to the name; that stays open with the store.
  private static func sqliteName(_ path: String) throws(Failure) -> String {
    if !FileName.isOdd(path) { return path }
    let descriptor = FileName.with(path) { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
    guard descriptor >= 0 else { throw Failure(path, systemReason(systemError)) }
    return "/proc/self/fd/\(descriptor)"
  }

  /// Writes with SQL, all or nothing, on a thread that may wait; durable when it returns.
  func writeNow<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try writes.sync { try write(body) }
  }

  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      writes.async { continuation.resume(with: Result { try self.write(body) }) }
    }
  }

  func readNow<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) throws -> Value {
    let box = Guarded<Result<Value, any Error>>(.failure(DatabaseError.closed))
    let done = DispatchSemaphore(value: 0)
    start { result in
      let value = Result { try result.get().transaction("BEGIN", body) }
      box.withLock { $0 = value }
      done.signal()
    }
    done.wait()
    return try box.withLock { $0 }.get()
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      start { result in
        continuation.resume(with: Result { try result.get().transaction("BEGIN", body) })
      }
    }
  }

  /// Closes the store, after what was begun; the log is written back into the file, so that
  /// a copy of the file is a copy of the store.
  func close() {
    let idle: [Database]? = state.withLock { state in
      if state.isClosed { return nil }
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    guard let idle else { return }
    for reader in idle { reader.close() }
    // Those that still read.
    reads.sync(flags: .barrier) {}
    writes.sync {
      try? writer.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      writer.close()
    }
  }

  private func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    if state.withLock({ $0.isClosed }) { throw DatabaseError.closed }
    return try writer.transaction("BEGIN IMMEDIATE", body)
  }

  private func start(_ body: @escaping Reading) {
    if path == ":memory:" {
      writes.async {
        let isClosed = self.state.withLock { $0.isClosed }
        body(isClosed ? .failure(DatabaseError.closed) : .success(self.writer))
      }
      return
    }
    let isClosed = state.withLock { state in
      if state.isClosed { return true }
      state.waiting.append(body)
      if state.count < Self.readers {
        state.count += 1
        reads.async { self.serve() }
      }
      return false
    }
    if isClosed { body(.failure(DatabaseError.closed)) }
  }

  /// Does what waits to be read, until nothing does.
  private func serve() {
    let reader = Result<Database, any Error> {
      try state.withLock { $0.idle.popLast() } ?? Database(path: path, isReader: true)
    }
    while true {
      let next: Reading? = state.withLock { state in
        guard case .success(let reader) = reader else {
          // Another reader serves who waits; the last one of all tells them.
          if state.count == 1, !state.waiting.isEmpty { return state.waiting.removeFirst() }
          state.count -= 1
          return nil
        }
        if !state.waiting.isEmpty { return state.waiting.removeFirst() }
        state.count -= 1
        if state.isClosed { reader.close() } else { state.idle.append(reader) }
        return nil
      }
      guard let next else { return }
      next(reader)
    }
  }
}

extension ActionStore {
  /// Stores actions, all or none, in their order; durable when it returns.
  func insert(_ actions: [LoggedAction]) async throws -> [Int64] {
    try await write { db in
      // The content may hold NUL, which only a blob can be bound with.
      let statement = try db.kept(
        sql: """
          INSERT INTO actions (created_at, guild_id, channel_id, message_id, user_id, kind,
            content, metadata, usd_cost, extra, session)
          VALUES (?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?)
          """)
      var ids: [Int64] = []
      ids.reserveCapacity(actions.count)
      for action in actions {
        try statement.execute([
          action.createdAt, action.guild, action.channel, action.message, action.user,
          action.kind, action.content.map { Array($0.utf8) }, action.metadata, action.cost,
          action.extra, LoggedAction.session(metadata: action.metadata),
        ])
        ids.append(db.lastInsertedRowID)
      }
      return ids
    }
  }

  /// The newest id ever given, 0 when there is none.
  func newestID() async throws -> Int64 {
    try await read { try Self.newestID($0) }
  }

  func time(of id: Int64) async throws -> Timestamp? {
    try await read { db in
      try db.value(String.self, sql: "SELECT created_at FROM actions WHERE id = \(id)")
        .flatMap { Timestamp(rfc3339: $0) }
    }
  }

  func firstID(after time: Timestamp) async throws -> Int64? {
    try await read { db in
      try db.value(
        Int64.self, sql: "SELECT min(id) FROM actions WHERE created_at > ?",
        arguments: [time.rfc3339])
    }
  }

  static func count(_ query: ActionQuery, _ db: Database) throws -> Int64 {
    let (condition, arguments) = query.condition
    return try db.value(
      Int64.self, sql: "SELECT count(*) FROM actions \(condition)", arguments: arguments) ?? 0
  }

  /// The newest actions together with the newest id, of one instant.
  func snapshot(limit: Int) async throws -> (actions: [StoredAction], newestID: Int64) {
    try await read { db in
      (try Self.actions(ActionQuery(limit: limit), db), try Self.newestID(db))
    }
  }

  /// Actions in the order in which they were stored.
  func actions(
    after id: Int64, limit: Int, bytes: Int, kinds prefix: String = ""
  ) async throws -> (actions: [StoredAction], newestID: Int64) {
    try await read { db in
      (
        try Self.actions(after: id, limit: limit, bytes: bytes, kinds: prefix, db),
        try Self.newestID(db)
      )
    }
  }

  /// The same, of all kinds, for a thread that may wait.
  func actionsNow(after id: Int64, limit: Int, bytes: Int) throws -> [StoredAction] {
    try readNow { try Self.actions(after: id, limit: limit, bytes: bytes, kinds: "", $0) }
  }

  private static func actions(
    after id: Int64, limit: Int, bytes: Int, kinds prefix: String, _ db: Database
  ) throws -> [StoredAction] {
    let rows = try Rows(
      db.kept(
        sql: """
          \(columns) WHERE id > ?1 AND substr(kind, 1, length(?2)) = ?2
          ORDER BY id LIMIT ?3
          """), [id, prefix, limit])
    var actions: [StoredAction] = []
    var size = 0
    while size < bytes, let row = try rows.next() {
      let stored = StoredAction(row: row)
      size += (stored.action.content?.utf8.count ?? 0) + (stored.action.metadata?.utf8.count ?? 0)
      actions.append(stored)
    }
    return actions
  }

  static let columns = """
    SELECT id, created_at, guild_id, channel_id, message_id, user_id, kind,
      CAST(content AS BLOB), metadata, usd_cost, extra
    FROM actions
    """

  private static func newestID(_ db: Database) throws -> Int64 {
    try db.value(Int64.self, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'actions'") ?? 0
  }

  static func actions(_ query: ActionQuery, _ db: Database) throws -> [StoredAction] {
    let (condition, arguments) = query.condition
    return try db.rows(
      sql: "\(columns) \(condition) ORDER BY created_at DESC, id LIMIT \(query.limit)",
      arguments: arguments
    ).map(StoredAction.init(row:))
  }
}

extension StoredAction {
  init(row: Row) {
    id = row[0]
    action = LoggedAction(
      createdAt: row[1], guild: row[2], channel: row[3], message: row[4], user: row[5],
      kind: row[6], content: row[7], metadata: row[8], cost: row[9], extra: row[10])
  }
}

/// What `GET /api/actions` asks for.
struct ActionQuery: Sendable, Equatable {
  /// 1 to 1000.
  var limit = 200
  var kinds: [String] = []
  var since: String?
  var guild: String?
  var upTo: Int64?

  var condition: (sql: String, arguments: [String]) {
    var parts: [String] = []
    var arguments: [String] = []
    if !kinds.isEmpty {
      parts.append("kind IN (\(kinds.map { _ in "?" }.joined(separator: ", ")))")
      arguments += kinds
    }
    if let since {
      parts.append("created_at >= ?")
      arguments.append(since)
    }
    if let guild {
      parts.append("guild_id = ?")
      arguments.append(guild)
    }
    if let upTo { parts.append("id <= \(upTo)") }
    return (parts.isEmpty ? "" : "WHERE " + parts.joined(separator: " AND "), arguments)
  }
}

extension ActionQuery {
  /// Reads the parameters of a request: out of range is clamped, junk is the
  /// default (Agent/Clanky/CONTRACT.md 1.2).
  init(_ query: QueryParameters, now: Timestamp) {
    limit = query.integer("limit", default: 200, in: 1...1000)
    // SQLite takes 32766 arguments; nobody names so many kinds.
    kinds = (query["kinds"] ?? "").split(separator: ",").prefix(1000)
      .map { $0.trimmingBlanks() }.filter { !$0.isEmpty }
    since = query.since(now: now)
    guild = query.word("guildId")
  }

  /// Reads the parameters of a request for a count (Agent/Clanky/CONTRACT.md 9.7).
  init(counting query: QueryParameters, now: Timestamp) {
    self.init(query, now: now)
    if let first = query["since"].flatMap({ Timestamp(rfc3339: $0) }) { since = first.rfc3339 }
    upTo = query["upTo"].flatMap { Int64($0) }
  }
}

extension Timestamp {
  /// This instant, so many hours earlier; not before 1970.
  func before(hours: Double) -> Timestamp {
    let milliseconds = Double(seconds) * 1000 + Double(nanoseconds / 1_000_000) - hours * 3_600_000
    guard milliseconds > 0 else { return Timestamp(seconds: 0) }
    let whole = Int64(milliseconds)
    return Timestamp(seconds: whole / 1000, nanoseconds: Int32(whole % 1000) * 1_000_000)
  }
}

extension ActionStore {
  #if os(Linux)
    /// F_OFD_SETLK, which Swift does not import.
    private static let lockOpenFile: Int32 = 37
  #endif

  /// Keeps a store to one server, for the life of the process: a second one's streams would miss
  /// what the first stores. The file is made when there is none.
  static func lock(_ path: String) throws(Failure) -> String {
    let place = try OwnPath.resolve(path)
    let database = FileName.with(place) {
      open($0, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }
    guard database >= 0, let resolved = realpath(place) else {
      throw Failure(path, systemReason(systemError))
    }
    let descriptor = FileName.with(resolved + ".lock") {
      open($0, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }
    if descriptor < 0 { throw Failure(path, systemReason(systemError)) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    var isFree = fcntl(descriptor, F_SETLK, &lock) == 0
    #if os(Linux)
      // The file beside it does not know hard links. A byte that SQLite never
      // locks, by a lock that does not go when SQLite closes the file.
      lock.l_start = .max - 1
      lock.l_len = 1
      isFree = isFree && fcntl(database, lockOpenFile, &lock) == 0
    #endif
    // `database` stays open: closing it would undo the locks of SQLite.
    if !isFree { throw Failure(path, "in use by another agent-serve") }
    return resolved
  }
}
