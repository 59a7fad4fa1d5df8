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
        let listing = TaskText.listing(
          showsState: options.selection.isAll, now: now, zone: zone)
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
