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

/// The search on the live screen: a pure value, driven by keys. It looks in the lines that
/// are drawn, as they stand there; upper and lower case are the same.
struct Finder: Equatable {
  enum Step: Equatable {
    case stay
    case close
    case next, previous
    case other
  }

  private(set) var text = ""
  private(set) var isTyping = true
  /// The line that was found last; nil before the first.
  private(set) var found: Int?
  private(set) var matches: [Int] = []

  /// More than anyone types; a paste may be longer.
  private static let longest = 100

  /// Takes a key: what is typed until Enter, then `n` and `N`; Escape ends it.
  mutating func handle(_ key: Key) -> Step {
    guard isTyping else {
      switch key {
      case .escape: return .close
      case .character("n"): return .next
      case .character("N"): return .previous
      case .character("/"): self = Finder()
      default: return .other
      }
      return .stay
    }
    switch key {
    case .character(let character):
      if text.count < Self.longest, character.unicodeScalars.count < 16 { text.append(character) }
    case .backspace where text.isEmpty, .escape: return .close
    case .backspace: text.removeLast()
    case .control("u"): text = ""
    case .enter where text.isEmpty: return .close
    case .enter:
      isTyping = false
      return .next
    default: break
    }
    return .stay
  }

  mutating func mark(_ lines: [Line]) -> [Line] {
    matches = []
    let wanted = Self.folded(text)
    guard !wanted.isEmpty else { return lines }
    return lines.enumerated().map { index, line in
      let ranges = Self.ranges(of: wanted, in: line)
      if ranges.isEmpty { return line }
      matches.append(index)
      return Self.reversed(line, ranges)
    }
  }

  /// Goes to the next line that has it or the one before, and from the last one to the first
  /// again. Returns the line; nil when none has it.
  mutating func find(_ step: Step, in lines: [Line], from top: Int) -> Int? {
    _ = mark(lines)
    let start = found ?? (step == .next ? top - 1 : top)
    found =
      step == .next
      ? matches.first { $0 > start } ?? matches.first
      : matches.last { $0 < start } ?? matches.last
    return found
  }

  var status: String {
    let words = "/" + Plain.line(text, limit: Self.longest)
    if isTyping { return words + "_" }
    guard !matches.isEmpty else { return words + "  not found" }
    let place = found.flatMap { matches.firstIndex(of: $0) }.map { "\($0 + 1) of " } ?? ""
    return words + "  \(place)\(matches.count == 1 ? "1 line" : "\(matches.count) lines")"
  }

  // MARK: - Texts

  private static func folded(_ text: String) -> [String] { text.map { $0.lowercased() } }

  /// Where a line has it, in characters; what was found once is not looked in again.
  private static func ranges(of wanted: [String], in line: Line) -> [Range<Int>] {
    let text = folded(line.spans.map(\.text).joined())
    var ranges: [Range<Int>] = []
    var start = 0
    while start + wanted.count <= text.count {
      if text[start..<start + wanted.count].elementsEqual(wanted) {
        ranges.append(start..<start + wanted.count)
        start += wanted.count
      } else {
        start += 1
      }
    }
    return ranges
  }

  private static func reversed(_ line: Line, _ ranges: [Range<Int>]) -> Line {
    var marked = Line()
    var index = 0
    for span in line.spans {
      for character in span.text {
        var style = span.style
        style.isReversed = ranges.contains { $0.contains(index) }
        var text = String(character)
        if marked.spans.last?.style == style { text = marked.spans.removeLast().text + text }
        marked.add(text, style)
        index += 1
      }
    }
    return marked
  }
}

struct PanelChooser {
  private let names: [String], titles: [String]
  private(set) var chosen: Set<String>
  private(set) var cursor = 0

  init(_ panels: [(name: String, title: String)], chosen: Set<String>) {
    (names, titles, self.chosen) = (panels.map(\.name), panels.map(\.title), chosen)
  }

  var selection: [String] { names.filter(chosen.contains) }

  /// Takes a key: arrows move, space and `x` choose, `a` chooses all or none. Returns whether it
  /// goes on.
  mutating func handle(_ key: Key) -> Bool {
    switch key {
    case .up, .character("k"): cursor = max(0, cursor - 1)
    case .down, .character("j"): cursor = min(names.count - 1, cursor + 1)
    case .home: cursor = 0
    case .end: cursor = names.count - 1
    case .character(" "), .character("x"): chosen.formSymmetricDifference([names[cursor]])
    case .character("a"): chosen = chosen.count == names.count ? [] : Set(names)
    case .enter, .escape, .character("p"), .character("q"): return false
    default: break
    }
    return true
  }

  func lines(height: Int) -> [Line] {
    var scroll = ScrollState()
    scroll.fit(total: names.count, height: max(1, height - 2))
    scroll.show(cursor)
    return [Line("Panels", .bold), Line()]
      + scroll.visible.map { index in
        let isChosen = chosen.contains(names[index])
        let style: Style = isChosen ? .plain : .dim
        return Line {
          Line(index == cursor ? "> " : "  ", .bold)
          Line(isChosen ? "[x] " : "[ ] ", style)
          Line(titles[index], index == cursor ? .bold : style)
          "  \(names[index])".dim
        }
      }
  }
}

struct ScrollState: Equatable, Sendable {
  private(set) var top = 0
  private(set) var total = 0
  private(set) var height = 1

  var furthest: Int { max(0, total - height) }

  var visible: Range<Int> { top..<min(total, top + height) }

  var isNeeded: Bool { total > height }

  /// A text or window of another size; `top` stays as near as it can.
  mutating func fit(total: Int, height: Int) {
    self.total = max(0, total)
    self.height = max(1, height)
    top = min(top, furthest)
  }

  mutating func move(by lines: Int) { top = min(max(0, top + lines), furthest) }

  /// Moves so that a line is seen.
  mutating func show(_ line: Int) {
    if line < top { top = max(0, line) }
    if line >= top + height { top = min(line - height + 1, furthest) }
  }

  /// Moves as a key asks: arrows, `j` and `k` a line, page keys and space a window less
  /// one line, Home, End, `g` and `G` to the ends. Returns whether the key is one of these.
  mutating func handle(_ key: Key) -> Bool {
    switch key {
    case .up, .character("k"), .control("p"): move(by: -1)
    case .down, .character("j"), .control("n"): move(by: 1)
    case .pageUp, .control("b"): move(by: 1 - max(2, height))
    case .pageDown, .character(" "), .control("f"): move(by: max(2, height) - 1)
    case .home, .character("g"): top = 0
    case .end, .character("G"): top = furthest
    default: return false
    }
    return true
  }
}
