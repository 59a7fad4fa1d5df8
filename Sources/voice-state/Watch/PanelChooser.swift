import Core
import Screen

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
