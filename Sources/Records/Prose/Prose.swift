import Core

/// What a voice can read aloud of a text in Markdown: its words, without code, URLs, paths of
/// files, references as `#12`, `foo#12` and `@ada`, and marks (Agent/Riff/CONTRACT.md 4).
///
/// - Blocks of code, code in line, comments and definitions of links are left out whole.
/// - A link and an image keep their words, a cell of a table is followed by a comma.
/// - A paragraph, an item or a heading that ends without a mark gets a full stop before what
///   follows: a voice would run on, and a cut would find no sentence.
/// - A path is a word that begins with `/`, `~/`, `./`, `../`, `C:\`, or `$` and has a slash, has
///   two slashes or more, ends in one, or whose last part has an extension: not `and/or`,
///   `HTTP/1.1`, 24/7.
/// - A URL needs no scheme where a slash or a port stands behind the name of a host.
/// - A control is a space; whatever else a person could not see is left out.
public enum Prose {
  /// The most characters (grapheme clusters) of one narration.
  public static let mostCharacters = 1200

  /// The most bytes that are looked at of what is left: no text has as many in each character.
  private static let mostBytes = mostCharacters * 16

  /// The prose of a text, one line without controls; empty when nothing can be said of it.
  ///
  /// It takes time in proportion to the length of the text, whatever that is.
  ///
  /// - Parameter markdown: what an agent wrote, of any length.
  /// - Returns: at most `mostCharacters` characters. What is longer ends with the last sentence
  ///   that fits, else with the last word.
  public static func of(_ markdown: String) -> String {
    var text: [UInt8] = []
    var blocks = ProseBlocks(Array(seen(markdown).utf8))
    while text.count < mostBytes, let cells = blocks.next() {
      var block: [UInt8] = []
      for cell in cells {
        var marks = ProseMarks(cell)
        let words = marks.text(atMost: mostBytes - text.count)
        guard isSaid(words) else { continue }
        if !block.isEmpty { block += Self.ends(block) ? " ".utf8 : ", ".utf8 }
        block += words
      }
      guard !block.isEmpty else { continue }
      if !text.isEmpty { text += Self.ends(text) ? " ".utf8 : ". ".utf8 }
      text += block
    }
    return cut(shown(String(decoding: text.prefix(mostBytes), as: UTF8.self)))
  }

  /// Whether there is something to say: a letter, a digit, a picture.
  private static func isSaid(_ words: [UInt8]) -> Bool {
    String(decoding: words, as: UTF8.self).unicodeScalars.contains {
      $0.properties.isAlphabetic || $0.properties.numericType != nil
        || $0.properties.isEmojiPresentation
    }
  }

  /// Whether a voice pauses behind a text.
  private static func ends(_ text: [UInt8]) -> Bool {
    let tail = String(decoding: text.suffix(16), as: UTF8.self)
    guard let last = tail.last(where: { !closers.contains($0) }) else { return false }
    return ".!?:;,…".contains(last) || "。！？：；，、．".contains(last)
  }

  /// What may stand between the end of a sentence and the space behind it.
  private static let closers: Set<Character> = [
    "\"", "'", ")", "]", "”", "’", "»", "」", "』", "）",
  ]

  /// A text without what could not be seen, however much of it there is: it does not count.
  /// Controls of ASCII stay, as they are blanks.
  private static func seen(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x7f }) { return text }
    var kept = ""
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      if isShown || scalar.value < 0x7f || scalar.properties.isWhitespace {
        kept.unicodeScalars.append(scalar)
      }
    }
    return kept
  }

  /// A text without what could not be seen; every space is one space.
  private static func shown(_ text: String) -> String {
    var kept = ""
    var isSpaced = false
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      if scalar.properties.isWhitespace {
        isSpaced = true
      } else if isShown {
        let isJoined = kept.isEmpty || "。！？，、；：．".unicodeScalars.contains(scalar)
        if isSpaced, !isJoined { kept += " " }
        isSpaced = false
        kept.unicodeScalars.append(scalar)
      }
    }
    return kept
  }

  // MARK: - What is too long

  /// The text up to its last sentence that fits.
  private static func cut(_ text: String) -> String {
    guard let end = text.index(text.startIndex, offsetBy: mostCharacters, limitedBy: text.endIndex),
      end < text.endIndex
    else { return text }
    var place = end
    while place > text.startIndex {
      if isSentenceEnd(place, of: text) { return String(text[..<place]) }
      place = text.index(before: place)
    }
    // A word is whole where a space follows.
    let space = text[end] == " " ? end : text[..<end].lastIndex(of: " ")
    return String(text[..<(space ?? end)])
  }

  /// Whether a sentence ends right before a place.
  private static func isSentenceEnd(_ place: String.Index, of text: String) -> Bool {
    var last = text.index(before: place)
    while closers.contains(text[last]) {
      guard last > text.startIndex else { return false }
      last = text.index(before: last)
    }
    if "。！？．".contains(text[last]) { return !closers.contains(text[place]) }
    guard ".!?…".contains(text[last]), text[place] == " " else { return false }
    // "e.g. this" goes on.
    let next = text.index(after: place)
    guard text[last] == ".", next < text.endIndex, text[next].isLowercase else { return true }
    let word = text[..<last].reversed().prefix { $0 != " " }
    return !word.contains(".")
  }
}
