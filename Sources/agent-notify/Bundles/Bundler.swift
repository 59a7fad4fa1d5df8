import Notices
import Records

struct BundleLimits: Sendable {
  /// How long a notification waits for more of the same, seconds.
  var settle = 2.0
  /// How often something is told, a minute.
  var rate = 6
  /// How long after the first what is kept is told, seconds; 0 for the end.
  var digest = 1800.0
}

/// Makes few deliveries of many notifications. Pure: the clock is handed in.
///
/// A notification waits for others of its kind until none has come for `settle` seconds, at
/// most five times as long. So a burst is told once, with a count. No more than `rate` are
/// told a minute: the last of them is the sum of all that are due, and what comes then waits
/// and adds up. An emergency does not wait for anything.
struct Bundler {
  private let limits: BundleLimits
  /// To be told as soon as may be, in the order of their first.
  private(set) var waiting: [Bundle] = []
  private(set) var kept: [Bundle] = []
  /// What came when there were too many kinds to keep apart.
  private var others = 0, keptOthers = 0
  /// When something was told within the last minute.
  private var told: [Double] = []

  static let mostKinds = 200

  init(_ limits: BundleLimits) { self.limits = limits }

  mutating func restore(_ bundles: [Bundle], others: Int, waiting: [Bundle]) {
    kept = bundles
    keptOthers = others
    self.waiting = waiting
  }

  var othersKept: Int { keptOthers }

  var isEmpty: Bool { waiting.isEmpty && others == 0 }

  var count: Int { waiting.reduce(others) { $0 + $1.count } }

  /// What waits, for a later run: those without a place are one.
  var unsaid: [Bundle] { waiting + bundled(others) }

  private func bundled(_ others: Int) -> [Bundle] {
    others > 0 ? [Bundle.counted(others, now: 0)] : []
  }

  mutating func takeBack(_ bundles: [Bundle], wasKept: Bool) {
    if wasKept { kept = bundles + kept } else { waiting = bundles + waiting }
  }

  func hasDue(now: Double, isEnd: Bool) -> Bool {
    isEnd && !isEmpty || waiting.contains { $0.urgency == .emergency }
      || next(now: now) ?? .infinity <= now
  }

  mutating func receive(_ routed: RoutedNotice, id: String?, isNow: Bool, now: Double) {
    if isNow {
      if !Self.add(routed, id, to: &waiting, now) { others += 1 }
    } else if !Self.add(routed, id, to: &kept, now) {
      keptOthers += 1
    }
  }

  private static func add(
    _ routed: RoutedNotice, _ id: String?, to bundles: inout [Bundle], _ now: Double
  ) -> Bool {
    let fresh = Bundle(routed, now: now)
    if let index = bundles.firstIndex(where: { $0.key == fresh.key }) {
      bundles[index].add(routed, id: id, now: now)
      return true
    }
    // An emergency is told at once, and takes nobody's place for long.
    let most = routed.urgency == .emergency ? 10 * mostKinds : mostKinds
    guard bundles.count < most else { return false }
    bundles.append(fresh)
    bundles[bundles.count - 1].add(routed, id: id, now: now)
    return true
  }

  /// What is to be told now.
  mutating func due(now: Double, isEnd: Bool) -> [(Delivery, of: [Bundle])] {
    told.removeAll { now - $0 >= 60 }
    var out: [(Delivery, of: [Bundle])] = []
    // The pressing ones neither wait nor count.
    for bundle in waiting where bundle.urgency == .emergency {
      out.append((bundle.delivery, [bundle]))
    }
    waiting.removeAll { $0.urgency == .emergency }
    let ready = waiting.filter { isEnd || time(of: $0) <= now }
    guard !ready.isEmpty || isEnd && others > 0, isEnd || told.count < limits.rate else {
      return out
    }
    let room = max(1, limits.rate - told.count)
    let parts = ready.count + (others > 0 ? 1 : 0)
    let single = parts <= room && others == 0 ? ready.count : min(room - 1, ready.count)
    for bundle in ready.prefix(single) { out.append((bundle.delivery, [bundle])) }
    let rest = Array(ready.dropFirst(single))
    let isSummed = !rest.isEmpty || others > 0
    if isSummed {
      let summary = Bundle.summary(rest, others: others)
      out.append((summary, rest + bundled(others)))
      others = 0
    }
    let keys = Set(ready.map(\.key))
    waiting.removeAll { keys.contains($0.key) }
    told += Array(repeating: now, count: single + (isSummed ? 1 : 0))
    return out
  }

  func next(now: Double) -> Double? {
    guard let first = waiting.map(time).min() else { return nil }
    let recent = told.filter { now - $0 < 60 }
    return recent.count < limits.rate ? first : max(first, (recent.min() ?? now) + 60)
  }

  private func time(of bundle: Bundle) -> Double {
    min(bundle.first + 5 * limits.settle, bundle.last + limits.settle)
  }

  /// When what is kept is to be told; nil when there is nothing, or not before the end.
  var digestTime: Double? {
    guard limits.digest > 0, let first = kept.map(\.first).min() else { return nil }
    return first + limits.digest
  }

  /// Tells what was kept. Returns what it tells, too; nil for nothing.
  mutating func digest() -> (Delivery, of: [Bundle])? {
    guard !kept.isEmpty else { return nil }
    defer { (kept, keptOthers) = ([], 0) }
    let isOne = kept.count == 1 && keptOthers == 0
    let delivery = isOne ? kept[0].delivery : Bundle.summary(kept, others: keptOthers)
    return (delivery, kept + bundled(keptOthers))
  }
}
