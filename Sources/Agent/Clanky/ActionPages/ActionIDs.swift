import Core
import Web

/// The ids of rows, and how many there are not between them.
struct ActionIDs {
  private var found: [(id: Int64, time: Timestamp?)] = []
  /// Whether all are.
  private(set) var areNumbers = true

  /// Takes the id of one more row, each once.
  mutating func add(_ id: String, _ time: Timestamp?) {
    if let number = Int64(id) { found.append((number, time)) } else { areNumbers = false }
  }

  /// The smallest; nil when there is none, or one is no number.
  var least: Int64? { areNumbers ? found.map(\.id).min() : nil }

  /// How many there are not between the smallest and the largest.
  ///
  /// - Parameter bound: only those that are newer than this count; nil for all.
  /// - Returns: nil when that cannot be told: there is none, or one is no number.
  func missing(after bound: Timestamp?) -> Int64? {
    guard var least, let most = found.map(\.id).max() else { return nil }
    if let bound {
      // Ids follow time but roughly.
      var newer = Int64.max
      for (id, time) in found {
        if let time, time <= bound { least = max(least, id) } else { newer = min(newer, id) }
      }
      if newer == .max { return 0 }
      least = max(least, newer)
    }
    let count = Int64(found.count { $0.id >= least })
    let (span, overflow) = most.subtractingReportingOverflow(least)
    return overflow || span == .max ? nil : span + 1 - count
  }
}
