import CLibc
import Core
import Records

/// action-filter(1): selects actions from the suite's record stream.
public enum ActionFilter {
  /// Does what the command line asks for, and leaves.
  public static func main() {
    let options = FilterOptions.table.parseOrExit(FilterOptions(now: .now()))
    let diagnostics = Diagnostics(program: "action-filter")
    var run = FilterRun(options, diagnostics)
    do {
      Process.exit(try run.run())
    } catch let failure as WriteFailure {
      diagnostics.fail(writing: failure)
    } catch {
      diagnostics.fail("\(error)")
    }
  }
}

/// Reads the files, selects, and writes: the command's loop.
struct FilterRun {
  private var options: FilterOptions
  /// Nil where only ids are named.
  private var names: WantedNames?
  private let diagnostics: Diagnostics
  private let scratch = ScanScratch()
  private var record = RecordScan()
  private let rows: RowList
  private var output: FilterOutput
  private var faults: FaultLog
  private var rejects: RejectFile?
  private let prefilter: LiteralSearch?
  /// Where records are written, if that is a file: reading it would not end.
  private let target: FileIdentity?

  /// - Parameters:
  ///   - options: what is asked for.
  ///   - diagnostics: where faults are reported.
  init(_ options: FilterOptions, _ diagnostics: Diagnostics) {
    self.options = options
    self.diagnostics = diagnostics
    names = WantedNames(options.names)
    faults = FaultLog(diagnostics)
    rows = RowList(options)
    output = FilterOutput(options)
    prefilter = Prefilter.search(options)
    target = options.printsRecords ? FileIdentity(descriptor: 1) : nil
    if let path = options.rejects { rejects = Self.open(path, options.files, diagnostics) }
  }

  /// Opens the file of the bad lines, or leaves: there would be no place for
  /// them.
  private static func open(
    _ path: String, _ files: [String], _ diagnostics: Diagnostics
  ) -> RejectFile {
    do throws(WriteFailure) {
      let rejects = try RejectFile(path: path)
      if let own = rejects.identity {
        if files.contains(where: { FileIdentity(path: $0) == own }) {
          diagnostics.fail("\(path): is read and written at once")
        }
        if FileIdentity(descriptor: 1) == own {
          diagnostics.fail("\(path): is the standard output, too")
        }
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
  /// - Throws: `WriteFailure`.
  mutating func run() throws -> ExitStatus {
    if names != nil { learnFromFiles() }
    try RecordInput.each(
      options.files, writtenTo: target, until: { output.isDone },
      fault: { faults.file($0, $1) }, lines: { try readLines(of: &$0) })
    try output.finish()
    keep { rejects throws(WriteFailure) in try rejects.finish() }
    faults.finish()
    if let time = options.grouping.time, output.hasOpenGap {
      diagnostics.say("--by \(time.rawValue): a gap has too many empty \(time.rawValue)s to print")
    }
    if output.count == 0 { names?.finish() }
    tellNames()
    if options.output == .nothing && output.count > 0 { return .success }
    if faults.hasFault { return .failure }
    return output.count > 0 ? .success : .negative
  }

  private mutating func readLines(of input: inout RecordInput) throws {
    while !output.isDone, let line = try input.next(beforeBlocking: { _ in try flush() }) {
      if let prefilter, prefilter.find(line.bytes) == nil {
        input.skipLines(until: prefilter.find)
        continue
      }
      if names != nil { learn(line.bytes) }
      if try !take(line, of: input.path) {
        keep { rejects throws(WriteFailure) in
          try rejects.add(line.whole, terminated: line.isTerminated)
        }
      }
    }
  }

  /// Writes what is complete, before a read that may wait.
  private mutating func flush() throws(WriteFailure) {
    try output.flush()
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
    _ input: RecordInput.Line, of file: String
  ) throws(WriteFailure) -> Bool {
    let (line, number) = (input.bytes, input.number)
    let skipped = input.whole.count - line.count
    if options.isStrict, let reason = StrictFault.reason(line, skipped: skipped) {
      faults.line(file, number, reason)
      return false
    }
    let shape: RecordShape
    do throws(ScanFault) {
      shape = try record.read(line, rows: rows)
    } catch {
      if error == .empty { return true }
      faults.line(file, number, error.reason)
      return false
    }
    switch shape {
    case .action, .unmarked:
      let fields = record.fields
      let isSelected =
        options.isOfProfile(record.profile, scratch) && options.predicate.matches(fields, scratch)
      if isSelected != options.isInverted {
        try output.take(fields, record.source, line, record.object, record.profile)
      } else {
        names?.pass(fields)
      }
    case .list: return try expand(record.rows, file, number)
    case .own, .event, .stats, .voiceState:
      if options.profiles.isEmpty
        || options.isOfProfile(record.profile, scratch) != options.isInverted
      {
        try output.passOther(line)
      }
    }
    return true
  }

  /// Learns who has the names: of files beforehand, so that it does not matter where in
  /// them it is told. What cannot be read is said when it is read again.
  private mutating func learnFromFiles() {
    for path in options.files { NameScan.readLines(path) { learn($0) } }
  }

  private mutating func learn(_ line: UnsafeRawBufferPointer) {
    guard let news = names?.learn(line), !news.isEmpty else { return }
    for told in news {
      switch told.kind {
      case .user: options.predicate.users.append(IDTest(told.id))
      case .guild: options.predicate.guilds.append(IDTest(told.id))
      }
    }
    rows.predicate = options.predicate
    tellNames()
  }

  private mutating func tellNames() {
    guard options.output != .nothing, let notes = names?.takeNotes() else { return }
    for note in notes { diagnostics.error(note.what, note.reason) }
  }

  private mutating func expand(
    _ list: ScanValue, _ file: String, _ number: Int
  ) throws(WriteFailure) -> Bool {
    let profile = record.profile
    let isOfProfile = options.isOfProfile(profile, scratch)
    // Of another profile all rows are the same: not wanted, or with -v wanted.
    rows.takesAll = !isOfProfile && options.isInverted
    defer { rows.takesAll = false }
    let isGood = record.hasReadRows && !rows.takesAll || walk(list, file, number)
    if names != nil, var elements = try? ScanElements(list.bytes) {
      while (try? elements.next()) == true {
        if let fields = try? ActionFields(elements.value.bytes) { names?.pass(fields) }
      }
    }
    if !isOfProfile && !options.isInverted { return isGood }
    let none = ActionFields()
    for action in rows.oldestFirst() {
      if output.isDone { break }
      // Read once, a row has no fault.
      let fields = output.needsFields ? (try? ActionFields(action.bytes)) ?? none : none
      try output.take(
        fields, fields.id.isNull ? .bare : .row, action.bytes, action, profile, isRow: true)
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
}
