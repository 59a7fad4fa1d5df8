import Core
import Screen

final class LiveView: WatchView {
  enum Wish: Equatable {
    case quit
    case pause
    case speed(Double)
    case skip
  }

  let terminal: Terminal
  private let canvas: Canvas
  private let isReplay: Bool
  private let interrupted: () -> Bool
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
  var past: [Line] = []

  init(
    _ terminal: Terminal, _ options: StateOptions, isReplay: Bool,
    interrupted: @escaping () -> Bool
  ) {
    (self.terminal, self.isReplay, self.interrupted) = (terminal, isReplay, interrupted)
    canvas = Canvas(options.look)
    panels = options.panels
    size = terminal.size
  }

  func show(_ moment: WatchMoment, most: Int) throws(WriteFailure) -> Int {
    let height = max(1, size.rows - 1)
    let lines: [Line]
    var seen = ScrollState()
    if let chooser {
      lines = chooser.lines(height: height)
      seen.fit(total: lines.count, height: height)
    } else if helps {
      lines = KeyHelp.lines(isReplay: isReplay)
      seen.fit(total: lines.count, height: height)
    } else {
      drawn = self.lines(moment)
      lines = finder?.mark(drawn) ?? drawn
      scroll.fit(total: lines.count, height: height)
      seen = scroll
    }
    // A search takes the place of what else is to say.
    let note = finder?.status ?? moment.note
    let status = LiveFrame.status(
      moment.link.words(at: moment.clock), note: note, scroll: seen, keys: keys,
      width: size.columns)
    let rows = LiveFrame(size: size, depth: canvas.depth).rows(lines, seen, status: status)
    try terminal.show(differ.update(to: rows), interrupted: interrupted)
    return moment.isState ? 1 : 0
  }

  private func lines(_ moment: WatchMoment) -> [Line] {
    guard moment.sessions.isEmpty else {
      let cockpit = Cockpit(
        sessions: moment.sessions, now: Now(moment.now, tellsClock: tellsClock),
        panels: panels.map { $0.compactMap(Panels.named) }, width: size.columns)
      return cockpit.frame(keeping: &arrangements)
    }
    arrangements = []
    guard moment.isKnown || moment.link.word(at: moment.clock) == "ended" else { return [] }
    let words = Line([.init(NoSession.words, .dim)])
    return past.isEmpty ? [words] : [words, Line()] + past
  }

  private var keys: String {
    if chooser != nil { return "Space choose  a all  Enter done" }
    if helps { return "any key goes back" }
    if let finder { return finder.isTyping ? "Enter find  Esc end" : "n next  N back  Esc end" }
    return isReplay
      ? "q quit  Space pause  +- speed  n next  ? help" : "q quit  p panels  / search  ? help"
  }

  /// Ages tick once a second, in step with the age of the state.
  func nextLook(after moment: WatchMoment) -> Double {
    let since = moment.link.stateAt ?? moment.clock
    let whole = (moment.clock - since).rounded(.down) + 1
    // A little late rather than a tick early.
    return min(moment.clock + 1, since + whole + 0.005)
  }

  func redraw() {
    size = terminal.size
    differ.forget()
    // As a frame of that size alone would look.
    arrangements = []
  }

  func close() { terminal.leave() }

  var isKeyPending: Bool { decoder.isPending }

  /// Takes bytes from the keyboard; none means that nothing came for a while.
  func handle(_ bytes: [UInt8]) -> [Wish] {
    let keys = bytes.isEmpty ? decoder.pause() : decoder.receive(bytes)
    return keys.compactMap(handle)
  }

  private func handle(_ key: Key) -> Wish? {
    if chooser != nil {
      if chooser?.handle(key) == .close {
        panels = chooser?.selection
        chooser = nil
      } else {
        panels = chooser?.selection
      }
      arrangements = []
      return nil
    }
    if helps {
      helps = false
      return nil
    }
    if let step = finder?.handle(key), step != .other {
      if step == .close { finder = nil }
      if step == .next || step == .previous {
        let line = finder?.find(step, in: drawn, from: scroll.top)
        if let line { scroll.show(line) }
      }
      return nil
    }
    switch key {
    case .character("q"), .character("Q"): return .quit
    case .character("?"):
      helps = true
      return nil
    case .character("/"):
      finder = Finder()
      return nil
    case .character("t"):
      tellsClock.toggle()
      return nil
    case .character("p"):
      let shown = panels ?? Panels.fitting(width: size.columns).map { $0.name }
      chooser = PanelChooser(
        panels: Panels.all.map { ($0.name, $0.title) }, chosen: Set(shown))
      return nil
    case .control("l"):
      redraw()
      return nil
    case .character(" ") where isReplay: return .pause
    case .character("+"), .character("="): return isReplay ? .speed(2) : nil
    case .character("-"): return isReplay ? .speed(0.5) : nil
    case .character("n"): return isReplay ? .skip : nil
    default:
      _ = scroll.handle(key)
      return nil
    }
  }
}

struct LiveFrame {
  let size: WindowSize
  let depth: ColourDepth

  func rows(_ lines: [Line], _ scroll: ScrollState, status: Line) -> [FrameDiffer.Row] {
    func row(_ line: Line) -> FrameDiffer.Row {
      FrameDiffer.Row(
        Drawing.line(line.cut(to: size.columns), depth: depth), width: size.columns, depth: depth)
    }
    var rows = lines[scroll.visible].map(row)
    let empty = FrameDiffer.Row("", isFull: false)
    while rows.count < size.rows - 1 { rows.append(empty) }
    if size.rows > 1 { rows = Array(rows.prefix(size.rows - 1)) } else { rows = [] }
    return rows + [row(status)]
  }

  /// The status row: the link on the left, where one is and the keys on the right.
  static func status(
    _ words: (text: String, mood: BackendLink.Mood), note: String, scroll: ScrollState,
    keys: String, width: Int
  ) -> Line {
    let style: Style =
      switch words.mood {
      case .good: Style(Palette.positive)
      case .odd: Style(Palette.warning)
      case .bad: Style(Palette.error, bold: true)
      }
    var left = Line([.init(note.isEmpty ? "" : note + "  ", .plain), .init(words.text, style)])
    left.spans.removeAll { $0.text.isEmpty }
    let position =
      scroll.isNeeded
      ? "\(scroll.visible.lowerBound + 1)-\(scroll.visible.upperBound)/\(scroll.total)  " : ""
    for right in [position + keys, position, ""] {
      let room = width - left.cells - CellWidth.of(right)
      guard room >= 2 || right.isEmpty else { continue }
      if !right.isEmpty {
        left.add(Fit.spaces(room))
        left.add(right, .dim)
      }
      break
    }
    return left
  }
}
