/// Words as they are put together again, with what a gap leaves behind tidied up: "in `a`, `b`."
/// becomes "in."
struct ProseText {
  private var text: [Unicode.Scalar] = []
  private var isSpaced = false
  private var isGap = false
  private var beganWithGap = false

  /// The words of a text of `Markdown`, without URLs, paths, references, brackets and backticks.
  static func of(_ text: [Unicode.Scalar]) -> String {
    var said = ProseText()
    var at = 0
    /// No word in scripts without spaces is a URL or a path before this.
    var noWordBefore = 0
    while at < text.count {
      if let end = endOfNote(at, in: text) {
        if text[at] != "]" { said.gap() }
        at = end
        continue
      }
      guard !text[at].isDelimiter else {
        if !text[at].isOne(of: "[]`") { said.add(text[at]) }
        at += 1
        continue
      }
      var end = text[at...].firstIndex(where: \.isDelimiter) ?? text.count
      let word = ProseWord(text[at..<end])
      var unsaid = word.unsaid
      let isAlone = at == 0 || !text[at - 1].isWideLetter
      if end < text.count, text[end].isWideLetter, at >= noWordBefore,
        unsaid != nil ? !word.isReference : word.isSign && isAlone
      {
        // What is a URL or a path goes on in scripts that have no spaces.
        let far = text[end...].firstIndex { $0.isDelimiter && !$0.isWideLetter } ?? text.count
        unsaid = ProseWord(text[at..<far]).unsaid
        if unsaid == nil { noWordBefore = far } else { end = far }
      } else if unsaid == nil, said.isGap, word.core.elementsEqual(["/"]) {
        // Of `a`/`b` nothing is left.
        unsaid = word.core
      }
      let left = unsaid ?? text[end..<end]
      for scalar in text[at..<left.startIndex] where left.isEmpty || !scalar.isOne(of: "*_") {
        said.add(scalar)
      }
      if !left.isEmpty { said.gap() }
      for scalar in text[left.endIndex..<end] { said.add(scalar) }
      at = end
    }
    return said.finished()
  }

  /// The end of a note, as [^1] or [!NOTE], or of the name behind the words of a link.
  private static func endOfNote(_ at: Int, in text: [Unicode.Scalar]) -> Int? {
    let ahead = text[at...].prefix(64)
    if ahead.first == Markdown.gap { return at + 1 }
    let next = ahead.dropFirst().first
    let isNote =
      ahead.starts(with: "[^".unicodeScalars)
      || ahead.starts(with: "[!".unicodeScalars) && ahead.dropFirst(2).first?.isLetter == true
    guard isNote || ahead.first == "]" && next == "[" && ahead.dropFirst(2).first != "^" else {
      return nil
    }
    let end = ahead.dropFirst(2).firstIndex { $0 == "]" || isNote && $0.value <= 32 }
    return end.flatMap { text[$0] == "]" ? $0 + 1 : nil }
  }

  private mutating func gap() {
    (isGap, isSpaced) = (true, true)
    if text.isEmpty { beganWithGap = true }
  }

  private mutating func add(_ scalar: Unicode.Scalar) {
    if scalar == " " {
      isSpaced = true
      return
    }
    if isGap, closesGap(scalar) { return }
    if isSpaced, !text.isEmpty, !scalar.isOne(of: "。！？，、；：．") { text.append(" ") }
    text.append(scalar)
    isSpaced = false
    // What follows an opening bracket at once stands in the gap still.
    if !scalar.isOne(of: "(\"'") { isGap = false }
  }

  private static let openers: [Unicode.Scalar: Unicode.Scalar] = [
    ")": "(", "\"": "\"", "'": "'", "»": "«", "”": "“", "“": "„", "」": "「", "』": "『", "）": "（",
  ]

  private mutating func closesGap(_ mark: Unicode.Scalar) -> Bool {
    if let opener = Self.openers[mark], text.last == opener {
      // Nothing is left between the two.
      text.removeLast()
      while text.last == " " { text.removeLast() }
      isSpaced = true
      if text.isEmpty { beganWithGap = true }
      return true
    }
    guard mark.isOne(of: ".,;:!?)") else { return false }
    guard let last = text.last else { return true }
    if mark == ")" {
      isSpaced = false
      return false
    }
    if last.isOne(of: ".!?") {
      isSpaced = true
      return true
    }
    if last.isOne(of: ",;:") { text.removeLast() }
    text.append(mark)
    (isGap, isSpaced) = (mark == ",", false)
    return true
  }

  private func finished() -> String {
    let rest = text.drop { beganWithGap && $0.isOne(of: "-.,;:!?) –—") }
    return String(String.UnicodeScalarView(rest))
  }
}
