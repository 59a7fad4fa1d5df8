/// A line of a text in Markdown that stands in no block of code.
struct ProseLine {
  private let bytes: [UInt8]
  /// What follows the marks of quotes and items, without spaces around it.
  private(set) var words: Range<Int>
  /// Columns before the first mark or word behind the marks of quotes.
  private(set) var indent = 0
  /// The column at which the words of an item begin.
  private(set) var column = 0
  private(set) var isItem = false
  private(set) var isQuoted = false
  /// A line across, or under a heading.
  private(set) var isRule = false

  /// - Parameters:
  ///   - bytes: the whole text.
  ///   - line: the line in it, without its end.
  ///   - isInList: whether any number begins an item, not 1 alone.
  ///   - isAlone: whether no line before it belongs to the same block.
  init(_ bytes: [UInt8], _ line: Range<Int>, isInList: Bool, isAlone: Bool) {
    self.bytes = bytes
    words = line
    var end = line.upperBound
    while end > line.lowerBound, bytes[end - 1] <= 32 { end -= 1 }
    words = line.lowerBound..<max(end, line.lowerBound)
    skipSpaces()
    while starts(with: UInt8(ascii: ">")) {
      isQuoted = true
      words = (words.lowerBound + 1)..<words.upperBound
      // The space behind it belongs to the mark.
      if let first = byte(0), first == 32 || first == 9 { drop(1) }
      (indent, column) = (0, 0)
      skipSpaces()
    }
    indent = column
    isRule = checkRule()
    // Each mark is looked at once, however many items begin in one line.
    while !isRule, let count = markLength(any: isInList || isAlone || isItem) {
      isItem = true
      drop(count)
      column += count
      skipSpaces()
    }
    guard isItem else { return }
    if words.count >= 4 || words.count == 3, byte(0) == UInt8(ascii: "["),
      byte(2) == UInt8(ascii: "]"), byte(1).map({ " xX".utf8.contains($0) }) == true,
      byte(3).map({ $0 <= 32 }) ?? true
    {
      drop(3)
      skipSpaces()
    }
  }

  /// The mark and the length of what begins a block of code.
  var fence: (mark: UInt8, count: Int)? {
    guard let mark = byte(0), mark == UInt8(ascii: "`") || mark == UInt8(ascii: "~") else {
      return nil
    }
    let count = bytes[words].prefix { $0 == mark }.count
    guard count >= 3 else { return nil }
    // Else it is code in line.
    if mark == UInt8(ascii: "`"), bytes[words].dropFirst(count).contains(mark) { return nil }
    return (mark, count)
  }

  /// The words of a heading.
  var heading: Range<Int>? {
    let count = bytes[words].prefix(7) { $0 == UInt8(ascii: "#") }
    guard (1...6).contains(count), byte(count).map({ $0 <= 32 }) ?? true else { return nil }
    var end = words.upperBound
    while end > words.lowerBound + count, bytes[end - 1] == UInt8(ascii: "#") { end -= 1 }
    // "C#" ends in one that belongs to it.
    if end > words.lowerBound + count, bytes[end - 1] > 32 { end = words.upperBound }
    return (words.lowerBound + count)..<end
  }

  /// Whether it says where a link goes, and nothing else.
  var isDefinition: Bool {
    guard byte(0) == UInt8(ascii: "["), byte(1) != UInt8(ascii: "^") else { return false }
    guard let close = bytes[words].firstIndex(of: UInt8(ascii: "]")), close + 1 < words.upperBound,
      bytes[close + 1] == UInt8(ascii: ":")
    else { return false }
    let rest = bytes[(close + 2)..<words.upperBound].drop { $0 <= 32 }
    guard let end = rest.firstIndex(where: { $0 <= 32 }) else { return !rest.isEmpty }
    let title = rest[end...].first { $0 > 32 }
    return title.map { "\"'(".utf8.contains($0) } ?? true
  }

  // MARK: - Marks

  private func byte(_ offset: Int) -> UInt8? {
    let place = words.lowerBound + offset
    return place < words.upperBound ? bytes[place] : nil
  }

  private func starts(with mark: UInt8) -> Bool { byte(0) == mark }

  private mutating func drop(_ count: Int) {
    words = min(words.lowerBound + count, words.upperBound)..<words.upperBound
  }

  private mutating func skipSpaces() {
    var place = words.lowerBound
    while place < words.upperBound, bytes[place] <= 32 {
      column += bytes[place] == 9 ? 4 - column % 4 : 1
      place += 1
    }
    words = place..<words.upperBound
  }

  /// How long the mark of an item is; nil when there is none.
  private func markLength(any isAnyNumber: Bool) -> Int? {
    guard let first = byte(0) else { return nil }
    var count = 0
    if "-*+".utf8.contains(first) {
      count = 1
    } else {
      while count < 10, let digit = byte(count), digit &- 48 < 10 { count += 1 }
      guard (1...9).contains(count), let mark = byte(count), mark == 0x2e || mark == 0x29 else {
        return nil
      }
      guard isAnyNumber || count == 1 && first == UInt8(ascii: "1") else { return nil }
      count += 1
    }
    return byte(count).map { $0 <= 32 } ?? true ? count : nil
  }

  private func checkRule() -> Bool {
    guard let mark = byte(0), "-*_=".utf8.contains(mark) else { return false }
    var count = 0
    for byte in bytes[words] where byte > 32 {
      guard byte == mark else { return false }
      count += 1
    }
    return count >= 3 || count == words.count && mark == UInt8(ascii: "=")
  }
}

extension ArraySlice<UInt8> {
  /// How many bytes, at most `limit`, a prefix of those has that are wanted.
  fileprivate func prefix(_ limit: Int, while isWanted: (UInt8) -> Bool) -> Int {
    prefix(limit).prefix(while: isWanted).count
  }
}
