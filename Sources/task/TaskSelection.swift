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
    return wanted.map { ($0, Rank($0, now, zone)) }.sorted { $0.1 < $1.1 }.map(\.0)
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

private struct Rank: Comparable {
  private let isOver: Bool
  private let distance: Int
  private let due: Timestamp
  private let priority: Int
  private let title: String
  private let id: String

  init(_ item: TaskItem, _ now: Timestamp, _ zone: LocalZone) {
    let record = item.record
    isOver = record.state.isEnd
    distance = item.due?.distance(from: now, in: zone).rawValue ?? .max
    due = item.due?.instant(in: zone) ?? Timestamp(seconds: .max)
    priority = record.priority ?? .max
    (title, id) = (record.title, record.id)
  }

  static func < (a: Rank, b: Rank) -> Bool {
    if a.isOver != b.isOver { return b.isOver }
    if a.distance != b.distance { return a.distance < b.distance }
    if a.due != b.due { return a.due < b.due }
    if a.priority != b.priority { return a.priority < b.priority }
    return (a.title, a.id) < (b.title, b.id)
  }
}
