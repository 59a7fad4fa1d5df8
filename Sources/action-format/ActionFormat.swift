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
          $0.line(name, number, "\(faulty) of \(actions.count + faulty) actions are not objects")
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

  private func count(_ record: JSONValue, _ line: UnsafeRawBufferPointer) throws(WriteFailure) {
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

  private func show(_ action: Action, of profile: String?, _ number: Int) throws(WriteFailure) {
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

/// Everything an action holds, below its row: ids, the model's figures, the
/// words, the prompts with their sizes, and the rest of the metadata.
struct Expanded {
  /// Each with its label; a prompt, which stands below its own, has none.
  private var entries: [(label: String?, text: String)] = []
  private var shown: Set<String> = []

  static func lines(_ action: Action, _ layout: Layout) -> [Line] {
    var expanded = Expanded()
    expanded.facts(action, layout)
    expanded.words(action)
    expanded.prompts(action)
    expanded.rest(action)
    return expanded.lines(layout) + [Line()]
  }

  private mutating func facts(_ action: Action, _ layout: Layout) {
    field("id", action.id)
    field("time", action.createdAt)
    if let text = action.createdAt, let time = Timestamp(rfc3339: text) {
      field("local time", TimeText.absolute(time, zone: layout.zone))
    }
    field("level", action.level)
    field("guild", action.guild)
    field("channel", action.channel)
    field("message", action.message)
    field("user", action.user.map { id in layout.names[id].map { "\(id) (\($0))" } ?? id })
    for name in ["provider", "model"] {
      add(name, as: name, action)
      if !shown.contains(name) { field(name, action.metadata?["llm"]?[name]?.text) }
    }
    field("tokens", Usage(action).full)
    if action.metadata?["usage"]?.members.allSatisfy({ $0.name.hasSuffix("okens") }) == true {
      shown.insert("usage")
    }
    if let cost = action.cost, cost != 0 { field("cost", Amount.exactMoney(cost)) }
    add("stopReason", as: "stop reason", action)
    add("toolNames", as: "tools", action)
    if let milliseconds = action.milliseconds { field("duration", Amount.duration(milliseconds)) }
  }

  private mutating func words(_ action: Action) {
    field("content", action.content)
    add("transcript", as: "transcript", action)
    add("lastUserContent", as: "last user", action)
    guard let calls = action.metadata?["toolCalls"], calls.count > 0 else { return }
    shown.insert("toolCalls")
    for call in calls.elements {
      let name = call[either: "name", "toolName"]?.text ?? call.string ?? "?"
      let input = call[either: "input", "arguments", "args"].map { Brief.text($0, limit: .max) }
      field("tool call", name + (input.map { "(\($0))" } ?? ""))
    }
  }

  private mutating func prompts(_ action: Action) {
    for (name, label) in [("systemPrompt", "system prompt"), ("userPrompt", "user prompt")]
    where prompt(action.metadata?[name], label) {
      shown.insert(name)
    }
    guard let bundle = action.metadata?["replyPrompts"], bundle.isObject else { return }
    shown.insert("replyPrompts")
    _ = prompt(bundle["systemPrompt"], "system prompt")
    _ = prompt(bundle["initialUserPrompt"], "first prompt")
    for (index, value) in (bundle["followupUserPrompts"]?.elements ?? []).enumerated() {
      _ = prompt(value, "follow-up \(index + 1)")
    }
    let taken = ["systemPrompt", "initialUserPrompt", "followupUserPrompts"]
    for member in bundle.members where !taken.contains(member.name) {
      guard !member.value.isNull, member.value.count > 0 || member.value.text != nil else {
        continue
      }
      field("prompt " + member.name, Brief.text(member.value, limit: .max, unwraps: false))
    }
  }

  private mutating func prompt(_ value: JSONValue?, _ label: String) -> Bool {
    guard let text = value?.string else { return false }
    field(label, text.count == 1 ? "1 char" : "\(text.count) chars")
    if !text.isEmpty { entries.append((nil, text)) }
    return true
  }

  /// A line for each member that was not shown yet; those that are null share one.
  private mutating func rest(_ action: Action) {
    var unset: [String] = []
    if let metadata = action.metadata, !metadata.isObject {
      field("metadata", metadata.text ?? metadata.compact())
    }
    for member in action.metadata?.members ?? [] where !shown.contains(member.name) {
      if member.value.isNull {
        unset.append(member.name)
      } else {
        let isEmpty = member.value.count == 0 && member.value.text == nil
        field(
          member.name,
          isEmpty ? member.value.compact() : Brief.text(member.value, limit: .max, unwraps: false))
      }
    }
    for member in action.object.members where !Action.knownMembers.contains(member.name) {
      field(member.name, member.value.text ?? member.value.compact())
    }
    if !unset.isEmpty { field("null", unset.joined(separator: ", ")) }
  }

  /// Shows a member of the metadata under another name.
  private mutating func add(_ name: String, as label: String, _ action: Action) {
    guard let text = action.metadata?[name]?.text else { return }
    shown.insert(name)
    field(label, text)
  }

  private mutating func field(_ label: String, _ text: String?) {
    if let text { entries.append((Plain.line(label, limit: 200), text)) }
  }

  private func lines(_ layout: Layout) -> [Line] {
    let widest = entries.compactMap(\.label).map(CellWidth.of).max() ?? 0
    let column = min(widest, layout.width.map { max($0 / 3, 12) } ?? 24, 24)
    let indent = Fit.spaces(4)
    return entries.flatMap { label, text in
      let start = label == nil ? 6 : column + 6
      let parts = Paragraph.wrap(text, to: layout.width.map { max($0 - start, 12) })
      return parts.enumerated().map { index, part in
        var line = Line(indent)
        if let label {
          if index == 0 { line.add(Fit.truncate(label, to: column), .dim) }
          line.fill(to: start)
        } else {
          line.add("│ ", .dim)
        }
        line.add(part)
        return line.trimmed
      }
    }
  }
}
