/// A record of a list of facts.
struct FactRow {
  let bytes: [UInt8]
  /// Nil for what is no fact.
  let fact: Fact?
  /// The id, or all of what has none.
  let key: String

  /// - Parameter bytes: as the backend sent them.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    fact = Fact(record: bytes)
    if let id = fact?.id, !id.isEmpty {
      key = id
    } else {
      key = "\u{0}" + String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The records, the newest update first; else in the order in which they are.
  static func newestFirst(_ rows: [FactRow]) -> [[UInt8]] {
    rows.enumerated().sorted { a, b in
      let (x, y) = (a.element.fact?.updatedAt ?? "", b.element.fact?.updatedAt ?? "")
      return x != y ? x > y : a.offset < b.offset
    }.map(\.element.bytes)
  }

  /// Each once.
  static func unique(_ rows: [[UInt8]]) -> [[UInt8]] {
    var seen: Set<String> = []
    return rows.filter { seen.insert(FactRow($0).key).inserted }
  }
}
