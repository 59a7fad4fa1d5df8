import Core
import Records
import Screen
import Turns

enum TaskText {
  static let fields = [
    "id", "state", "priority", "due", "title", "project", "labels", "assignee", "notes",
  ]

  static func tsv(_ task: TaskRecord) -> String {
    let cells: [String?] = [
      task.id, task.state.rawValue, task.priority.map { "\($0)" }, task.due, task.title,
      task.project, task.labels?.joined(separator: ","), task.assignee, task.notes,
    ]
    return cells.map { RowText.escape($0 ?? "") }.joined(separator: "\t")
  }

  /// A task in a line for a person: `call Ada, due Tue 24 Nov 09:00, !1, #home`.
  static func words(_ item: TaskItem, now: Timestamp, zone: LocalZone) -> String {
    let task = item.record
    let parts: [String?] = [
      task.title.isEmpty ? untitled : task.title,
      item.due.map { "due " + $0.words(now: now, in: zone) },
      task.priority.map { "!\($0)" }, task.project.map { "+" + project($0) },
      task.labels.flatMap(labels), task.assignee.map { "@" + $0 },
    ]
    return Plain.line(parts.compactMap { $0 }.joined(separator: ", "), limit: Cell.longest)
  }

  /// The columns of a table, for tasks as records.
  static func listing(showsState: Bool, now: Timestamp, zone: LocalZone) -> Listing {
    let due = Listing.Column("DUE") { task in
      guard let due = task["due"]?.string.flatMap({ DueTime($0) }) else { return .nothing }
      let text = due.words(now: now, in: zone)
      if mood(task) == .faint { return .words(text, .faint) }
      switch due.distance(from: now, in: zone) {
      case .overdue: return .words(text, .bad)
      case .today: return .words(text, .odd)
      case .later: return .words(text)
      }
    }
    var columns = [
      column("ID") { TaskItem.key(of: $0["id"]?.string ?? "") }, due,
      column("!") { $0["priority"]?.text ?? "" },
      column("TASK", gives: true) {
        $0["title"]?.string.flatMap { $0.isEmpty ? nil : $0 } ?? untitled
      },
      column("PROJECT", gives: true) { $0["project"]?.string.map(project) ?? "" },
      column("LABELS", gives: true) { task in
        task["labels"].flatMap { labels($0.elements.compactMap(\.string)) } ?? ""
      },
      column("FOR", gives: true) { $0["assignee"]?.string ?? "" },
      column("NOTES", gives: true) { $0["notes"]?.string ?? "" },
    ]
    if showsState { columns.append(.status("STATE", "state")) }
    return Listing(columns: columns, fields: fields)
  }

  private static func column(
    _ title: String, gives: Bool = false, _ text: @escaping @Sendable (JSONValue) -> String
  ) -> Listing.Column {
    Listing.Column(title, gives: gives) { .words(text($0), mood($0)) }
  }

  /// What is over is to draw less attention.
  private static func mood(_ task: JSONValue) -> Cell.Mood {
    TaskRecord.State(rawValue: task["state"]?.string ?? "")?.isEnd == true ? .faint : .plain
  }

  private static let untitled = "(no title)"

  private static func project(_ name: String) -> String {
    name.hasPrefix("at://") ? TaskItem.key(of: name) : name
  }

  private static func labels(_ labels: [String]) -> String? {
    labels.isEmpty ? nil : labels.map { "#" + $0 }.joined(separator: " ")
  }
}
