import Core
import Screen

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
