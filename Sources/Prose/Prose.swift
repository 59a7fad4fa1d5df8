import CCMark
import Core
import Synchronization

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

struct Markdown {
  static let gap: Unicode.Scalar = "\0"

  /// The texts: paragraphs, headings, and the cells of rows of tables. All spaces are " ", and
  /// what could not be seen is left out.
  private(set) var blocks: [(text: [Unicode.Scalar], row: OpaquePointer?)] = []
  /// What began a block of code that has not ended.
  private(set) var openFence: [UInt8] = []

  private var text: [Unicode.Scalar] = []
  private var code: [String: Int] = [:]
  /// Whether emphasis began or ended behind a digit: it is none in 2*3*4.
  private var isBehindDigit = false

  /// While one text is parsed, extensions change what is special in all.
  private static let lock = Mutex(())

  init(_ markdown: [UInt8]) {
    let document = Self.lock.withLock { _ in
      cmark_gfm_core_extensions_ensure_registered()
      let parser = cmark_parser_new(CMARK_OPT_FOOTNOTES | CMARK_OPT_STRIKETHROUGH_DOUBLE_TILDE)
      defer { cmark_parser_free(parser) }
      for name in ["table", "strikethrough", "tasklist"] {
        cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(name))
      }
      // The last paragraph says nothing, and stands in a block of code only if that is open.
      (markdown + "\n\n.".utf8).withUnsafeBytes {
        cmark_parser_feed(parser, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
      }
      return UInt(bitPattern: cmark_parser_finish(parser))
    }
    guard let document = OpaquePointer(bitPattern: document) else { return }
    defer { cmark_node_free(document) }
    let steps = cmark_iter_new(document)
    defer { cmark_iter_free(steps) }
    while case let event = cmark_iter_next(steps), event != CMARK_EVENT_DONE {
      guard let node = cmark_iter_get_node(steps) else { continue }
      if event == CMARK_EVENT_ENTER { enter(node) } else { leave(node) }
    }
    if let last = cmark_node_last_child(document) { openFence = Self.fence(of: last) }
  }

  private mutating func enter(_ node: OpaquePointer) {
    switch cmark_node_get_type(node) {
    case CMARK_NODE_TEXT: append(Self.literal(of: node))
    case CMARK_NODE_SOFTBREAK, CMARK_NODE_LINEBREAK: text.append(" ")
    case CMARK_NODE_CODE, CMARK_NODE_FOOTNOTE_REFERENCE: text.append(Self.gap)
    case CMARK_NODE_EMPH: isBehindDigit = text.last?.isDigit == true
    case CMARK_NODE_HTML_INLINE: append(tag: Self.literal(of: node))
    case CMARK_NODE_HTML_BLOCK: append(html: Self.literal(of: node))
    default: break
    }
  }

  private mutating func leave(_ node: OpaquePointer) {
    switch cmark_node_get_type(node) {
    case CMARK_NODE_EMPH: isBehindDigit = text.last?.isDigit == true
    case CMARK_NODE_PARAGRAPH, CMARK_NODE_HEADING: finish(row: nil)
    // The types of extensions have no names in C.
    case _ where String(cString: cmark_node_get_type_string(node)) == "table_cell":
      finish(row: cmark_node_parent(node))
    default: break
    }
  }

  private mutating func finish(row: OpaquePointer?) {
    blocks.append((text, row))
    (text, code) = ([], [:])
  }

  private mutating func append(_ words: String) {
    if isBehindDigit, words.unicodeScalars.first?.isDigit == true { text.append("*") }
    isBehindDigit = false
    var scalars = VisibleScalars(words)
    var last: Unicode.Scalar = " "
    var isControl = false
    while let (scalar, isShown) = scalars.next() {
      if isControl {
        // What would colour a terminal (ECMA-48, 5.4) goes whole.
        isControl = 0x20...0x3f ~= scalar.value
      } else if last == "\u{1b}", scalar == "[" {
        isControl = true
        text.removeLast()
      } else if scalar.properties.isWhitespace || scalar.value < 32 || scalar == "\u{fffd}" {
        text.append(" ")
      } else if isShown {
        text.append(scalar)
      }
      last = scalar
    }
  }

  // MARK: - HTML

  private static let hidden: Set<String> = ["code", "pre", "script", "style"]
  private static let breaks: Set<String> = ["br", "div", "hr", "li", "p", "td", "th", "tr"]

  private mutating func append(tag: String) {
    let name = tag.drop { "</".contains($0) }.prefix { $0.isLetter }.lowercased()
    if tag.hasPrefix("<!--") { text.append(Self.gap) }
    if Self.breaks.contains(name) { text.append(" ") }
    guard Self.hidden.contains(name) else { return }
    if !tag.hasPrefix("</") {
      code[name] = code[name] ?? text.count
    } else if let start = code.removeValue(forKey: name), start <= text.count {
      text.removeSubrange(start...)
      text.append(Self.gap)
    }
  }

  /// Appends the words of lines of HTML. They are one paragraph.
  private mutating func append(html: String) {
    var html = html.utf8.map { $0 == 10 || $0 == 13 ? 32 : $0 }[...]
    for (start, end) in [
      ("<!--", "-->"), ("<pre", "</pre>"), ("<script", "</script>"), ("<style", "</style>"),
    ] where Self.begins(html, start) {
      let place = html.indices.last { Self.begins(html[$0...], end) }
      html = place.map { html[($0 + end.utf8.count)...] } ?? []
    }
    // Behind what could not be seen a tag begins no lines of HTML.
    if !html.isEmpty { blocks += Markdown(Array("\u{200b}".utf8) + html).blocks }
  }

  /// Whether HTML begins with a tag, in whatever case.
  private static func begins(_ html: ArraySlice<UInt8>, _ tag: String) -> Bool {
    html.starts(with: tag.utf8) { $0 | 0x20 == $1 | 0x20 }
  }

  // MARK: - Nodes

  private static func literal(of node: OpaquePointer) -> String {
    cmark_node_get_literal(node).map { String(cString: $0) } ?? ""
  }

  private static func fence(of node: OpaquePointer) -> [UInt8] {
    var (length, offset, mark): (Int32, Int32, CChar) = (0, 0, 0)
    guard cmark_node_get_type(node) == CMARK_NODE_CODE_BLOCK,
      cmark_node_get_fenced(node, &length, &offset, &mark) != 0
    else { return [] }
    return Array(repeating: UInt8(bitPattern: mark), count: Int(length)) + [10]
  }
}

/// The characters that a name stands for in HTML (`eacute`), as the HTML standard of WHATWG has it,
/// section 13.5; nil for a name that stands for nothing.
public func characters(named name: String) -> String? {
  guard !name.isEmpty, name.utf8.allSatisfy(\.isAlphanumeric) else { return nil }
  let reference = "&\(name);"
  let document = cmark_parse_document(reference, reference.utf8.count, CMARK_OPT_DEFAULT)
  defer { cmark_node_free(document) }
  let leaf = cmark_node_first_child(cmark_node_first_child(document))
  let text = cmark_node_get_literal(leaf).map { String(cString: $0) }
  return text == reference ? nil : text
}
