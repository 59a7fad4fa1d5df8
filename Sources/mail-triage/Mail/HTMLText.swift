import Core
import Prose

/// What a page of HTML says, without its tags. Enough for a preview: nothing is laid out, and
/// what is hidden by a style is not.
enum HTMLText {
  private static let silent: Set<String> = ["script", "style", "title"]
  private static let blocks: Set<String> = [
    "address", "article", "blockquote", "br", "dd", "div", "dt", "footer", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "li", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul",
  ]

  static func plain(_ html: String) -> String {
    let bytes = Array(html.utf8)
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var at = 0
    // Where nothing more ends, it is not looked for at every beginning.
    var hasEnd = true
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "<"), hasEnd, let tag = tag(bytes, at, &hasEnd) {
        if blocks.contains(tag.name) { out.append(0x20) }
        let isOpen = bytes[at + 1] != UInt8(ascii: "/")
        at = isOpen && silent.contains(tag.name) ? silence(bytes, tag) : tag.end
      } else if byte == UInt8(ascii: "&"), let (text, end) = reference(bytes, at) {
        out += text.utf8
        at = end
      } else {
        out.append(byte)
        at += 1
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// A tag or a comment that begins at a `<`; nil for a `<` of the text.
  private static func tag(
    _ bytes: [UInt8], _ start: Int, _ hasEnd: inout Bool
  ) -> (name: String, end: Int)? {
    var at = start + 1
    if bytes[at...].starts(with: "!--".utf8) {
      // One without an end hides all that follows, as in a browser.
      return ("", find("-->", bytes, at + 3) ?? bytes.count)
    }
    guard at < bytes.count else { return nil }
    if bytes[at] == UInt8(ascii: "/") { at += 1 }
    guard at < bytes.count,
      bytes[at] | 0x20 >= 0x61 && bytes[at] | 0x20 <= 0x7a
        || bytes[at] == UInt8(ascii: "!") || bytes[at] == UInt8(ascii: "?")
    else { return nil }
    let name = bytes[at...].prefix(16).prefix { $0.isAlphanumeric }
    guard let close = bytes[at...].firstIndex(of: UInt8(ascii: ">")) else {
      hasEnd = false
      return nil
    }
    return (String(decoding: name, as: UTF8.self).lowercased(), close + 1)
  }

  /// The end tag of an element without text, or the end of all.
  private static func silence(_ bytes: [UInt8], _ tag: (name: String, end: Int)) -> Int {
    find("</\(tag.name)", bytes, tag.end).map { $0 - tag.name.utf8.count - 2 } ?? bytes.count
  }

  /// Where the first of a text ends, in any case of its letters.
  private static func find(_ text: String, _ bytes: [UInt8], _ start: Int) -> Int? {
    let wanted = Array(text.utf8)
    var at = start
    while at + wanted.count <= bytes.count {
      if bytes[at] == wanted[0],
        zip(bytes[at...], wanted).allSatisfy({ $0 == $1 || $1.isAlphanumeric && $0 | 0x20 == $1 })
      {
        return at + wanted.count
      }
      at += 1
    }
    return nil
  }

  private static let usual = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
    "nbsp": " ", "ensp": " ", "emsp": " ", "thinsp": " ", "shy": "", "zwnj": "", "zwj": "",
    "lrm": "", "rlm": "", "ZeroWidthSpace": "",
  ]

  /// A reference to a character that begins at a `&`.
  private static func reference(_ bytes: [UInt8], _ start: Int) -> (text: String, end: Int)? {
    let code = bytes[(start + 1)...].prefix(40)
    guard let close = code.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let word = String(decoding: code[..<close], as: UTF8.self)
    if !word.hasPrefix("#") {
      return (usual[word] ?? characters(named: word)).map { ($0, close + 1) }
    }
    let isHex = word.hasPrefix("#x") || word.hasPrefix("#X")
    guard let number = UInt32(word.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10),
      number > 0, let scalar = Unicode.Scalar(number)
    else { return nil }
    return (String(scalar), close + 1)
  }
}
