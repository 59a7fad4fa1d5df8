import CCrypto
import Core

/// How far the actions of a store are on a bus. The row of an action is what has to be published;
/// nothing else is kept for it.
struct BusMark: Equatable, Sendable {
  struct Place: Equatable, Sendable {
    let stream: String
    let sequence: Int64
  }

  /// The store's own name on this bus, with which the message ids of its actions begin.
  let store: String
  let madeAt: Timestamp
  /// All actions up to this one are there; 0 for none.
  var row: Int64
  /// Where all later ones are behind; nil where nobody knows.
  var place: Place?

  /// The message id of an action. The store's name and the row are not enough: a copy of a store
  /// has the same name, and one that is put back gives its rows once more, to other actions.
  func id(of row: Int64, _ event: [UInt8], agent: String?) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    let whole = Array((agent ?? "").utf8) + [0] + event
    _ = SHA256(whole, whole.count, &digest)
    return "\(oldID(of: row))-\(Base64.url(Array(digest.prefix(9))))"
  }

  /// The same, as earlier versions made it.
  func oldID(of row: Int64) -> String { "\(store)-\(row)" }
}

extension ActionStore {
  @Sendable static func createBus(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE bus_marks (
          bus TEXT PRIMARY KEY,
          store TEXT NOT NULL,
          made_at TEXT NOT NULL,
          row INTEGER NOT NULL,
          stream TEXT,
          sequence INTEGER
        )
        """)
  }

  /// How far the actions are on a bus; one that was never named begins with what is stored from
  /// now on. Returns whether it was never named, too.
  func busMark(_ bus: String) async throws -> (mark: BusMark, isNew: Bool) {
    try await write { db in
      let now = Timestamp.now()
      try db.execute(
        sql: """
          INSERT OR IGNORE INTO bus_marks (bus, store, made_at, row)
          VALUES (?, ?, ?, ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'actions'), 0))
          """, arguments: [bus, Base64.random(bytes: 12), now.rfc3339])
      let isNew = db.changesCount > 0
      let row = try db.rows(
        sql: "SELECT store, made_at, row, stream, sequence FROM bus_marks WHERE bus = ?",
        arguments: [bus]
      ).next()!
      let (stream, sequence): (String?, Int64?) = (row[3], row[4])
      var mark = BusMark(store: row[0], madeAt: Timestamp(rfc3339: row[1]) ?? now, row: row[2])
      if let stream, let sequence { mark.place = .init(stream: stream, sequence: sequence) }
      return (mark, isNew)
    }
  }

  func keep(_ mark: BusMark, _ bus: String) throws {
    try writeNow { db in
      try db.execute(
        sql: "UPDATE bus_marks SET row = ?, stream = ?, sequence = ? WHERE bus = ?",
        arguments: [mark.row, mark.place?.stream, mark.place?.sequence, bus])
    }
  }
}
