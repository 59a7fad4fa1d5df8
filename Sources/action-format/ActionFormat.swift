import CLibc
import Core
import Records
import Screen

/// action-format(1): actions as a person reads them.
public func actionFormatMain() {
  FormatOptions.table.run(FormatOptions()) { options, diagnostics in
    let feed = Feed(options, diagnostics)
    try feed.run()
    if feed.hasFaults { return .failure }
    if !feed.isMistaken { return .success }
    diagnostics.fail("no counts in the input: pipe it through action-filter --by", .negative)
  }
}

final class Feed {
  private let options: FormatOptions
  private let screen: FeedScreen
  private let signals: TerminalSignals?
  private var ending: Int32?
  private var stats: (value: ActionStats, of: String?, at: Timestamp)?
  private var told: Line?
  private var shown: [String: ShownCounts] = [:]
  private var names = Names()
  private var scan = RecordScan()
  private var profiles = ProfileColumn()
  /// Of the rows so far; nil before the first that has a time.
  private var newest: Timestamp?
  /// The counts that came last; their table is known when all are there.
  private var counts: CountTable?
  /// The names of TSV's columns, as they were written last.
  private var headings: [String] = []
  private var hasCounts = false
  private var hasOthers = false
  private var left: Int
  private var faults: FaultLog
  var hasFaults: Bool { faults.hasFault }
  var isMistaken: Bool { hasOthers && !hasCounts }

  init(_ options: FormatOptions, _ diagnostics: Diagnostics) {
    self.options = options
    faults = FaultLog(diagnostics)
    left = options.count ?? .max
    // Only a line that is drawn in place must be erased before the end.
    let drawsStats = options.showsStats && isatty(1) == 1
    let signals = drawsStats ? TerminalSignals(window: true, stops: false) : nil
    self.signals = signals
    screen = FeedScreen(options) { signals?.isEnding == true }
  }

  func run() throws {
    do { try read() } catch let failure as WriteFailure {
      if let signal = ending ?? signals?.take().ending { Process.die(by: signal) }
      throw failure
    }
  }

  private func read() throws {
    try RecordInput.each(
      options.files, writtenTo: FileIdentity(descriptor: 1), until: { left <= 0 },
      fault: { file, reason in try fault { $0.file(file, reason) } },
      lines: { try readLines(of: &$0) })
    try endCounts()
    try drawStats()
    try screen.finish()
    faults.finish()
  }

  private func readLines(of input: inout RecordInput) throws {
    while left > 0, let line = try input.next(beforeBlocking: { try pause($0) }) {
      _ = try handleSignals()
      try show(line.bytes, input.path, line.number)
    }
  }

  private func show(_ line: UnsafeRawBufferPointer, _ name: String, _ number: Int) throws {
    guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else { return }
    let value: JSONValue
    do throws(Failure) {
      value = try JSONValue.parse(line)
    } catch {
      guard let torn = TornLine(line) else {
        return try fault { $0.line(name, number, error.reason) }
      }
      for record in torn.records where left > 0 { try show(record, name, number) }
      if let torn = torn.fault { try fault { $0.line(name, number, torn.reason) } }
      return
    }
    names.learn(from: value)
    let record = FeedRecord(value, line: line, &scan)
    if case .lifecycle("count", _) = record {
      hasCounts = true
      return try count(value, line)
    }
    if options.form != .text {
      hasOthers = true
      return
    }
    try endCounts()
    let profile = value["profile"]?.string ?? options.name
    switch record {
    case .actions(let actions, let stats, let faulty):
      if let stats { try receive(stats, of: profile) }
      for action in actions { see(action.createdAt) }
      for action in actions where left > 0 {
        try show(
          action, of: value.isObject ? profile : action.object["profile"]?.string ?? options.name,
          number)
      }
      if faulty > 0 {
        try fault {
          $0.line(
            name, number,
            "\(faulty) of \(actions.count + faulty) actions are not objects")
        }
      }
    case .stats(let stats): try receive(stats, of: profile)
    case .lifecycle(let type, let record):
      see(record["time"]?.string)
      let layout = layout
      if let notice = layout.notice(type, record) {
        try screen.write(
          profiles.add(profile, to: notice), width: layout.width,
          key: RowKey.columns(options.keys, of: nil, profile: profile, line: number))
      }
    case .other(let reason):
      if let reason { try fault { $0.line(name, number, reason) } }
    case .unreadable: try fault { $0.line(name, number, "not an object") }
    }
  }

  private func count(
    _ record: JSONValue, _ line: UnsafeRawBufferPointer
  ) throws(WriteFailure) {
    if counts?.add(record, names) != true {
      try endCounts()
      var table = CountTable(record)
      guard table.add(record, names) else { return }
      counts = table
    }
    guard options.form == .tsv, let fields = counts?.fields else { return }
    if fields != headings {
      headings = fields
      try screen.write(text: fields.map(RowText.escape).joined(separator: "\t"))
    }
    try screen.write(text: CountTable.tsv(Array(line), fields, isLocal: options.isAbsolute))
  }

  private func endCounts() throws(WriteFailure) {
    guard let table = counts else { return }
    counts = nil
    switch options.form {
    case .text: for line in screen.lines(of: table) { try screen.write(text: line) }
    case .spark: try screen.write(table.spark(width: screen.width), width: screen.width)
    case .tsv: break
    }
  }

  private var layout: Layout {
    let now = Timestamp.now()
    return Layout(
      width: screen.width, isAbsolute: options.isAbsolute || isOfThePast(now),
      tellsVoice: screen.isTerminal, now: now, names: names)
  }

  /// Of a day that was recorded, an age says little. What follows an agent shows ages again as
  /// soon as something happens.
  private func isOfThePast(_ now: Timestamp) -> Bool {
    newest.map { now.seconds - $0.seconds > 86_400 } ?? false
  }

  private func see(_ time: String?) {
    guard !options.isAbsolute, let time = time.flatMap({ Timestamp(rfc3339: $0) }) else { return }
    if newest.map({ $0 < time }) ?? true { newest = time }
  }

  private func show(
    _ action: Action, of profile: String?, _ number: Int
  ) throws(WriteFailure) {
    names.learn(from: action)
    if options.showsStats { shown[profile ?? "", default: ShownCounts()].add(action.kind) }
    let layout = layout
    let key = RowKey.columns(options.keys, of: action, profile: profile, line: number)
    let row = profiles.add(profile, to: layout.row(action))
    try screen.write(row, width: layout.width, key: key)
    if options.isExpanded {
      for line in Expanded.lines(action, layout) {
        try screen.write(line, width: layout.width, key: key)
      }
    }
    left -= 1
  }

  private func receive(_ stats: ActionStats, of profile: String?) throws(WriteFailure) {
    guard options.showsStats else { return }
    self.stats = (stats, profile, .now())
  }

  /// In place the line follows every row; elsewhere it is written anew when the server
  /// says something new.
  private func drawStats() throws(WriteFailure) {
    guard let stats else { return }
    let now = Timestamp.now()
    let age = screen.drawsInPlace ? now.seconds - stats.at.seconds : 0
    let server = profiles.add(stats.of, to: stats.value.line(now: now, age: age))
    if !screen.drawsInPlace && server == told { return }
    told = server
    try screen.setBar(server.joined(shown[stats.of ?? ""]?.line ?? Line()))
  }

  private func fault(_ tell: (inout FaultLog) -> Void) throws(WriteFailure) {
    try screen.settle()
    tell(&faults)
  }

  /// Writes what is complete; with a line of stats, keeps it right until there
  /// is something to read.
  private func pause(_ descriptor: Int32) throws {
    try drawStats()
    try screen.flush()
    guard let signals, screen.drawsInPlace else { return }
    while !signals.wait(for: descriptor, milliseconds: 1000) {
      let isResized = try handleSignals()
      try drawStats()
      if isResized { try screen.redraw() } else { try screen.flush() }
    }
  }

  /// Ends the process when a signal asks for it, with the line of stats erased. Returns whether the
  /// terminal changed its size.
  private func handleSignals() throws(WriteFailure) -> Bool {
    guard let signals else { return false }
    let taken = signals.take()
    if let signal = taken.ending {
      ending = signal
      try screen.finish()
      Process.die(by: signal)
    }
    return taken.isResized
  }
}
