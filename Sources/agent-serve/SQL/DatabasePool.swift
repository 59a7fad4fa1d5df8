import CSQLite
import Dispatch

/// The connections to a store: one that writes, and a few that read beside it, each of what
/// was there when it began. A store in memory has the one for both.
final class DatabasePool: Sendable {
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
  private var isMemory: Bool { path == ":memory:" }

  init(path: String) throws(DatabaseError) {
    self.path = path
    writer = try Database(path: path)
    // The log lets readers go on beside the writer; FULL, since NORMAL may lose the last
    // commits with the power.
    let mode = try writer.value(String.self, sql: "PRAGMA journal_mode = WAL")
    if mode != "wal" && path != ":memory:" { throw DatabaseError.withoutLog }
    try writer.execute(sql: "PRAGMA synchronous = FULL")
  }

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
    if isMemory {
      writes.async {
        let isClosed = self.state.withLock { $0.isClosed }
        body(isClosed ? .failure(DatabaseError.closed) : .success(self.writer))
      }
      return
    }
    enum Turn {
      case now(Database?)
      case later
      case never
    }
    let turn: Turn = state.withLock { state in
      if state.isClosed { return .never }
      if let reader = state.idle.popLast() { return .now(reader) }
      if state.count < Self.readers {
        state.count += 1
        return .now(nil)
      }
      state.waiting.append(body)
      return .later
    }
    switch turn {
    case .never: body(.failure(DatabaseError.closed))
    case .later: break
    case .now(let reader):
      reads.async {
        let reader = Result<Database, any Error> {
          try reader ?? Database(path: self.path, isReader: true)
        }
        body(reader)
        self.finish(reader)
      }
    }
  }

  private func finish(_ reader: Result<Database, any Error>) {
    while true {
      let next: Reading? = state.withLock { state in
        guard case .success(let reader) = reader else {
          // Another reader serves who waits; the last one of all tells them.
          if state.count > 1 || state.waiting.isEmpty {
            state.count -= 1
            return nil
          }
          return state.waiting.removeFirst()
        }
        if !state.waiting.isEmpty { return state.waiting.removeFirst() }
        if state.isClosed { reader.close() } else { state.idle.append(reader) }
        return nil
      }
      guard let next else { return }
      next(reader)
    }
  }
}
