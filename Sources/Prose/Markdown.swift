import CCMark
import Core
import Synchronization

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
