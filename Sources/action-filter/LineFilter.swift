import Core
import Records

/// Reads one line after the other, selects what is in them, and hands it to the output.
///
/// It knows no file: whoever has the lines says where their faults are. Each thread has
/// one of its own.
struct LineFilter {
  private(set) var options: FilterOptions
  var output: FilterOutput
  private(set) var faults = LineFaults()
  /// What a line must hold to be read at all.
  let prefilter: LiteralSearch?
  /// Nil where only ids are named.
  private(set) var names: WantedNames?
  private let scratch = ScanScratch()
  private var record = RecordScan()
  private let rows: RowList

  init(_ options: FilterOptions, to writer: RecordWriter, isPiece: Bool = false) {
    self.options = options
    output = FilterOutput(options, to: writer, isPiece: isPiece)
    prefilter = Prefilter.search(options)
    names = WantedNames(options.names)
    rows = RowList(options)
  }

  /// Reads one line and treats what is in it. Returns whether all of it was good; if not, `faults`
  /// say what is bad.
  mutating func handle(_ input: RecordInput.Line) throws(WriteFailure) -> Bool {
    let line = input.bytes
    if options.isStrict,
      let reason = strictFault(line, skipped: input.whole.count - line.count)
    {
      return isBad(reason)
    }
    let shape: RecordShape
    do throws(ScanFault) {
      shape = try record.read(line, rows: rows)
    } catch {
      if error == .empty { return true }
      // Who collects bad lines gets them whole.
      guard options.rejects == nil, let torn = TornLine(line) else {
        return isBad(error.reason)
      }
      return try handle(torn, number: input.number)
    }
    switch shape {
    case .action, .unmarked:
      let fields = record.fields
      let isSelected =
        options.isOfProfile(record.profile, scratch) && options.predicate.matches(fields, scratch)
      if isSelected != options.isInverted {
        try output.add(fields, record.source, line, record.object, record.profile)
      } else {
        names?.pass(fields)
      }
    case .list: return try expand(record.rows)
    case .own, .event, .stats, .voiceState:
      if options.profiles.isEmpty
        || options.isOfProfile(record.profile, scratch) != options.isInverted
      {
        try output.passOther(line)
      }
    }
    return true
  }

  /// Treats the records of a line that is not one.
  private mutating func handle(_ torn: TornLine, number: Int) throws(WriteFailure) -> Bool {
    var all = LineFaults()
    output.isTorn = true
    defer { output.isTorn = false }
    for record in torn.records where !output.isDone {
      let line = RecordInput.Line(record, number: number, isTerminated: true, isFirst: false)
      if try !handle(line) { for reason in faults.reasons { all.add(reason) } }
    }
    if let fault = torn.fault { all.add(fault.reason) }
    faults = all
    return all.count == 0
  }

  private mutating func isBad(_ reason: String) -> Bool {
    faults = LineFaults()
    faults.add(reason)
    return false
  }

  private mutating func expand(_ list: ScanValue) throws(WriteFailure) -> Bool {
    let profile = record.profile
    let isOfProfile = options.isOfProfile(profile, scratch)
    // Of another profile all rows are the same: not wanted, or with -v wanted.
    rows.takesAll = !isOfProfile && options.isInverted
    defer { rows.takesAll = false }
    let isGood = record.hasReadRows && !rows.takesAll || walk(list)
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
      try output.add(
        fields, fields.id.isNull ? .bare : .row, action.bytes, action, profile, isRow: true)
    }
    return isGood
  }

  private mutating func walk(_ list: ScanValue) -> Bool {
    faults = LineFaults()
    rows.begin()
    do throws(ScanFault) {
      var elements = try ScanElements(list.bytes)
      var index = 0
      while try elements.next() {
        do throws(ScanFault) {
          rows.add(try ActionFields(elements.value.bytes), elements.value)
        } catch {
          faults.add("action \(index): \(error.reason)")
        }
        index += 1
      }
    } catch {
      faults.add("actions: \(error.reason)")
    }
    return faults.count == 0
  }

  // MARK: - Names

  /// Learns from a line who has the names that are wanted. Returns whether there may be something
  /// to say to the user.
  mutating func learn(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let news = names?.learn(line), !news.isEmpty else { return false }
    for told in news {
      switch told.kind {
      case .user: options.predicate.indexed.users.append(IDTest(told.id))
      case .guild: options.predicate.indexed.guilds.append(IDTest(told.id))
      }
    }
    rows.predicate = options.predicate
    return true
  }

  mutating func finishNames() { names?.finish() }

  mutating func takeNotes() -> [(what: String, reason: String)] { names?.takeNotes() ?? [] }
}

struct LineFaults {
  /// Why, of the first of them: as many as are told the user.
  private(set) var reasons: [String] = []
  private(set) var count = 0

  mutating func add(_ reason: String) {
    count += 1
    if count <= FaultLog.limit { reasons.append(reason) }
  }
}
