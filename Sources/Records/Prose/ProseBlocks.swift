/// The blocks of a text in Markdown (CommonMark 0.31, GitHub's tables) that have words.
struct ProseBlocks {
  private let bytes: [UInt8]
  private var at = 0
  /// How a block of code began.
  private var fence: (mark: UInt8, count: Int, isQuoted: Bool)?
  private var isTable = false
  /// Whether what is indented now is code: it does not continue anything.
  private var isCodeNext = true
  /// The columns at which the words of the open items of lists begin.
  private var items: [Int] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next block: the cells of a row, or one text, without what makes it a block. Marks
  /// among its words are still there.
  mutating func next() -> [[UInt8]]? {
    var text: [UInt8] = []
    while at < bytes.count {
      let start = at
      let whole = takeLine()
      if let open = fence {
        if !isInside(open, whole) { at = start }
        continue
      }
      let line = ProseLine(bytes, whole, isInList: !items.isEmpty, isAlone: text.isEmpty)
      if line.words.isEmpty || line.isRule {
        (isTable, isCodeNext) = (false, true)
        if !text.isEmpty { return [text] }
        continue
      }
      // Whatever begins something else ends what came before it: it is read again then.
      let isBegun = line.isItem || line.heading != nil || line.fence != nil || isRow(line)
      if isBegun, !text.isEmpty {
        (at, isCodeNext) = (start, false)
        return [text]
      }
      while let column = items.last, column > line.indent { items.removeLast() }
      if isCodeNext, line.indent >= (items.last ?? 0) + 4 { continue }
      isCodeNext = line.fence != nil || line.heading != nil
      isTable = isRow(line)
      if line.isItem { items.append(line.column) }
      if let fence = line.fence {
        self.fence = (fence.mark, fence.count, line.isQuoted)
      } else if let heading = line.heading {
        return [Array(bytes[heading])]
      } else if isTable {
        if let cells = row(line) { return cells }
      } else if text.isEmpty, skipHidden(line) || line.isDefinition {
        continue
      } else {
        if !text.isEmpty { text.append(UInt8(ascii: " ")) }
        text += bytes[line.words]
        // A line that is broken by hand.
        if text.last == UInt8(ascii: "\\") { text.removeLast() }
      }
    }
    return text.isEmpty ? nil : [text]
  }

  /// The next line, without its end.
  private mutating func takeLine() -> Range<Int> {
    let line = lineRange(from: at)
    at = line.upperBound + 1
    if line.upperBound < bytes.count, bytes[line.upperBound] == 13, at < bytes.count,
      bytes[at] == 10
    {
      at += 1
    }
    return line
  }

  private func lineRange(from start: Int) -> Range<Int> {
    var end = start
    while end < bytes.count, bytes[end] != 10, bytes[end] != 13 { end += 1 }
    return start..<end
  }

  /// Whether a line stands in a block of code. Its last one does.
  private mutating func isInside(
    _ open: (mark: UInt8, count: Int, isQuoted: Bool), _ line: Range<Int>
  ) -> Bool {
    var from = line.lowerBound
    var isQuoted = false
    while from < line.upperBound, bytes[from] <= 32 || open.isQuoted && bytes[from] == 0x3e {
      if bytes[from] == 0x3e { isQuoted = true }
      from += 1
    }
    if open.isQuoted, !isQuoted {
      fence = nil
      return false
    }
    var end = from
    while end < line.upperBound, bytes[end] == open.mark { end += 1 }
    if end - from >= open.count, bytes[end..<line.upperBound].allSatisfy({ $0 <= 32 }) {
      fence = nil
    }
    return true
  }

  // MARK: - Tables

  private func isRow(_ line: ProseLine) -> Bool {
    guard bytes[line.words].contains(UInt8(ascii: "|")) else { return false }
    if isTable || bytes[line.words.lowerBound] == UInt8(ascii: "|") { return true }
    return isDelimiter(lineRange(from: at < bytes.count ? at : bytes.count))
  }

  /// Whether a line is the one between the head of a table and its rows.
  private func isDelimiter(_ line: Range<Int>) -> Bool {
    let line = bytes[line]
    return line.allSatisfy { [0x7c, 0x3a, 0x2d, 0x20, 0x09, 0x3e].contains($0) }
      && line.contains(0x2d) && line.contains(0x7c)
  }

  /// The cells of a row; nil for a line that has none.
  private func row(_ line: ProseLine) -> [[UInt8]]? {
    if isDelimiter(line.words) { return nil }
    var cells: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in bytes[line.words] {
      if byte == UInt8(ascii: "|"), !isEscaped {
        cells.append([])
      } else {
        cells[cells.count - 1].append(byte)
      }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    return cells
  }

  // MARK: - HTML

  /// Skips a comment, or an element whose text is code, that begins a line.
  private mutating func skipHidden(_ line: ProseLine) -> Bool {
    guard bytes[line.words.lowerBound] == UInt8(ascii: "<") else { return false }
    let ends: [(String, String)] = [
      ("<!--", "-->"), ("<pre", "</pre>"), ("<script", "</script>"), ("<style", "</style>"),
    ]
    let head = bytes[line.words].prefix(8).map { $0 | 0x20 }
    for (name, end) in ends where head.starts(with: name.utf8.map { $0 | 0x20 }) {
      let from = line.words.lowerBound + name.utf8.count
      // A longer name is that of another element.
      let next = from < line.words.upperBound ? bytes[from] : 32
      if name != "<!--", next > 32, next != UInt8(ascii: ">"), next != UInt8(ascii: "/") {
        continue
      }
      at = bytes.end(of: end, from: from, to: bytes.count) ?? bytes.count
      return true
    }
    return false
  }
}

extension [UInt8] {
  /// Where a word, in whatever case, has ended for the first time; nil when it never does.
  func end(of word: String, from start: Int, to limit: Int) -> Int? {
    let word = word.utf8.map { $0 | 0x20 }
    var place = start
    while place + word.count <= limit {
      if self[place] | 0x20 == word[0], self[place..<(place + word.count)].lowered(equals: word) {
        return place + word.count
      }
      place += 1
    }
    return nil
  }
}

extension ArraySlice<UInt8> {
  fileprivate func lowered(equals word: [UInt8]) -> Bool {
    elementsEqual(word) { $0 | 0x20 == $1 }
  }
}
