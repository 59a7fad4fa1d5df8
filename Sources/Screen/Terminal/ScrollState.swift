/// Which part of a text that is taller than the window is seen.
public struct ScrollState: Equatable, Sendable {
  /// The first line that is seen.
  public private(set) var top = 0
  /// The lines of the text.
  public private(set) var total = 0
  /// The lines that the window holds.
  public private(set) var height = 1

  public init() {}

  /// The furthest that `top` may be.
  public var furthest: Int { max(0, total - height) }

  /// The lines that are seen.
  public var visible: Range<Int> { top..<min(total, top + height) }

  /// Whether there are lines outside the window.
  public var isNeeded: Bool { total > height }

  /// A text or window of another size; `top` stays as near as it can.
  public mutating func fit(total: Int, height: Int) {
    self.total = max(0, total)
    self.height = max(1, height)
    top = min(top, furthest)
  }

  /// Moves by lines, up when below zero.
  public mutating func move(by lines: Int) { top = min(max(0, top + lines), furthest) }

  /// Moves so that a line is seen.
  public mutating func show(_ line: Int) {
    if line < top { top = max(0, line) }
    if line >= top + height { top = min(line - height + 1, furthest) }
  }

  /// Moves as a key asks: arrows, `j` and `k` a line, page keys and space a window less
  /// one line, Home, End, `g` and `G` to the ends.
  ///
  /// - Returns: whether the key is one of these.
  public mutating func take(_ key: Key) -> Bool {
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
