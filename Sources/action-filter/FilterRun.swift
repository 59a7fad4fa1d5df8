import CLibc
import Core

/// Reads the files, selects, and writes: the command's loop.
struct FilterRun {
  private let settings: FilterSettings
  private let writer = RecordWriter()
  private let scratch = ScanScratch()
  private var record = ActionRecord()
  private var window = ActionWindow()
  private var tally: Tally?
  private var faults: FaultLog
  private var selected = 0
  private var rejects: RejectFile?
  private let rows: RowList
  /// Whether what is done with an action asks for its members.
  private let needsFields: Bool
  private let prefilter: LiteralSearch?

  /// - Parameters:
  ///   - settings: what is asked for.
  ///   - diagnostics: where faults are reported.
  init(_ settings: FilterSettings, _ diagnostics: Diagnostics) {
    self.settings = settings
    faults = FaultLog(diagnostics)
    rows = RowList(settings)
    needsFields = settings.isUnique || settings.output.usesMembers
    prefilter = Prefilter.search(settings)
    if case .groups(let grouping) = settings.output { tally = Tally(grouping) }
    if let path = settings.rejects { rejects = Self.open(path, settings.files, diagnostics) }
  }

  /// Opens the file of the bad lines, or leaves: there would be no place for
  /// them.
  private static func open(
    _ path: String, _ files: [String], _ diagnostics: Diagnostics
  ) -> RejectFile {
    do throws(WriteFailure) {
      let rejects = try RejectFile(path: path)
      if files.contains(where: rejects.isFile) {
        diagnostics.fail("\(path): is read and written at once")
      }
      try rejects.clear()
      return rejects
    } catch {
      diagnostics.fail("\(path): \(error.reason)")
    }
  }

  /// Reads all that is to be read.
  ///
  /// - Returns: how the command ends.
  mutating func run() throws(WriteFailure) -> ExitStatus {
    for file in settings.files where !isDone { try read(file) }
    try report()
    try writer.flush()
    keep { rejects throws(WriteFailure) in try rejects.finish() }
    faults.finish()
    if settings.output == .nothing && selected > 0 { return .success }
    if faults.hasFault { return .failure }
    return selected > 0 ? .success : .negative
  }

  /// Whether nothing that follows can change the answer.
  private var isDone: Bool {
    selected >= settings.maxCount
  }

  private mutating func read(_ file: String) throws(WriteFailure) {
    let descriptor = file == "-" ? 0 : clibc_open(file, O_RDONLY)
    guard descriptor >= 0 else { return faults.file(file, systemReason(systemError)) }
    defer { if descriptor > 0 { close(descriptor) } }
    var reader = LineReader(descriptor: descriptor)
    var number = 0
    do {
      while !isDone, let line = try reader.next(beforeBlocking: { try flush() }) {
        number += 1
        if let prefilter, prefilter.find(line.bytes) == nil {
          number += reader.skipLines(until: prefilter.find)
          continue
        }
        let bytes = number == 1 ? Self.withoutMark(line.bytes) : line.bytes
        if try !take(bytes, file, number, skipped: line.bytes.count - bytes.count) {
          keep { rejects throws(WriteFailure) in
            try rejects.add(line.bytes, terminated: line.terminated)
          }
        }
      }
    } catch let failure as WriteFailure {
      throw failure
    } catch {
      faults.file(file, (error as? ReadFailure)?.reason ?? "cannot be read")
    }
  }

  /// A file's first line without a byte order mark, which is no part of JSON.
  private static func withoutMark(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard line.starts(with: [0xef, 0xbb, 0xbf]) else { return line }
    return UnsafeRawBufferPointer(rebasing: line[3...])
  }

  /// Writes what is complete, before a read that may wait.
  private mutating func flush() throws(WriteFailure) {
    try writer.flush()
    keep { rejects throws(WriteFailure) in try rejects.flush() }
  }

  /// Does something with the file of the bad lines; its failure is said and
  /// hinders nothing else.
  private mutating func keep(_ action: (RejectFile) throws(WriteFailure) -> Void) {
    guard let rejects else { return }
    do throws(WriteFailure) { try action(rejects) } catch {
      faults.file(rejects.path, error.reason)
    }
  }

  /// Reads one line and treats what is in it.
  ///
  /// - Returns: whether all of it was good.
  private mutating func take(
    _ line: UnsafeRawBufferPointer, _ file: String, _ number: Int, skipped: Int
  ) throws(WriteFailure) -> Bool {
    if settings.isStrict, let reason = StrictFault.reason(line, skipped: skipped) {
      faults.line(file, number, reason)
      return false
    }
    let shape: ActionRecord.Shape
    do throws(ScanFault) {
      shape = try record.read(line, rows: rows)
    } catch {
      if error == .empty { return true }
      faults.line(file, number, error.reason)
      return false
    }
    switch shape {
    case .action:
      if settings.predicate.matches(record.fields, scratch) != settings.isInverted {
        try emit(record.fields, record.source, line, record.action)
      }
    case .list: return try expand(record.rows, file, number)
    case .other:
      if settings.passesOthers && settings.printsRecords { try writer.writeLine(line) }
    }
    return true
  }

  private mutating func expand(
    _ list: ScanValue, _ file: String, _ number: Int
  ) throws(WriteFailure) -> Bool {
    let isGood = record.hasReadRows || walk(list, file, number)
    for action in rows.oldestFirst() {
      if isDone { break }
      // Read once, a row has no fault.
      let fields =
        needsFields ? (try? ActionFields(action.bytes)) ?? ActionFields() : ActionFields()
      try emit(fields, fields.id.isNull ? .bare : .row, action.bytes, action)
    }
    return isGood
  }

  /// Walks a list with a fault in it row by row.
  private mutating func walk(_ list: ScanValue, _ file: String, _ number: Int) -> Bool {
    var isGood = true
    rows.begin()
    do throws(ScanFault) {
      var elements = try ScanElements(list.bytes)
      var index = 0
      while try elements.next() {
        do throws(ScanFault) {
          rows.add(try ActionFields(elements.value.bytes), elements.value)
        } catch {
          faults.line(file, number, "action \(index): \(error.reason)")
          isGood = false
        }
        index += 1
      }
    } catch {
      faults.line(file, number, "actions: \(error.reason)")
      isGood = false
    }
    return isGood
  }

  /// Takes a selected action.
  @inline(__always)
  private mutating func emit(
    _ fields: ActionFields, _ source: ActionWindow.Source, _ bytes: UnsafeRawBufferPointer,
    _ action: ScanValue
  ) throws(WriteFailure) {
    if settings.isUnique && !isNew(fields, source) { return }
    selected += 1
    switch settings.output {
    case .original: try writer.writeLine(bytes)
    case .fields(let projection): try projection.write(fields, action, to: writer)
    case .canonical: try CanonicalRow.write(fields, action, to: writer)
    case .groups: tally?.add(fields, scratch)
    case .count, .nothing: break
    }
  }

  private mutating func isNew(_ fields: ActionFields, _ source: ActionWindow.Source) -> Bool {
    let id = fields.id.rawText.map { ActionKey(text: scratch.text(of: $0)) }
    return window.isNew(id: id, key: ActionKey(fields, scratch: scratch), source: source)
  }

  private func report() throws(WriteFailure) {
    if settings.output == .count { try writer.write("\(selected)\n") }
    for record in tally?.records ?? [] {
      try writer.write(record)
      try writer.newline()
    }
  }
}
