import Core

/// Where the rows of a snapshot begin and end: what belongs before them.
struct SnapshotEdge {
  private let rows: [ActionPages.Row]
  private let ids: Set<String>
  private let oldest: Timestamp?
  private let latest: Timestamp?

  /// - Parameter rows: of the snapshot.
  init(_ rows: [UnsafeRawBufferPointer]) {
    self.rows = rows.map { ActionPages.Row(Array($0)) }
    ids = Set(self.rows.map(\.id)).subtracting([""])
    oldest = self.rows.compactMap(\.time).min()
    latest = self.rows.compactMap(\.time).max()
  }

  /// Whether a row stands in the snapshot; one without an id cannot be told.
  func holds(_ row: ActionPages.Row) -> Bool { ids.contains(row.id) }

  /// Whether an action that happened then is in the snapshot, or comes live: only
  /// its oldest instant may be cut.
  func isBehind(_ time: Timestamp) -> Bool {
    guard let oldest, let latest else { return false }
    return time > latest || (time == latest && latest > oldest)
  }

  /// The rows of the snapshot's oldest instant that come before some of others,
  /// by their ids.
  func rows(before others: [ActionPages.Row]) -> [ActionPages.Row] {
    let newest = others.filter { $0.time == oldest }.compactMap { Int64($0.id) }.max()
    guard let oldest, let newest else { return [] }
    return rows.filter { $0.time == oldest && Int64($0.id).map { $0 < newest } ?? false }
  }
}

extension [ActionPages.Row] {
  /// By time, and where all have a number by that.
  func newestFirst() -> [ActionPages.Row] {
    let numbers = map { Int64($0.id) }
    let areNumbers = !numbers.contains(nil)
    let order = indices.sorted { a, b in
      if let x = self[a].time, let y = self[b].time, x != y { return x > y }
      if areNumbers, let x = numbers[a], let y = numbers[b], x != y { return x > y }
      return a < b
    }
    return order.map { self[$0] }
  }
}
