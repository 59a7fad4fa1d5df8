import CLibc
import Core
import Records
import Screen

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
      if early > 0, isReadable(descriptor, signals, within: early) { return }
      try handleSignals()
      if nextDraw > Clock.monotonic { continue }
      try draw()
      if isReadable(descriptor, signals, within: book.isEmpty ? nil : 1) { return }
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

  private func isReadable(
    _ descriptor: Int32, _ signals: TerminalSignals, within seconds: Double?
  ) -> Bool {
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = seconds.map { Int32($0 * 1000) + 1 } ?? -1
    return poll(&entries, 2, milliseconds) > 0 && entries[0].revents != 0
      && entries[1].revents == 0
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
