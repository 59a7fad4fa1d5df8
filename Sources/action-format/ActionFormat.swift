import CLibc
import Core
import Records
import Screen

@main
enum ActionFormat {
  static func main() {
    let options = FormatOptions.table.parseOrExit(FormatOptions())
    let diagnostics = Diagnostics(program: "action-format")
    let feed = Feed(options, diagnostics)
    do {
      try feed.run()
    } catch let failure as WriteFailure {
      feed.endIfSignalled()
      diagnostics.fail(writing: failure)
    } catch {
      diagnostics.fail("\(error)")
    }
    Process.exit(feed.hasFaults ? .failure : .success)
  }
}

/// The loop of the command: records in, lines out.
final class Feed {
  private let options: FormatOptions
  private let screen: FeedScreen
  private let signals: Signals?
  private var ending: Int32?
  private var stats: (value: ActionStats, of: String?, at: Timestamp)?
  private var names = Names()
  private var scan = RecordScan()
  private var profiles = ProfileColumn()
  /// The counts that came last; their table is known when all are there.
  private var counts: CountTable?
  private var left: Int
  private var faults: FaultLog
  /// Whether anything could not be read.
  var hasFaults: Bool { faults.hasFault }

  /// - Parameters:
  ///   - options: what the user asked for.
  ///   - diagnostics: where faults are told.
  init(_ options: FormatOptions, _ diagnostics: Diagnostics) {
    self.options = options
    faults = FaultLog(diagnostics)
    left = options.count ?? .max
    // Only a line that is drawn in place must be erased before the end.
    let signals = options.showsStats && isatty(1) == 1 ? Signals() : nil
    self.signals = signals
    let taken = Box()
    screen = FeedScreen(options) {
      if taken.signal == nil { taken.signal = signals?.take().ending }
      return taken.signal != nil
    }
    interrupted = taken
  }

  /// A signal that was seen while a write was waiting.
  private final class Box { var signal: Int32? }
  private let interrupted: Box

  /// Reads every file to its end, or until enough actions were shown.
  ///
  /// - Throws: `WriteFailure`.
  func run() throws {
    try RecordInput.each(
      options.files, writtenTo: FileIdentity(descriptor: 1), until: { left <= 0 },
      fault: { file, reason in try fault { $0.file(file, reason) } },
      lines: { try readLines(of: &$0) })
    try endCounts()
    try screen.finish()
    faults.finish()
  }

  /// Ends the process as a signal asks that came while a write was waiting.
  func endIfSignalled() {
    if let signal = ending ?? interrupted.signal { Process.die(by: signal) }
  }

  private func readLines(of input: inout RecordInput) throws {
    while left > 0, let line = try input.next(beforeBlocking: { try pause($0) }) {
      _ = try heed()
      try show(line.bytes, input.path, line.number)
    }
  }

  private func show(_ line: UnsafeRawBufferPointer, _ name: String, _ number: Int) throws {
    guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else { return }
    let value: JSONValue
    do throws(JSONFault) {
      value = try JSONValue.parse(line)
    } catch {
      try fault { $0.line(name, number, error.reason) }
      return
    }
    names.learn(from: value)
    let record = FeedRecord(value, line: line, &scan)
    if case .lifecycle("count", _) = record { return try count(value) }
    try endCounts()
    let profile = value["profile"]?.string
    switch record {
    case .actions(let actions, let stats, let faulty):
      if let stats { try take(stats, of: profile) }
      for action in actions where left > 0 {
        try show(action, of: value.isObject ? profile : action.object["profile"]?.string)
      }
      if faulty > 0 {
        try fault {
          $0.line(
            name, number,
            "\(faulty) of \(actions.count + faulty) actions are not objects")
        }
      }
    case .stats(let stats): try take(stats, of: profile)
    case .lifecycle(let type, let record):
      let layout = layout
      if let notice = Notice.line(type: type, record, layout) {
        try screen.write(profiles.add(profile, to: notice), width: layout.width)
      }
    case .other(let reason):
      if let reason { try fault { $0.line(name, number, reason) } }
    case .unreadable: try fault { $0.line(name, number, "not an object") }
    }
  }

  private func count(_ record: JSONValue) throws(WriteFailure) {
    if counts?.add(record) == true { return }
    try endCounts()
    var table = CountTable(record)
    if table.add(record) { counts = table }
  }

  private func endCounts() throws(WriteFailure) {
    guard let table = counts else { return }
    counts = nil
    try screen.write(table)
  }

  private var layout: Layout {
    Layout(width: screen.width, isAbsolute: options.isAbsolute, now: .now(), names: names)
  }

  private func show(_ action: Action, of profile: String?) throws(WriteFailure) {
    names.learn(from: action)
    let layout = layout
    let row = profiles.add(profile, to: Row.line(action, layout))
    try screen.write(row, width: layout.width)
    if options.isExpanded {
      for line in Expanded.lines(action, layout) { try screen.write(line, width: layout.width) }
    }
    left -= 1
  }

  private func take(_ stats: ActionStats, of profile: String?) throws(WriteFailure) {
    guard options.showsStats else { return }
    self.stats = (stats, profile, .now())
    try drawStats()
  }

  private func drawStats() throws(WriteFailure) {
    guard let stats else { return }
    let now = Timestamp.now()
    let age = screen.drawsInPlace ? now.seconds - stats.at.seconds : 0
    let line = StatsLine.line(stats.value, now: now, age: age)
    try screen.setBar(profiles.add(stats.of, to: line))
  }

  /// Tells a fault below the rows that came before it.
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
      let isResized = try heed()
      try drawStats()
      if isResized { try screen.redraw() } else { try screen.flush() }
    }
  }

  /// Ends the process when a signal asks for it, with the line of stats erased.
  ///
  /// - Returns: whether the terminal changed its size.
  private func heed() throws(WriteFailure) -> Bool {
    guard let signals else { return false }
    let (signal, isResized) = signals.take()
    if let signal {
      ending = signal
      try screen.finish()
      Process.die(by: signal)
    }
    return isResized
  }
}
