import CLibc
import Core
import Records

/// What actions may have in common: a key of `--by`.
enum GroupKey: String, CaseIterable, Sendable {
  case kind, domain, model, provider, guild, channel, thread, user, agent, profile
  case session, project, subagent
  case minute, hour, day, week, month

  var unit: TimeBuckets.Unit? { TimeBuckets.Unit(rawValue: rawValue) }
}

/// What `--by` and `--total` ask for.
struct Grouping: Equatable, Sendable {
  /// The keys in the order in which they were given; at most one is a time.
  var keys: [GroupKey] = []
  var hasTotal = false
  /// Whether tokens are summed, and the most expensive comes first.
  var isUsage = false

  var time: GroupKey? { keys.first { $0.unit != nil } }

  static let list = Reading<[GroupKey]>(
    { argument throws(UsageError) in
      var keys: [GroupKey] = []
      for word in argument.words {
        if word.isEmpty { throw argument.fault("a key is missing") }
        guard let key = GroupKey(rawValue: word) else {
          throw argument.fault(noneOf: GroupKey.allCases.map(\.rawValue))
        }
        if keys.contains(key) { throw argument.fault("\(word) is named twice") }
        if key.unit != nil, let other = keys.first(where: { $0.unit != nil }) {
          throw argument.fault("\(other.rawValue) and \(word) are both times")
        }
        keys.append(key)
      }
      return keys
    }, completion: .words(GroupKey.allCases.map(\.rawValue)))
}

/// The minutes, hours, days, weeks and months of the zone that the user lives in.
///
/// A day has 23 or 25 hours when the clocks change; an hour that comes twice is two.
struct TimeBuckets {
  enum Unit: String {
    case minute, hour, day, week, month

    /// Seconds; none is shorter, except where clocks change.
    var width: Int64 {
      switch self {
      case .minute: 60
      case .hour: 3600
      case .day: 86_400
      case .week: 604_800
      case .month: 28 * 86_400
      }
    }

    /// Seconds; none is longer, whatever the clocks do.
    var span: Int64 {
      switch self {
      case .minute, .hour: width
      case .day, .week: width + 2 * 86_400
      case .month: 33 * 86_400
      }
    }
  }

  private struct Label: Equatable {
    let number: Int64
    var offset: Int64 = 0
  }

  private let unit: Unit
  /// The bucket that was asked for last: records come in the order of time.
  private var known: Range<Int64> = 0..<0

  init(_ unit: Unit) { self.unit = unit }

  /// When the bucket of an instant begins, in seconds since 1970.
  mutating func start(of seconds: Int64) -> Int64 {
    if known.contains(seconds) { return known.lowerBound }
    let label = label(seconds)
    // Where clocks do not change, it is what the local time says.
    let local = seconds + offset(seconds)
    var start = seconds - rest(local, of: seconds)
    if self.label(start) != label || self.label(start - 1) == label {
      start = first(after: seconds - unit.span - 1, upTo: seconds) { self.label($0) == label }
    }
    known = start..<next(after: start)
    return start
  }

  func next(after start: Int64) -> Int64 {
    let label = label(start)
    let guess = start + unit.width
    if self.label(guess) != label && self.label(guess - 1) == label { return guess }
    return first(after: start, upTo: start + unit.span) { self.label($0) != label }
  }

  /// The first instant of which something holds that holds of the last, and of all
  /// from the first one on.
  private func first(after low: Int64, upTo high: Int64, where holds: (Int64) -> Bool) -> Int64 {
    var (low, high) = (low, high)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if holds(middle) { high = middle } else { low = middle }
    }
    return high
  }

  private func rest(_ local: Int64, of seconds: Int64) -> Int64 {
    switch unit {
    case .minute, .hour, .day: return Self.remainder(local, unit.width)
    // 1970 began on a Thursday.
    case .week: return Self.remainder(local + 3 * 86_400, unit.width)
    case .month:
      let day = Int64(LocalZone.calendar(seconds)?.tm_mday ?? 1)
      return Self.remainder(local, 86_400) + (day - 1) * 86_400
    }
  }

  private func label(_ seconds: Int64) -> Label {
    let part = LocalZone.calendar(seconds)
    let offset = Int64(part?.tm_gmtoff ?? 0)
    let local = seconds + offset
    func whole(_ value: Int64) -> Int64 {
      (value - Self.remainder(value, unit.width)) / unit.width
    }
    switch unit {
    case .minute, .hour: return Label(number: whole(local), offset: offset)
    case .day: return Label(number: whole(local))
    case .week: return Label(number: whole(local + 3 * 86_400))
    case .month: return Label(number: Int64(part?.tm_year ?? 0) * 12 + Int64(part?.tm_mon ?? 0))
    }
  }

  private func offset(_ seconds: Int64) -> Int64 {
    Int64(LocalZone.calendar(seconds)?.tm_gmtoff ?? 0)
  }

  private static func remainder(_ value: Int64, _ width: Int64) -> Int64 {
    let rest = value % width
    return rest < 0 ? rest + width : rest
  }
}
