/// What a voice can read aloud of a text in Markdown: its words, without code, URLs, paths of
/// files, references as `#12`, `foo#12` and `@ada`, and marks (Agent/Riff/CONTRACT.md 4).
///
/// - Code in blocks and in line, comments and definitions of links are left out whole.
/// - A link and an image keep their words, a cell of a table is followed by a comma.
/// - A paragraph, an item or a heading that ends without a mark gets a full stop before what
///   follows: a voice would run on, and a cut would find no sentence.
/// - A control is a space; whatever else a person could not see is left out.
public enum Prose {
  /// The most characters (grapheme clusters) of one narration.
  public static let mostCharacters = 1200

  /// Bytes of prose behind which nothing is looked at: few characters have so many.
  private static let enoughBytes = mostCharacters * 16

  /// The most bytes that are parsed at once. What is longer is parsed in pieces, so that memory
  /// is bounded, and time as well where a version of cmark-gfm is not linear.
  private static let pieceSize = 1 << 14

  /// The prose of a text, one line without controls; empty when nothing can be said of it.
  ///
  /// It takes time in proportion to the length of the text, whatever that is.
  ///
  /// - Returns: at most `mostCharacters` characters. What is longer ends with the last sentence
  ///   that fits, else with the last word.
  public static func of(_ markdown: String) -> String {
    var text = ""
    var rest = ArraySlice(markdown.utf8)
    var opening: [UInt8] = []
    while text.utf8.count < enoughBytes, !rest.isEmpty {
      let piece = nextPiece(of: rest)
      rest = rest[piece.endIndex...]
      let markdown = Markdown(opening + piece)
      opening = markdown.openFence
      var row: OpaquePointer?
      for block in markdown.blocks {
        let words = ProseText.of(block.text)
        guard isSaid(words) else { continue }
        let isInRow = block.row != nil && block.row == row
        if !text.isEmpty { text += ends(text) ? " " : isInRow ? ", " : ". " }
        text += words
        row = block.row
      }
    }
    return cut(text)
  }

  /// What is parsed next: up to an empty line, if there is one.
  private static func nextPiece(of text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let piece = text.prefix(pieceSize)
    guard piece.count < text.count else { return piece }
    let end = piece.indices.last { $0 > piece.startIndex && piece[$0] == 10 && piece[$0 - 1] == 10 }
    return end.map { piece[...$0] } ?? piece
  }

  private static func isSaid(_ words: String) -> Bool {
    words.unicodeScalars.contains {
      $0.properties.isAlphabetic || $0.properties.numericType != nil
        || $0.properties.isEmojiPresentation
    }
  }

  private static func ends(_ text: String) -> Bool {
    guard let last = text.last(where: { !closers.contains($0) }) else { return false }
    return ".!?:;,…。！？：；，、．".contains(last)
  }

  private static let closers: Set<Character> = [
    "\"", "'", ")", "]", "”", "’", "»", "」", "』", "）",
  ]

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
