import Core
import Records

/// The rows of one list that are selected, in the order in which the actions
/// happened.
///
/// Servers send lists newest first. Rows are ordered by created_at, and in one
/// millisecond by id; where a row has no time it follows its neighbour, and
/// where rows have no ids the list is read backwards.
final class RowList: ActionRowReader {
  private struct Entry {
    var time: Timestamp
    let position: UInt32
    let action: ScanValue
  }

  var takesAll = false
  var predicate: ActionPredicate
  private let isInverted: Bool
  private let scratch = ScanScratch()
  private var entries: [Entry] = []
  private var count: UInt32 = 0
  private var haveIDs = true
  /// From here on the entries wait for the time of a row behind them.
  private var waiting = 0

  init(_ options: FilterOptions) {
    predicate = options.predicate
    isInverted = options.isInverted
  }

  func begin() {
    entries.removeAll(keepingCapacity: entries.count < 1000)
    (count, haveIDs, waiting) = (0, true, 0)
  }

  func add(_ fields: ActionFields, _ action: ScanValue) {
    defer { count += 1 }
    if haveIDs { haveIDs = ScanNumber(fields.id) != nil }
    let isSelected = takesAll || predicate.matches(fields, scratch) != isInverted
    guard isSelected || waiting < entries.count else { return }
    let time = fields.time(scratch)
    if isSelected {
      entries.append(Entry(time: Timestamp(seconds: .min), position: count, action: action))
    }
    guard let time else { return }
    for index in waiting..<entries.count { entries[index].time = time }
    waiting = entries.count
  }

  func oldestFirst() -> [ScanValue] {
    entries.sort { a, b in
      if a.time != b.time { return a.time < b.time }
      if haveIDs, let order = Self.order(a.action, b.action), order != 0 { return order < 0 }
      return a.position > b.position
    }
    return entries.map(\.action)
  }

  private static func order(_ a: ScanValue, _ b: ScanValue) -> Int? {
    guard let a = try? ActionFields(a.bytes), let b = try? ActionFields(b.bytes),
      let one = ScanNumber(a.id), let other = ScanNumber(b.id)
    else { return nil }
    return one.compare(other)
  }
}
