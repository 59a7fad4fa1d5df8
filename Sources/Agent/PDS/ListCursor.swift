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
    let found = body.withUnsafeBytes { bytes -> Result<String?, Failure> in
      guard let value = try? ScanMembers.value(of: "cursor", in: bytes), !value.isNull else {
        return .success(nil)
      }
      if value.isString { return .success(value.string) }
      if value.isNumber { return .success(String(decoding: value.bytes, as: UTF8.self)) }
      return .failure(Failure("a cursor that is neither a text nor a number"))
    }
    return try found.get()
  }
}
