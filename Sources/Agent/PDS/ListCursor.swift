import Core

/// Where a list goes on, and whether it does (Agent/PDS/CONTRACT.md 5).
struct ListCursor {
  static let mostIdle = 10

  private var seen: Set<[UInt8]> = []
  private var idle = 0

  /// Nil at the end: no cursor, or one that came before. `isNews`: the page brought a new record.
  mutating func next(after body: [UInt8], isNews: Bool) throws(Failure) -> String? {
    let cursor = try Self.cursor(of: body)
    guard let cursor, !cursor.isEmpty, seen.insert(Array(cursor.utf8)).inserted else { return nil }
    idle = isNews ? 0 : idle + 1
    if idle == Self.mostIdle {
      throw Failure("\(idle) pages in a row without a new record; no more are read")
    }
    return cursor
  }

  private static func cursor(of body: [UInt8]) throws(Failure) -> String? {
    try body.scan { bytes throws(Failure) in
      let value = (try? ScanMembers.value(of: "cursor", in: bytes)) ?? .absent
      if value.isNull { return nil }
      if value.isString || value.isNumber { return value.string }
      throw Failure("a cursor that is neither a text nor a number")
    }
  }
}
