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
  var names: WantedNames?
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
      guard options.rejects == nil, let torn = TornLine(line) else { return isBad(error.reason) }
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

struct FilterOutput {
  private let options: FilterOptions
  private let writer: RecordWriter
  private let scratch = ScanScratch()
  private var window = ActionWindow()
  /// Told, once for each profile, that the ids of its actions began anew.
  var onReuse: ((String) -> Void)?
  private var reused = (count: 0, profiles: Set<String>())
  private var tally: Tally?
  /// The hours, of `--times`.
  private var hours: Tally?
  private var parts: PieceParts?
  private(set) var count = 0
  private(set) var others = 0

  init(_ options: FilterOptions, to writer: RecordWriter, isPiece: Bool = false) {
    (self.options, self.writer) = (options, writer)
    if isPiece && options.output == .original { parts = PieceParts() }
    if options.output == .groups { tally = Tally(options.grouping) }
    if options.times != nil, !isPiece {
      hours = Tally(Grouping(keys: [.hour], isUsage: options.grouping.isUsage))
    }
  }

  /// Whether nothing that follows can change the answer.
  var isDone: Bool { count >= options.maxCount }

  var needsFields: Bool { options.isUnique || options.output.usesMembers }

  /// Takes an action that is what is looked for.
  @inline(__always)
  mutating func add(
    _ fields: ActionFields, _ source: ActionWindow.Source, _ bytes: UnsafeRawBufferPointer,
    _ action: ScanValue, _ profile: ScanValue, isRow: Bool = false
  ) throws(WriteFailure) {
    if options.isUnique {
      if !window.isNew(fields, source, profile: profile, scratch) { return }
      if window.reused > reused.count { tellReuse(profile) }
    }
    count += 1
    switch options.output {
    case .original where isRow && !profile.isAbsent:
      try CanonicalRow.write(named: profile, action, to: writer)
    case .original where isRow: try writer.writeLine(bytes)
    case .original: try write(bytes)
    case .fields(let projection): try projection.write(fields, action, profile, to: writer)
    case .canonical: try CanonicalRow.write(fields, action, profile, to: writer)
    case .groups:
      tally?.add(fields, profile, scratch)
      hours?.add(fields, profile, scratch)
    case .count, .nothing: break
    }
  }

  private mutating func tellReuse(_ profile: ScanValue) {
    reused.count = window.reused
    let name = profile.string ?? ""
    if reused.profiles.insert(name).inserted { onReuse?(name) }
  }

  /// Takes actions that were not read, and their lines, if these are printed.
  mutating func add(_ actions: Int, _ lines: UnsafeRawBufferPointer) throws(WriteFailure) {
    count += actions
    try writer.write(lines)
  }

  /// Whether what is taken is only a part of its line, so that no LF stands behind it.
  var isTorn = false

  var hasOpenGap: Bool { tally?.hasOpenGap ?? false }

  mutating func passOther(_ line: UnsafeRawBufferPointer) throws(WriteFailure) {
    guard options.passesOthers else { return }
    others += 1
    if options.printsRecords { try write(line) }
  }

  @inline(__always)
  private mutating func write(_ line: UnsafeRawBufferPointer) throws(WriteFailure) {
    if parts == nil || isTorn {
      try writer.writeLine(line)
    } else {
      parts?.add(line, behind: writer)
    }
  }

  func isEnough(_ more: Int) -> Bool { more > 0 && more >= options.maxCount - count }

  mutating func move(to result: PieceResult) {
    parts?.close(writer)
    swap(&parts, &result.parts)
    if result.parts != nil && parts == nil { parts = PieceParts() }
    writer.exchange(with: result.output)
    swap(&tally, &result.tally)
    if options.output == .groups && tally == nil { tally = Tally(options.grouping) }
    (result.count, count, others) = (count, 0, 0)
  }

  mutating func add(_ result: PieceResult) throws(WriteFailure) {
    count += result.count
    if let parts = result.parts {
      try parts.write(result.output, to: writer)
    } else {
      try writer.write(result.output.collected)
    }
    if let part = result.tally { tally?.add(part) }
  }

  func flush() throws(WriteFailure) { try writer.flush() }

  mutating func finish() throws(WriteFailure) {
    if options.output == .count { try writer.write("\(count)\n") }
    let writer = writer
    try Self.write(&tally, to: writer)
    try writer.flush()
  }

  /// Writes the counts of the hours, of `--times`.
  mutating func writeHours(to writer: RecordWriter) throws(WriteFailure) {
    try Self.write(&hours, to: writer)
  }

  private static func write(_ tally: inout Tally?, to writer: RecordWriter) throws(WriteFailure) {
    try tally?.forEachRecord { (record) throws(WriteFailure) in
      try writer.write(record)
      try writer.newline()
    }
  }

  /// What was counted, and by the hour, as it would be written.
  mutating func counts() throws(WriteFailure) -> (groups: [UInt8], hours: [UInt8]) {
    func records(_ tally: inout Tally?) throws(WriteFailure) -> [UInt8] {
      var text: [UInt8] = []
      try tally?.forEachRecord { (record) throws(WriteFailure) in text += record.utf8 + [10] }
      return text
    }
    return (try records(&tally), try records(&hours))
  }

  /// Writes what was counted at another time.
  func finish(with counts: [UInt8]) throws(WriteFailure) {
    try writer.write(counts)
    try writer.flush()
  }
}

/// An action in the spelling of the dashboard's rows: ten members in their
/// order, null where unknown, a cost of 0; further members behind them. Every
/// value keeps its bytes.
enum CanonicalRow {
  static func write(
    _ fields: ActionFields, _ action: ScanValue, _ profile: ScanValue, to writer: RecordWriter
  ) throws(WriteFailure) {
    func put(
      _ name: StaticString, _ value: ScanValue, unknown: StaticString = "null"
    ) throws(WriteFailure) {
      try writer.put(name)
      if value.isNull { try writer.put(unknown) } else { try writer.write(value.bytes) }
    }
    try put(#"{"id":"#, fields.id)
    try put(#","created_at":"#, fields.createdAt)
    try put(#","guild_id":"#, fields.guild)
    try put(#","channel_id":"#, fields.channel)
    try put(#","message_id":"#, fields.message)
    try put(#","user_id":"#, fields.user)
    try put(#","kind":"#, fields.kind)
    try put(#","content":"#, fields.content)
    try put(#","metadata":"#, fields.metadata)
    try put(#","usd_cost":"#, fields.cost, unknown: "0")
    var members = try? ScanMembers(action.bytes)
    while (try? members?.next()) == true {
      guard let key = members?.key, let value = members?.value, !ActionFields.isMember(key) else {
        continue
      }
      if !profile.isAbsent, RecordScan.isProfile(key) { continue }
      try writer.put(",\"")
      try writer.write(key.bytes)
      try writer.put("\":")
      try writer.write(value.bytes)
    }
    if !profile.isAbsent { try put(#","profile":"#, profile) }
    try writer.put("}\n")
  }

  /// Writes a row of a list with its own bytes, and behind them whose it is.
  static func write(
    named profile: ScanValue, _ action: ScanValue, to writer: RecordWriter
  ) throws(WriteFailure) {
    try writer.write(UnsafeRawBufferPointer(rebasing: action.bytes.dropLast()))
    var members = try? ScanMembers(action.bytes)
    if (try? members?.next()) == true { try writer.put(",") }
    try writer.put(#""profile":"#)
    try writer.write(profile.bytes)
    try writer.put("}\n")
  }
}

/// The rows of one list that are selected, in the order in which the actions
/// happened.
///
/// Servers send lists newest first. Rows are ordered by created_at, and in one
/// millisecond by id; where a row has no time it follows its neighbour, and
/// where rows have no ids the list is read backwards.
final class RowList: ActionRowReader {
  private struct Entry {
    var time: Timestamp
    let position: UInt32
    let action: ScanValue
  }

  var takesAll = false
  var predicate: ActionPredicate
  private let isInverted: Bool
  private let scratch = ScanScratch()
  private var entries: [Entry] = []
  private var count: UInt32 = 0
  private var haveIDs = true
  /// From here on the entries wait for the time of a row behind them.
  private var waiting = 0

  init(_ options: FilterOptions) {
    predicate = options.predicate
    isInverted = options.isInverted
  }

  func begin() {
    entries.removeAll(keepingCapacity: entries.count < 1000)
    (count, haveIDs, waiting) = (0, true, 0)
  }

  func add(_ fields: ActionFields, _ action: ScanValue) {
    defer { count += 1 }
    if haveIDs { haveIDs = ScanNumber(fields.id) != nil }
    let isSelected = takesAll || predicate.matches(fields, scratch) != isInverted
    guard isSelected || waiting < entries.count else { return }
    let time = fields.time(scratch)
    if isSelected {
      entries.append(Entry(time: Timestamp(seconds: .min), position: count, action: action))
    }
    guard let time else { return }
    for index in waiting..<entries.count { entries[index].time = time }
    waiting = entries.count
  }

  func oldestFirst() -> [ScanValue] {
    entries.sort { a, b in
      if a.time != b.time { return a.time < b.time }
      if haveIDs, let order = Self.order(a.action, b.action), order != 0 { return order < 0 }
      return a.position > b.position
    }
    return entries.map(\.action)
  }

  private static func order(_ a: ScanValue, _ b: ScanValue) -> Int? {
    guard let a = try? ActionFields(a.bytes), let b = try? ActionFields(b.bytes),
      let one = ScanNumber(a.id), let other = ScanNumber(b.id)
    else { return nil }
    return one.compare(other)
  }
}

/// The names that `-U` and `-g` were given, and the ids that records tell to have them.
struct WantedNames {
  private struct Wanted {
    let kind: NamedKind
    let text: String
    let key: NameKey
    var ids: [String] = []
  }

  private static let most = 4096

  private var wanted: [Wanted] = []
  private var scan = NameScan()
  private let scratch = ScanScratch()
  private let mark = LiteralSearch([.init(bytes: NameScan.mark)])
  private var passed: [NamedKind: Set<String>] = [:]
  private(set) var notes: [(what: String, reason: String)] = []

  /// Nil when all of that are ids.
  init?(_ names: [(kind: NamedKind, text: String)]) {
    for (kind, text) in names where !NameKey.isID(text) {
      wanted.append(Wanted(kind: kind, text: text, key: NameKey(text)))
    }
    if wanted.isEmpty { return nil }
  }

  mutating func learn(_ line: UnsafeRawBufferPointer) -> [ToldName] {
    if mark.find(line) == nil { return [] }
    var news: [ToldName] = []
    for told in scan.names(in: line) {
      for index in wanted.indices where wanted[index].kind == told.kind {
        guard wanted[index].key == NameKey(told.name), wanted[index].text != told.id,
          !wanted[index].ids.contains(told.id)
        else { continue }
        wanted[index].ids.append(told.id)
        news.append(told)
        tell(wanted[index], told)
      }
    }
    return news
  }

  private mutating func tell(_ wanted: Wanted, _ told: ToldName) {
    let what = "\(wanted.kind.rawValue) \(wanted.text)"
    if wanted.ids.count > 1 {
      notes.append((what, "several have this name: \(wanted.ids.joined(separator: ", "))"))
    }
    if passed[wanted.kind]?.contains(told.id) == true {
      notes.append(
        (what, "is \(told.id), which was told late; earlier actions of it were passed over"))
    }
  }

  /// Remembers whose action was left out, for it may be told later that it is wanted.
  mutating func pass(_ fields: ActionFields) {
    for (kind, id) in [(NamedKind.user, fields.user), (.guild, fields.guild)] {
      guard wanted.contains(where: { $0.kind == kind }), let id = id.string,
        passed[kind, default: []].count < Self.most
      else { continue }
      passed[kind, default: []].insert(id)
    }
  }

  mutating func finish() {
    for wanted in wanted where wanted.ids.isEmpty {
      notes.append(
        ("\(wanted.kind.rawValue) \(wanted.text)", "no such id, and no record tells the name"))
    }
  }

  mutating func takeNotes() -> [(what: String, reason: String)] {
    defer { notes = [] }
    return notes
  }
}
