import CLibc
import Core
import Records
import Screen
import Turns

/// task(1): tasks on a personal data server, in words, and as records between the two.
public func taskMain() {
  let verb = Process.arguments.lazy.compactMap { TaskOptions.Verb(rawValue: $0) }.first
  TaskOptions.table(verb).run(TaskOptions()) { options, diagnostics in
    var run = TaskRun(options, diagnostics)
    return try run.all()
  }
}

struct TaskRun {
  let options: TaskOptions
  let diagnostics: Diagnostics
  let now: Timestamp
  let zone = LocalZone.system
  let writer = RecordWriter()
  var faults: FaultLog

  init(_ options: TaskOptions, _ diagnostics: Diagnostics) {
    (self.options, self.diagnostics) = (options, diagnostics)
    now = options.now?.timestamp(now: .now()) ?? .now()
    faults = FaultLog(diagnostics)
  }

  mutating func all() throws -> ExitStatus {
    let status: ExitStatus
    switch options.verb {
    case .list: status = try list()
    case .add: status = try add()
    case .done: status = try markDone()
    case .format:
      if options.isQuick {
        status = .success
        let writer = writer
        try words(of: options.list) { try writer.write($0) }
      } else {
        let items = try items()
        if options.isDone {
          let done = done(items)
          try writer.write(done.rows)
          for fault in done.faults { diagnostics.say(fault) }
          status = done.status
        } else {
          status = try show(options.selection.tasks(of: items, now: now, zone: zone))
        }
      }
    }
    try writer.flush()
    faults.finish()
    return faults.hasFault && status.rawValue < 2 ? .failure : status
  }

  // MARK: - The filter

  /// Hands on the lines of the input that are not blank.
  private mutating func each(
    _ content: RecordInput.Content, _ receive: (UnsafeRawBufferPointer) throws -> String?
  ) throws {
    let writer = writer
    let paths = options.verb == .format && !options.words.isEmpty ? options.words : ["-"]
    try RecordInput.each(
      paths, writtenTo: FileIdentity(descriptor: 1), content, until: { false },
      fault: { faults.file($0, $1) },
      lines: { input in
        while let line = try input.next(beforeBlocking: { _ in try writer.flush() }) {
          guard line.bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else {
            continue
          }
          if let reason = try receive(line.bytes) { faults.line(input.path, line.number, reason) }
        }
      })
  }

  private mutating func items() throws -> [TaskItem] {
    var items: [TaskItem] = []
    let profile = options.profile
    try each(.records) { line in
      do throws(Failure) {
        items.append(try TaskItem(row: line, profile: profile))
        return nil
      } catch {
        return error.reason
      }
    }
    return items
  }

  /// Reads tasks in words, a line each, and hands on their records.
  mutating func words(of list: String?, _ receive: ([UInt8]) throws -> Void) throws {
    let (now, zone) = (now, zone)
    try each(.lines) { line in
      guard UTF8Text.isValid(line) else { return "not UTF-8" }
      do {
        try receive(
          Self.record(of: String(decoding: line, as: UTF8.self), list, now: now, zone: zone))
        return nil
      } catch let failure as Failure {
        return failure.reason
      }
    }
  }

  static func record(
    of text: String, _ list: String?, now: Timestamp, zone: LocalZone
  ) throws(Failure) -> [UInt8] {
    if let list { return TaskDraft(title: try QuickTask.plain(text)).item(of: list) + [10] }
    return try QuickTask.read(text, now: now, zone: zone).bytes + [10]
  }

  func show(_ tasks: [TaskItem]) throws -> ExitStatus {
    if options.isQuiet { return tasks.isEmpty ? .negative : .success }
    switch options.form {
    case .text: try sentences(tasks)
    case .line:
      guard let bar = TaskSelection.bar(tasks, now: now, zone: zone) else { return .negative }
      try writer.write(bar + "\n")
    case .json, .table, .tsv, nil:
      let form = options.form.flatMap { RowOutput.Form(rawValue: $0.rawValue) }
      let output = RowOutput(form: form, look: options.look, isQuiet: false)
      if output.form == .tsv {
        try output.header(TaskText.fields)
        for task in tasks { try output.text(TaskText.tsv(task.record)) }
      } else {
        let listing = TaskText.listing(showsState: options.selection.isAll, now: now, zone: zone)
        try output.list(tasks.map(\.record.bytes), listing)
      }
      try output.flush()
    }
    return tasks.isEmpty ? .negative : .success
  }

  func sentences(_ tasks: [TaskItem], after start: String = "") throws(WriteFailure) {
    for task in tasks {
      try writer.write(start + TaskText.words(task, now: now, zone: zone) + "\n")
    }
  }

  /// The rows of the tasks that are to be done, with the tasks done, and their keys.
  func done(
    _ items: [TaskItem]
  ) -> (rows: [UInt8], keys: [String], faults: [String], status: ExitStatus) {
    var (rows, keys, faults): ([UInt8], [String], [String]) = ([], [], [])
    var status = ExitStatus.success
    for name in options.ids {
      let found = Self.tasks(named: name, of: items)
      guard found.count == 1, let item = found.first else {
        let others = found.map(\.key).joined(separator: ", ")
        faults.append("\(name): " + (found.isEmpty ? "no such task" : "several tasks: \(others)"))
        status = found.isEmpty ? status.worse(.negative) : .failure
        continue
      }
      if item.record.state == .done || keys.contains(item.key) { continue }
      if item.record.state.isEnd {
        faults.append("\(item.key): already \(item.record.state.rawValue)")
        status = status.worse(.negative)
      } else {
        keys.append(item.key)
        rows += item.done(at: now) + [10]
      }
    }
    return (rows, keys, faults, status)
  }

  /// The tasks that a name is for: an AT URI, the key of a record, or its beginning or end. Where only
  /// a part of the key is given, tasks that are open go before others.
  private static func tasks(named name: String, of items: [TaskItem]) -> [TaskItem] {
    if let item = items.first(where: { $0.record.id == name || $0.key == name }) { return [item] }
    // Some servers call the owner by another name.
    if name.hasPrefix("at://") {
      let path = { (uri: String) in uri.split(separator: "/").dropFirst(2) }
      return Array(items.filter { path($0.record.id) == path(name) }.prefix(1))
    }
    let found = items.filter { $0.key.hasPrefix(name) || $0.key.hasSuffix(name) }
    let open = found.filter { !$0.record.state.isEnd }
    return open.isEmpty ? found : open
  }
}

/// Reads a task as people type it: `deploy the pipeline tomorrow 9:00 !1 #ops`.
enum QuickTask {
  /// The longest title, characters, and the longest line, bytes.
  static let (longest, longestLine) = (500, 64 << 10)

  /// Reads one line. `!1` to `!4` is the priority, `#word` a label, `+word` the project, `@word`
  /// who does it if it is a handle or a DID; a date in words may stand anywhere; all else is the
  /// title. A word behind a backslash, and what stands between double quotes, is of the title.
  static func read(
    _ text: String, now: Timestamp, zone: LocalZone = .system
  ) throws(Failure) -> TaskDraft {
    let words = try words(text)
    var title: [String] = []
    var draft = TaskDraft(title: "")
    var at = 0
    while at < words.count {
      let word = words[at]
      if let end = quoteEnd(words, at) {
        title += words[at..<end]
        at = end
      } else if word.hasPrefix("\\"), word.count > 1 {
        title.append(String(word.dropFirst()))
        at += 1
      } else if try mark(word, &draft) {
        at += 1
      } else if let found = try DueWords.read(words[at...], now: now, zone: zone) {
        let said = words[at..<at + found.count].joined(separator: " ")
        if let other = draft.dueText { throw twice("dates", other, said) }
        (draft.due, draft.dueText) = (found.due, said)
        at += found.count
      } else {
        title.append(word)
        at += 1
      }
    }
    draft.title = try checked(title.joined(separator: " "))
    return draft
  }

  /// Reads one line that is a title and nothing else.
  static func plain(_ text: String) throws(Failure) -> String {
    try checked(words(text).joined(separator: " "))
  }

  private static func words(_ text: String) throws(Failure) -> [String] {
    guard text.utf8.count <= longestLine else {
      throw Failure("a line of more than \(longestLine) bytes")
    }
    return text.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  private static func checked(_ title: String) throws(Failure) -> String {
    if title.isEmpty { throw Failure("no title") }
    guard title.unicodeScalars.count <= longest else {
      throw Failure("a title of more than \(longest) characters")
    }
    return title
  }

  private static func quoteEnd(_ words: [String], _ at: Int) -> Int? {
    guard words[at].hasPrefix("\"") else { return nil }
    return words[at...].firstIndex { $0.count > 1 && $0.hasSuffix("\"") }.map { $0 + 1 }
  }

  private static func twice(_ what: String, _ one: String, _ other: String) -> Failure {
    Failure("two \(what): \(one), and \(other); \\ before a word keeps it in the title")
  }

  private static func mark(_ word: String, _ draft: inout TaskDraft) throws(Failure) -> Bool {
    // A sign behind it is one of the sentence.
    let end = word.reversed().drop { ",.;:!?)".contains($0) }.count
    let name = String(word.prefix(end).dropFirst())
    switch word.first {
    case "!":
      guard let priority = Int(name), (1...4).contains(priority), name.count == 1 else {
        return false
      }
      if let one = draft.priority, one != priority { throw twice("priorities", "!\(one)", word) }
      draft.priority = priority
    case "#":
      // A number is that of something else.
      let names = name.split(separator: ",").map { String($0.first == "#" ? $0.dropFirst() : $0) }
      guard !names.isEmpty, names.allSatisfy({ $0.contains(where: \.isLetter) }) else {
        return false
      }
      for name in names where !draft.labels.contains(name) { draft.labels.append(name) }
    case "+":
      guard name.first?.isLetter == true else { return false }
      if let one = draft.project, one != name { throw twice("projects", "+\(one)", word) }
      draft.project = name
    case "@":
      guard isPerson(name) else { return false }
      if let one = draft.assignee, one != name { throw twice("persons", "@\(one)", word) }
      draft.assignee = name
    default: return false
    }
    return true
  }

  /// Whether a word is a DID (`did:plc:...`) or a handle (`alice.example.com`).
  static func isPerson(_ word: String) -> Bool {
    let bytes = Array(word.utf8)
    let isLetter = { (byte: UInt8) in (97...122).contains(byte | 32) }
    let isName = { (byte: UInt8) in byte.isAlphanumeric || byte == 45 }
    if word.hasPrefix("did:") {
      let parts = bytes.split(separator: 58, maxSplits: 2, omittingEmptySubsequences: false)
      return parts.count == 3 && !parts[1].isEmpty
        && parts[1].allSatisfy { (97...122).contains($0) }
        && bytes.count <= 2048 && bytes.last != 58 && !parts[2].isEmpty
        && parts[2].allSatisfy { isName($0) || ":._%".utf8.contains($0) }
    }
    let parts = bytes.split(separator: 46, omittingEmptySubsequences: false)
    return parts.count >= 2 && bytes.count <= 253
      && parts.allSatisfy {
        (1...63).contains($0.count) && $0.allSatisfy(isName) && $0.first != 45 && $0.last != 45
      } && parts.last?.first.map(isLetter) == true
  }
}

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
