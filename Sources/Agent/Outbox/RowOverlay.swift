import Core
import Records

/// Rows of a collection with the changes laid over them that wait in the outbox.
public enum RowOverlay {
  /// What is printed of a record, one JSON object.
  public typealias Row = (key: RecordKey, bytes: [UInt8])

  /// All rows of a collection.
  ///
  /// - Parameters:
  ///   - items: what waits, of any collection.
  ///   - isRising: whether the lowest key is to be the first.
  public static func rows(
    _ rows: [Row], _ items: [OutboxItem], of place: (Repository, NSID), isRising: Bool
  ) -> [Row] {
    var waiting: [RecordKey: OutboxItem] = [:]
    for item in items {
      guard let its = item.place, its.collection == place.1, its.owner == nil else { continue }
      waiting[its.key] = item
    }
    if waiting.isEmpty { return rows }
    var kept = rows.filter { waiting[$0.key] == nil }
    for (key, item) in waiting {
      let uri = ATURI(place.0, place.1, key)
      if let bytes = row(item, uri) { kept.append((key, bytes)) }
    }
    return kept.sorted { isBelow($0.key, $1.key) == isRising }
  }

  /// Whether a key is lower than another one, which is not the same.
  public static func isBelow(_ one: RecordKey, _ other: RecordKey) -> Bool {
    one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
  }

  /// A row with what lost in the merges that made it, as far as nobody dropped that.
  ///
  /// - Parameter closed: what a person has yet to see.
  public static func marked(
    _ row: [UInt8], _ place: RecordPlace, _ closed: [OutboxItem]
  ) -> [UInt8] {
    let lost = closed.filter { $0.place == place && $0.state == .merged }
      .flatMap { $0.answer?.ack.conflicts ?? [] }
    guard !lost.isEmpty, row.count > 2, row.last == UInt8(ascii: "}") else { return row }
    return row.dropLast() + [UInt8(ascii: ",")]
      + RecordText().list("conflicts", lost).bytes.dropFirst()
  }

  /// The row of a record that waits; nil for one that is to be gone.
  public static func row(_ item: OutboxItem, _ uri: ATURI) -> [UInt8]? {
    guard case .put(let draft) = item.action else { return nil }
    return RecordText().string("uri", uri.description).string("cid", draft.cid.description)
      .json("value", bytes: draft.bytes).bool("queued", true).bytes
  }
}
