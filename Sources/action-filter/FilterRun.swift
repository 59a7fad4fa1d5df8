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

  /// - Parameters:
  ///   - settings: what is asked for.
  ///   - diagnostics: where faults are reported.
  init(_ settings: FilterSettings, _ diagnostics: Diagnostics) {
    self.settings = settings
    faults = FaultLog(diagnostics)
    if case .groups(let grouping) = settings.output { tally = Tally(grouping) }
  }

  /// Reads all that is to be read.
  ///
  /// - Returns: how the command ends.
  mutating func run() throws(WriteFailure) -> ExitStatus {
    for file in settings.files where !isDone { try read(file) }
    try report()
    try writer.flush()
    faults.finish()
    if settings.output == .nothing && selected > 0 { return .success }
    if faults.hasFault { return .failure }
    return selected > 0 ? .success : .negative
  }

  /// Whether nothing that follows can change the answer.
  private var isDone: Bool {
    selected >= settings.maxCount || settings.output == .nothing && selected > 0
  }

  private mutating func read(_ file: String) throws(WriteFailure) {
    let descriptor = file == "-" ? 0 : clibc_open(file, O_RDONLY)
    guard descriptor >= 0 else { return faults.file(file, systemReason(systemError)) }
    defer { if descriptor > 0 { close(descriptor) } }
    var reader = LineReader(descriptor: descriptor)
    var number = 0
    let writer = writer
    do {
      while !isDone, let line = try reader.next(beforeBlocking: { try writer.flush() }) {
        number += 1
        try take(number == 1 ? Self.withoutMark(line.bytes) : line.bytes, file, number)
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

  private mutating func take(
    _ line: UnsafeRawBufferPointer, _ file: String, _ number: Int
  ) throws(WriteFailure) {
    let shape: ActionRecord.Shape
    do throws(ScanFault) {
      shape = try record.read(line)
    } catch {
      if error != .empty { faults.line(file, number, error.reason) }
      return
    }
    switch shape {
    case .action: try select(record.fields, record.source, line, record.action)
    case .list: try expand(record.rows, file, number)
    case .other:
      if settings.passesOthers && (settings.output == .original || settings.output == .canonical) {
        try writer.writeLine(line)
      }
    }
  }

  private mutating func expand(_ list: ScanValue, _ file: String, _ number: Int)
    throws(WriteFailure)
  {
    var rows: [RowOrder.Row] = []
    do throws(ScanFault) {
      var elements = try ScanElements(list.bytes)
      var index = 0
      while try elements.next() {
        do throws(ScanFault) {
          let fields = try ActionFields(elements.value.bytes)
          rows.append(RowOrder.Row(fields: fields, action: elements.value))
        } catch {
          faults.line(file, number, "action \(index): \(error.reason)")
        }
        index += 1
      }
    } catch {
      faults.line(file, number, "actions: \(error.reason)")
    }
    for row in RowOrder.oldestFirst(rows, scratch) {
      if isDone { return }
      let source = row.fields.id.isNull ? ActionWindow.Source.bare : .row
      try select(row.fields, source, row.action.bytes, row.action)
    }
  }

  @inline(__always)
  private mutating func select(
    _ fields: ActionFields, _ source: ActionWindow.Source, _ bytes: UnsafeRawBufferPointer,
    _ action: ScanValue
  ) throws(WriteFailure) {
    guard settings.predicate.matches(fields, scratch) != settings.isInverted else { return }
    if settings.isUnique && !isNew(fields, source) { return }
    selected += 1
    switch settings.output {
    case .original: try writer.writeLine(bytes)
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
