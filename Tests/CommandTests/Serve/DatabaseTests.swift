import Foundation
import Testing

@testable import agent_serve

@Suite("The connections to a store")
struct DatabaseTests {
  private func withPool(_ body: (ActionStore) async throws -> Void) async throws {
    let path = NSTemporaryDirectory() + "pool-\(UUID().uuidString).sqlite"
    defer { for end in ["", "-wal", "-shm"] { unlink(path + end) } }
    for path in [":memory:", path] {
      let pool = try ActionStore(path: path)
      try pool.writeNow { try $0.execute(sql: "CREATE TABLE t (a, b)") }
      try await body(pool)
      pool.close()
    }
  }

  private func count(_ db: Database) throws -> Int? {
    try db.value(Int.self, sql: "SELECT count(*) FROM t")
  }

  @Test("A value comes back as it was given")
  func values() async throws {
    try await withPool { pool in
      try await pool.write { db in
        let values: Arguments = [
          Int64.max, -1.5, "a\0é", [UInt8]([0, 255]), true, nil, "", [UInt8](),
        ]
        for value in values {
          try db.execute(sql: "INSERT INTO t VALUES (?, 1)", arguments: [value])
        }
      }
      try await pool.read { db in
        let rows = try db.rows(sql: "SELECT a FROM t ORDER BY rowid")
        let number: Int64? = try rows.next()?[0]
        let real: Double? = try rows.next()?[0]
        let text: String? = try rows.next()?[0]
        let blob: [UInt8]? = try rows.next()?[0]
        let flag: Bool? = try rows.next()?[0]
        let nothing = try #require(try rows.next())
        let (isNull, instead): (String?, String) = (nothing[0], nothing[0])
        let empty: String? = try rows.next()?[0]
        let bare: [UInt8]? = try rows.next()?[0]
        #expect(number == .max && real == -1.5 && text == "a\0é" && blob == [0, 255])
        #expect(flag == true && isNull == nil && instead == "" && empty == "" && bare == [])
        #expect(try rows.next() == nil)
      }
    }
  }

  @Test("What fails is undone, and told in SQLite's words")
  func failure() async throws {
    try await withPool { pool in
      let error = await #expect(throws: DatabaseError.self) {
        try await pool.write { db in
          try db.execute(sql: "INSERT INTO t VALUES (1, 2)")
          try db.execute(sql: "INSERT INTO nowhere VALUES (1)")
        }
      }
      #expect(error?.message == "no such table: nowhere")
      let left = try await pool.read { try count($0) }
      #expect(left == 0)
      #expect(throws: DatabaseError.self) {
        try pool.readNow { db in _ = try db.statement(sql: "") }
      }
    }
  }

  @Test("More reads than there are readers, each of one instant, and after the close none")
  func readers() async throws {
    try await withPool { pool in
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<60 {
          group.addTask {
            if number % 3 == 0 {
              try await pool.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (1, 2)")
                try db.execute(sql: "INSERT INTO t VALUES (1, 2)")
              }
              return true
            }
            return try await pool.read { try count($0) ?? 1 } % 2 == 0
          }
        }
        for try await isWhole in group { #expect(isWhole) }
      }
      let kept = try pool.readNow { try count($0) }
      #expect(kept == 40)
      pool.close()
      await #expect(throws: DatabaseError.self) { try await pool.read { try count($0) } }
      await #expect(throws: DatabaseError.self) {
        try await pool.write { try $0.execute(sql: "DELETE FROM t") }
      }
    }
  }

  @Test("A file that is no store is refused")
  func junk() throws {
    let path = NSTemporaryDirectory() + "junk-\(UUID().uuidString)"
    defer { unlink(path) }
    try Data(repeating: 0x41, count: 5000).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: DatabaseError.self) { try ActionStore(path: path) }
    #expect(error?.message == "file is not a database")
  }
}
