import Core
import Records
import Screen
import Turns

/// task-format(1): tasks between records and people.
public func taskFormatMain() {
  TaskOptions.table.run(TaskOptions()) { options, diagnostics in
    var run = TaskRun(options, diagnostics)
    return try run.all()
  }
}

private struct TaskRun {
  private let options: TaskOptions
  private let diagnostics: Diagnostics
  private let now: Timestamp
  private let zone = LocalZone.system
  private let writer = RecordWriter()
  private var faults: FaultLog

  init(_ options: TaskOptions, _ diagnostics: Diagnostics) {
    (self.options, self.diagnostics) = (options, diagnostics)
    now = options.now?.timestamp(now: .now()) ?? .now()
    faults = FaultLog(diagnostics)
  }

  mutating func all() throws -> ExitStatus {
    let status: ExitStatus
    switch options.job {
    case .quick:
      status = .success
      try quick()
    case .done(let names): status = try done(names, items())
    case .show: status = try show(items())
    }
    try writer.flush()
    faults.finish()
    return faults.hasFault ? .failure : status
  }

  /// Hands on the lines of the input that are not blank.
  private mutating func each(_ receive: (UnsafeRawBufferPointer) throws -> String?) throws {
    let writer = writer
    try RecordInput.each(
      options.files, writtenTo: FileIdentity(descriptor: 1),
      options.job == .quick ? .lines : .records, until: { false },
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
    try each { line in
      do throws(Failure) {
        items.append(try TaskItem(row: line, profile: profile))
        return nil
      } catch {
        return error.reason
      }
    }
    return items
  }

  private mutating func quick() throws {
    let (now, zone, writer, list) = (now, zone, writer, options.list)
    try each { line in
      guard UTF8Text.isValid(line) else { return "not UTF-8" }
      let text = String(decoding: line, as: UTF8.self)
      let record: [UInt8]
      do throws(Failure) {
        record =
          if let list {
            TaskDraft(title: try QuickTask.plain(text)).item(of: list)
          } else {
            try QuickTask.read(text, now: now, zone: zone).bytes
          }
      } catch {
        return error.reason
      }
      try writer.write(record)
      try writer.newline()
      return nil
    }
  }

  private func show(_ items: [TaskItem]) throws -> ExitStatus {
    let tasks = options.selection.tasks(of: items, now: now, zone: zone)
    if options.isQuiet { return tasks.isEmpty ? .negative : .success }
    switch options.form {
    case .text:
      for task in tasks { try writer.write(TaskText.words(task, now: now, zone: zone) + "\n") }
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

  private func done(_ names: [String], _ items: [TaskItem]) throws -> ExitStatus {
    let tasks = TaskNames(items)
    var status = ExitStatus.success
    var seen: Set<String> = []
    for name in names {
      switch tasks[name] {
      case .one(let item) where item.record.state == .done: break
      case .one(let item) where item.record.state.isEnd:
        diagnostics.error(item.key, "already \(item.record.state.rawValue)")
        if status == .success { status = .negative }
      case .one(let item):
        guard seen.insert(item.record.id).inserted else { break }
        try writer.write(item.done(at: now))
        try writer.newline()
      case .none:
        diagnostics.error(name, "no such task")
        if status == .success { status = .negative }
      case .several(let keys):
        diagnostics.error(name, "several tasks: \(keys.joined(separator: ", "))")
        status = .failure
      }
    }
    return status
  }
}
