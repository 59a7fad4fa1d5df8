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
/// and adds up. What is pressing is no part of a sum and counts for none, and an emergency does
/// not wait for anything.
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
  /// Of those that are in no sum; no more is read while so many wait.
  static let mostPressing = 2000

  static func most(_ urgency: NotificationRecord.Urgency) -> Int {
    urgency.isPressing ? mostPressing + mostKinds : mostKinds
  }

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
    let urgency = routed.urgency ?? .attention
    if let index = bundles.lastIndex(where: { $0.takes(fresh, urgency) }) {
      bundles[index].add(routed, id: id, now: now)
      return true
    }
    guard bundles.count < most(urgency) else { return false }
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
    let limits = limits
    let isReady = { (bundle: Bundle) in isEnd || Self.time(of: bundle, limits) <= now }
    for bundle in waiting where bundle.isPressing && isReady(bundle) {
      out.append((bundle.delivery, [bundle]))
    }
    waiting.removeAll { $0.isPressing && isReady($0) }
    let ready = waiting.filter { !$0.isPressing && isReady($0) }
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
    waiting.removeAll { !$0.isPressing && isReady($0) }
    told += Array(repeating: now, count: single + (isSummed ? 1 : 0))
    return out
  }

  func next(now: Double) -> Double? {
    let pressing = waiting.filter(\.isPressing).map(time).min()
    guard let first = waiting.filter({ !$0.isPressing }).map(time).min() else { return pressing }
    let recent = told.filter { now - $0 < 60 }
    let next = recent.count < limits.rate ? first : max(first, (recent.min() ?? now) + 60)
    return min(pressing ?? .infinity, next)
  }

  private func time(of bundle: Bundle) -> Double { Self.time(of: bundle, limits) }

  private static func time(of bundle: Bundle, _ limits: BundleLimits) -> Double {
    min(bundle.first + 5 * limits.settle, bundle.last + limits.settle)
  }

  /// When what is kept is to be told; nil when there is nothing, or not before the end.
  var digestTime: Double? {
    guard limits.digest > 0, let first = kept.map(\.first).min() else { return nil }
    return first + limits.digest
  }

  /// Tells what was kept, in one but for what is pressing. Returns what it tells, too.
  mutating func digest() -> [(Delivery, of: [Bundle])] {
    defer { (kept, keptOthers) = ([], 0) }
    let rest = kept.filter { !$0.isPressing }
    let out = kept.filter(\.isPressing).map { ($0.delivery, of: [$0]) }
    if rest.isEmpty, keptOthers == 0 { return out }
    let isOne = rest.count == 1 && keptOthers == 0
    let delivery = isOne ? rest[0].delivery : Bundle.summary(rest, others: keptOthers)
    return out + [(delivery, of: rest + bundled(keptOthers))]
  }
}
