import Core
import Screen

final class LiveView {
  enum Wish: Equatable {
    case quit
    case pause
    case speed(Double)
    case skip
  }

  let terminal: Terminal
  private let canvas: Canvas
  private let isReplay: Bool
  private var differ = FrameDiffer()
  private var scroll = ScrollState()
  private var decoder = KeyDecoder()
  private var arrangements: [Cockpit.Arrangement] = []
  private var panels: [String]?
  private var chooser: PanelChooser?
  private var finder: Finder?
  private var drawn: [Line] = []
  private var helps = false
  private var tellsClock = false
  private var size: WindowSize
  /// Past sessions, for who looks at an empty screen.
  var past: [Line] = []

  init(_ terminal: Terminal, _ options: StateOptions, isReplay: Bool) {
    (self.terminal, self.isReplay) = (terminal, isReplay)
    canvas = Canvas(options.look)
    panels = options.panels
    size = terminal.size
  }

  /// Returns how many states were shown.
  func show(_ watch: Watch) throws(WriteFailure) -> Int {
    let height = max(1, size.rows - 1)
    let lines: [Line]
    if let chooser {
      lines = chooser.lines(height: height)
    } else if helps {
      lines = Self.keyHelp(isReplay: isReplay)
    } else {
      drawn = self.lines(watch)
      lines = finder?.mark(drawn) ?? drawn
      scroll.fit(total: lines.count, height: height)
    }
    var seen = scroll
    if chooser != nil || helps {
      seen = ScrollState()
      seen.fit(total: lines.count, height: height)
    }
    // A search takes the place of what else is to say.
    let status = Self.status(
      watch.link.words(at: watch.clock), note: finder?.status ?? watch.note(), scroll: seen,
      keys: keys, width: size.columns)
    let rows = Self.rows(lines, seen, status: status, size: size, depth: canvas.depth)
    try terminal.show(differ.update(to: rows), interrupted: { watch.isInterrupted })
    return watch.isState ? 1 : 0
  }

  private func lines(_ watch: Watch) -> [Line] {
    guard watch.sessions.isEmpty else {
      let cockpit = Cockpit(
        sessions: watch.sessions, now: Now(watch.now, tellsClock: tellsClock),
        panels: panels.map { $0.compactMap(Panels.named) }, width: size.columns)
      return cockpit.frame(keeping: &arrangements)
    }
    arrangements = []
    guard watch.feed.isKnown || watch.link.word(at: watch.clock) == "ended" else { return [] }
    return [NoSession.words.dim] + (past.isEmpty ? [] : [Line()] + past)
  }

  private var keys: String {
    if chooser != nil { return "Space choose  a all  Enter done" }
    if helps { return "any key goes back" }
    if let finder { return finder.isTyping ? "Enter find  Esc end" : "n next  N back  Esc end" }
    return isReplay
      ? "q quit  Space pause  +- speed  n next  ? help" : "q quit  p panels  / search  ? help"
  }

  /// Ages tick once a second, in step with the age of the state.
  func nextLook(after watch: Watch) -> Double {
    let since = watch.link.stateAt ?? watch.clock
    let whole = (watch.clock - since).rounded(.down) + 1
    // A little late rather than a tick early.
    return min(watch.clock + 1, since + whole + 0.005)
  }

  /// A window of another size, or a screen that was used by someone else.
  func redraw() {
    size = terminal.size
    differ.forget()
    // As a frame of that size alone would look.
    arrangements = []
  }

  // MARK: - Keys

  var isKeyPending: Bool { decoder.isPending }

  /// Takes bytes from the keyboard; none means that nothing came for a while.
  func handle(_ bytes: [UInt8]) -> [Wish] {
    let keys = bytes.isEmpty ? decoder.pause() : decoder.receive(bytes)
    return keys.compactMap(handle)
  }

  private func handle(_ key: Key) -> Wish? {
    if let isOpen = chooser?.handle(key) {
      panels = chooser?.selection
      if !isOpen { chooser = nil }
      arrangements = []
      return nil
    }
    if helps {
      helps = false
      return nil
    }
    if let step = finder?.handle(key), step != .other {
      if step == .close { finder = nil }
      if step == .next || step == .previous,
        let line = finder?.find(step, in: drawn, from: scroll.top)
      {
        scroll.show(line)
      }
      return nil
    }
    switch key {
    case .character("q"), .character("Q"): return .quit
    case .character("?"): helps = true
    case .character("/"): finder = Finder()
    case .character("t"): tellsClock.toggle()
    case .character("p"):
      let shown = panels ?? Panels.fitting(width: size.columns).map { $0.name }
      chooser = PanelChooser(Panels.all.map { ($0.name, $0.title) }, chosen: Set(shown))
    case .control("l"): redraw()
    case .character(" ") where isReplay: return .pause
    case .character("+"), .character("="): return isReplay ? .speed(2) : nil
    case .character("-"): return isReplay ? .speed(0.5) : nil
    case .character("n"): return isReplay ? .skip : nil
    default: _ = scroll.handle(key)
    }
    return nil
  }

  static func keyHelp(isReplay: Bool) -> [Line] {
    let replay = [
      ("Space", "stop the time, let it go on"), ("+, -", "double the speed, halve it"),
      ("n", "the next event"),
    ]
    let keys = [
      ("q", "quit"), ("p", "choose panels"), ("/", "search in what is shown"),
      ("n, N", "the next line found, the one before"), ("Esc", "end the search"),
      ("t", "times by the clock, or ages"), ("Up, Down, k, j", "move by a line"),
      ("PgUp, PgDn", "move by a window"), ("Home, End, g, G", "go to the beginning, the end"),
      ("Ctrl-L", "redraw the screen"), ("Ctrl-Z", "suspend; fg goes on"), ("?", "these keys"),
    ]
    return [Line("Keys", .bold), Line()]
      + (keys + (isReplay ? replay : [])).map { key, words in
        Line {
          Line("  " + Fit.padEnd(key, to: 17), .bold)
          words
        }
      }
  }

  // MARK: - Rows

  static func rows(
    _ lines: [Line], _ scroll: ScrollState, status: Line, size: WindowSize, depth: ColourDepth
  ) -> [FrameDiffer.Row] {
    func row(_ line: Line) -> FrameDiffer.Row {
      FrameDiffer.Row(
        Drawing.line(line.cut(to: size.columns), depth: depth), width: size.columns, depth: depth)
    }
    let height = max(0, size.rows - 1)
    let rows = lines[scroll.visible].prefix(height).map(row)
    let empty = FrameDiffer.Row("", isFull: false)
    return rows + Array(repeating: empty, count: height - rows.count) + [row(status)]
  }

  /// The status row: the link on the left, where one is and the keys on the right.
  static func status(
    _ words: (text: String, mood: BackendLink.Mood), note: String, scroll: ScrollState,
    keys: String, width: Int
  ) -> Line {
    let style: Style =
      switch words.mood {
      case .good: .positive
      case .odd: .warning
      case .bad: Style(Palette.error, bold: true)
      }
    var left = Line(note.isEmpty ? "" : note + "  ")
    left.add(words.text, style)
    let position =
      scroll.isNeeded
      ? "\(scroll.visible.lowerBound + 1)-\(scroll.visible.upperBound)/\(scroll.total)  " : ""
    // What there is room for.
    let right = [position + keys, position].first { left.cells + CellWidth.of($0) + 2 <= width }
    if let right, !right.isEmpty {
      left.add(Fit.spaces(width - left.cells - CellWidth.of(right)))
      left.add(right, .dim)
    }
    return left
  }
}
