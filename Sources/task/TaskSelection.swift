import Core
import Records
import Turns

struct TaskSelection {
  var isAll = false
  /// Whether the order of the input does not matter.
  var isSorted = true
  var project: String?
  var label: String?

  /// What is overdue, then what is due today, then by the day, then what has no day by its
  /// priority; what is over comes last.
  func tasks(of items: [TaskItem], now: Timestamp, zone: LocalZone) -> [TaskItem] {
    let wanted = items.filter(isWanted)
    if !isSorted { return wanted }
    let ranks = wanted.map { item in
      let record = item.record
      return (
        record.state.isEnd ? 1 : 0, item.due?.distance(from: now, in: zone).rawValue ?? .max,
        item.due?.instant(in: zone) ?? Timestamp(seconds: .max), record.priority ?? .max,
        record.title, record.id
      )
    }
    return zip(wanted, ranks).sorted { $0.1 < $1.1 }.map(\.0)
  }

  private func isWanted(_ item: TaskItem) -> Bool {
    let record = item.record
    if record.state.isEnd && !isAll { return false }
    if let label, record.labels?.contains(label) != true { return false }
    guard let project else { return true }
    guard let own = record.project else { return false }
    return own == project || own.hasPrefix("at://") && TaskItem.key(of: own) == project
  }

  /// How many tasks are due, in a few words: `2 overdue, 3 today`, or `5 open`. Returns nil when
  /// there is none.
  static func bar(_ items: [TaskItem], now: Timestamp, zone: LocalZone) -> String? {
    let open = items.filter { !$0.record.state.isEnd }
    if open.isEmpty { return nil }
    let near = open.compactMap { $0.due?.distance(from: now, in: zone) }
    let words = [(DueTime.Distance.overdue, "overdue"), (.today, "today")].compactMap {
      kind, name in
      let count = near.count { $0 == kind }
      return count == 0 ? nil : "\(count) \(name)"
    }
    return words.isEmpty ? "\(open.count) open" : words.joined(separator: ", ")
  }
}
