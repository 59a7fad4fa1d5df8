import CLibc
import Core
import Records
import Screen

/// turn-format(1): turns as a person reads them.
public func turnFormatMain() {
  TurnFormatOptions.table.run(TurnFormatOptions()) { options, diagnostics in
    let feed = TurnFeed(options, diagnostics)
    try feed.run()
    if feed.hasFaults { return .failure }
    if feed.isEmpty, isatty(1) == 1 {
      diagnostics.tellPerson("no turns: turn-fold makes them of what agent-tail prints")
    }
    if !feed.isMistaken { return .success }
    diagnostics.fail("no turns in the input: pipe it through turn-fold", .negative)
  }
}

final class TurnFeed {
  private let options: TurnFormatOptions
  private let output: CardOutput
  private let signals: TerminalSignals?
  private var book = StoryBook()
  private var faults: FaultLog
  private var pages: StoryPages
  private var questions = OpenQuestions()
  private var left: Int
  private var hasTurns = false
  private var hasOthers = false
  private var ending: Int32?
  private var nextDraw = -Double.infinity

  /// No more often is the screen drawn, seconds.
  private static let frame = 1.0 / 30

  var hasFaults: Bool { faults.hasFault }
  var isMistaken: Bool { hasOthers && !hasTurns }
  var isEmpty: Bool { !hasOthers && !hasTurns }

  init(_ options: TurnFormatOptions, _ diagnostics: Diagnostics) {
    self.options = options
    faults = FaultLog(diagnostics)
    pages = StoryPages(options.form)
    left = options.count ?? .max
    // Only what is drawn in place has to be put in order before the end.
    let draws = options.form != .dot && Terminal.canDraw(1)
    let signals = draws ? TerminalSignals(window: true) : nil
    self.signals = signals
    output = CardOutput(options) { signals?.isEnding == true }
  }

  func run() throws {
    do { try read() } catch let failure as WriteFailure {
      if let signal = ending ?? signals?.take().ending { Process.die(by: signal) }
      throw failure
    }
  }

  private func read() throws {
    if options.form == .dot { try output.write(DotGraph.start.map { Line($0) }) }
    try RecordInput.each(
      options.files, writtenTo: FileIdentity(descriptor: 1), until: { left <= 0 },
      fault: { file, reason in try fault { $0.file(file, reason) } },
      lines: { try readLines(of: &$0) })
    try finish()
    faults.finish()
  }

  private func readLines(of input: inout RecordInput) throws {
    while left > 0, let line = try input.next(beforeBlocking: { try pause($0) }) {
      try handleSignals()
      try receive(line.bytes, input.path, line.number)
    }
  }

  private func receive(_ line: UnsafeRawBufferPointer, _ name: String, _ number: Int) throws {
    guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else { return }
    let record: ConversationRecord?
    do throws(RecordFields.Fault) {
      record = try ConversationRecord(reading: line)
    } catch {
      if error.isNews { return }
      guard let torn = TornLine(line) else {
        return try fault { $0.line(name, number, error.reason) }
      }
      for record in torn.records { try receive(record, name, number) }
      if let torn = torn.fault { try fault { $0.line(name, number, torn.reason) } }
      return
    }
    guard let record else {
      hasOthers = true
      return
    }
    hasTurns = true
    if asks { questions.add(record) }
    try show(book.add(record))
  }

  private func show(_ stories: [Story]) throws(WriteFailure) {
    for story in stories where left > 0 {
      let text = StoryText(story, book.thread(of: story), layout(isLive: false))
      try output.write(pages.lines(text))
      if story.key.kind == .turn { left -= 1 }
    }
  }

  private var asks: Bool { signals == nil && options.form != .dot }

  private func layout(isLive: Bool) -> CardLayout {
    var layout = CardLayout(width: output.width, isExpanded: options.isExpanded)
    layout.tail = options.isExpanded ? .max : options.tail ?? layout.tail
    if isLive { (layout.now, layout.rows) = (.now(), output.rows) }
    return layout
  }

  private func fault(_ tell: (inout FaultLog) -> Void) throws(WriteFailure) {
    try output.settle()
    tell(&faults)
  }

  private func finish() throws(WriteFailure) {
    if left > 0 { try show(book.finish()) }
    if options.form == .dot { try output.write(DotGraph.end.map { Line($0) }) }
    try output.settle()
  }

  // MARK: - The terminal

  /// On a terminal, keeps what goes on right until there is something to read.
  private func pause(_ descriptor: Int32) throws(WriteFailure) {
    try show(book.settle())
    guard let signals, left > 0 else {
      try output.settle()
      if questions.isReadable(descriptor) { return }
      for key in questions.due() {
        guard let (approval, story) = book.question(key) else { continue }
        let layout = self.layout(isLive: false)
        try output.write(pages.lines(asking: approval, book.thread(of: story), layout))
      }
      return try output.settle()
    }
    while true {
      let early = nextDraw - Clock.monotonic
      if early > 0, signals.wait(for: descriptor, milliseconds: Int32(early * 1000) + 1) { return }
      try handleSignals()
      if nextDraw > Clock.monotonic { continue }
      try draw()
      if signals.wait(for: descriptor, milliseconds: book.isEmpty ? -1 : 1000) { return }
      try handleSignals()
    }
  }

  private func draw() throws(WriteFailure) {
    let start = Clock.monotonic
    // What takes long is drawn less often: most of the time is for reading.
    defer { nextDraw = Clock.monotonic + max(Self.frame, 3 * (Clock.monotonic - start)) }
    let layout = self.layout(isLive: true)
    let open = book.open
    // Of more than the window has rows, one line each is seen of the last.
    let hidden = max(0, open.count - output.rows)
    let cards = open.enumerated().map { index, story -> [Line] in
      if index < hidden { return [] }
      let text = StoryText(story, book.thread(of: story), layout)
      return options.form == .cards ? text.card : text.tree
    }
    try output.draw(cards.fitted(to: output.rows))
  }

  private func handleSignals() throws(WriteFailure) {
    guard let signals else { return }
    let taken = signals.take()
    if let signal = taken.ending {
      ending = signal
      try finish()
      Process.die(by: signal)
    }
    if taken.isStopped {
      try output.leave()
      clibc_stop()
      // Among them is the one that let it go on.
      _ = signals.take()
    } else if taken.isContinued {
      output.forget()
    }
    if taken.isStopped || taken.isContinued || taken.isResized {
      output.measure()
      nextDraw = -.infinity
    }
  }
}

/// Where the lines go: standard output. On a terminal what goes on stands below them and
/// is drawn in place.
final class CardOutput {
  private let writer: RecordWriter
  private let isTerminal: Bool
  private let fixedWidth: Int?
  let drawsInPlace: Bool
  private let depth: ColourDepth
  private var region = LiveRegion()
  private var settled: [Line] = []
  private var size = WindowSize(of: 1)

  private static let mostSettled = 500

  init(_ options: TurnFormatOptions, interrupted: @escaping () -> Bool) {
    writer = RecordWriter(interrupted: interrupted)
    isTerminal = isatty(1) == 1
    fixedWidth = options.look.width
    drawsInPlace = options.form != .dot && Terminal.canDraw(1)
    depth =
      options.form == .dot
      ? .none
      : ColourDepth.detect(
        options.look.colour, isTerminal: isTerminal, environment: Process.environment)
  }

  /// As asked for, else the terminal's but for the last column, else no limit.
  var width: Int? {
    if let fixedWidth { return fixedWidth == 0 ? nil : fixedWidth }
    return isTerminal ? max(1, size.columns - 1) : nil
  }

  var rows: Int { max(1, size.rows - 1) }

  func measure() { size = WindowSize(of: 1) }

  func write(_ lines: [Line]) throws(WriteFailure) {
    if drawsInPlace {
      settled += lines
      if settled.count > Self.mostSettled { try draw([]) }
      return
    }
    for line in lines {
      try writer.write(line.render(width: nil, depth: depth))
      try writer.newline()
    }
  }

  func draw(_ live: [Line]) throws(WriteFailure) {
    try writer.write(region.update(settled: settled, live: live, size: size, depth: depth))
    settled = []
    try writer.flush()
  }

  /// Writes all that waits, and leaves the cursor at the beginning of a line.
  func settle() throws(WriteFailure) {
    if drawsInPlace { try draw([]) } else { try writer.flush() }
  }

  func leave() throws(WriteFailure) {
    if !region.isEmpty { try writer.write("\n") }
    region.forget()
    try writer.flush()
  }

  func forget() { region.forget() }
}

extension [[Line]] {
  /// Cards that go on, in so many rows.
  func fitted(to rows: Int) -> [Line] {
    guard count <= rows else {
      let hidden = count - rows + 1
      return [Line("… \(hidden) more turns", .dim)]
        + dropFirst(hidden).map { $0.first ?? Line() }
    }
    var room = shares(of: rows)
    // What short cards leave went to the long ones; the newest is seen best.
    var left = rows - room.reduce(0, +)
    for index in indices.reversed() {
      let more = Swift.min(left, self[index].count - room[index])
      room[index] += more
      left -= more
    }
    return zip(self, room).flatMap { Self.cut($0, to: $1) }
  }

  private func shares(of rows: Int) -> [Int] {
    var open = [Int](indices)
    var room = map { _ in 0 }
    var left = rows
    while !open.isEmpty {
      let share = left / open.count
      let small = open.filter { self[$0].count <= share }
      if small.isEmpty {
        for index in open { room[index] = share }
        return room
      }
      for index in small {
        room[index] = self[index].count
        left -= self[index].count
      }
      open.removeAll { self[$0].count <= share }
    }
    return room
  }

  private static func cut(_ card: [Line], to rows: Int) -> [Line] {
    guard card.count > rows, let first = card.first else { return card }
    switch rows {
    case ..<1: return []
    case 1: return [first]
    default:
      let last = card.suffix(rows - 2)
      return [first, Line("  … \(card.count - 1 - last.count) more lines", .dim)] + last
    }
  }
}

/// What a person is asked while the turn goes on. In a pipe its card comes at its end, which
/// waits for the answer: so the question is told before, once nothing follows it.
struct OpenQuestions {
  private var waiting: [(key: PartKey, since: Double)] = []
  /// What was asked; it is asked once.
  private var known: Set<PartKey> = []

  /// Seconds: a record that is read back at full speed asks nobody.
  private static let patience = 0.25
  /// More than anyone is asked at once; the oldest are left to their cards.
  private static let most = 1000

  /// Notes what a record asks.
  mutating func add(_ record: ConversationRecord) {
    guard case .approval(let approval) = record, approval.state == .pending,
      let key = PartKey(record)
    else { return }
    if known.count >= Self.most { known.removeAll() }
    guard known.insert(key).inserted else { return }
    if waiting.count == Self.most { waiting.removeFirst() }
    waiting.append((key, Clock.monotonic))
  }

  func isReadable(_ descriptor: Int32) -> Bool {
    guard let first = waiting.first else { return true }
    let left = first.since + Self.patience - Clock.monotonic
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return left > 0 && poll(&entry, 1, Int32(left * 1000) + 1) != 0
  }

  mutating func due() -> [PartKey] {
    let count = waiting.prefix { $0.since + Self.patience <= Clock.monotonic }.count
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map(\.key)
  }
}

/// The stories that are complete, one below the other.
struct StoryPages {
  let form: TurnFormatOptions.Form
  private var graph = DotGraph()
  private var heading: Line?
  private var isFirst = true
  private var wasTurn = false

  init(_ form: TurnFormatOptions.Form) { self.form = form }

  /// The lines of a story that is complete. A blank line stands around turns, and above
  /// the heading of a conversation.
  mutating func lines(_ story: StoryText) -> [Line] {
    if form == .dot { return graph.lines(story).map { Line($0) } }
    defer { isFirst = false }
    if form == .cards {
      let isTurn = story.story.key.kind == .turn
      defer { wasTurn = isTurn }
      return (isFirst || !isTurn && !wasTurn ? [] : [Line()]) + story.card
    }
    let heading = story.heading
    if heading == self.heading { return story.tree }
    self.heading = heading
    return (isFirst ? [] : [Line()]) + [heading] + story.tree
  }

  mutating func lines(
    asking approval: ApprovalRecord, _ thread: StoryBook.Thread, _ layout: CardLayout
  ) -> [Line] {
    let space = isFirst || form == .cards && !wasTurn ? [] : [Line()]
    (isFirst, wasTurn, heading) = (false, false, nil)
    let place = [approval.origin.profile, thread.title ?? approval.thread]
    return space + layout.lines(approval, indent: 0, place: place.compactMap(\.self))
  }
}
