import Core

/// A list of rows in the order in which the actions happened.
///
/// Servers send lists newest first. Rows are ordered by created_at, and in one
/// millisecond by id; where a row has no time it follows its neighbour, and
/// where rows have no ids the list is read backwards.
enum RowOrder {
  /// One row of a list.
  struct Row {
    /// The row's members.
    let fields: ActionFields
    /// The row's object.
    let action: ScanValue
  }

  /// - Parameters:
  ///   - rows: as they stand in the list.
  ///   - scratch: memory for texts with escapes.
  /// - Returns: oldest first.
  static func oldestFirst(_ rows: [Row], _ scratch: ScanScratch) -> [Row] {
    let haveIDs = rows.allSatisfy { ScanNumber($0.fields.id) != nil }
    var last = Timestamp(seconds: .min)
    var entries: [(time: Timestamp, position: Int, row: Row)] = []
    for (position, row) in rows.reversed().enumerated() {
      last = row.fields.time(scratch) ?? last
      entries.append((last, position, row))
    }
    entries.sort { a, b in
      if a.time != b.time { return a.time < b.time }
      if haveIDs, let one = ScanNumber(a.row.fields.id), let other = ScanNumber(b.row.fields.id) {
        let order = one.compare(other)
        if order != 0 { return order < 0 }
      }
      return a.position < b.position
    }
    return entries.map(\.row)
  }
}
