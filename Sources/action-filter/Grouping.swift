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
