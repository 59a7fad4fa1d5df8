/// What begins with `<` in a text and is not said: a tag of HTML, a comment, an address.
struct ProseTag {
  /// Where the text goes on.
  let end: Int
  /// Whether words of the text are left out with it.
  var isGap = false
  /// Whether it keeps apart what stands around it.
  var isSpace = false

  /// - Parameters:
  ///   - bytes: one block of Markdown.
  ///   - start: where a `<` stands.
  ///   - searches: what was found out about this block.
  /// - Returns: nil when it is only a sign.
  init?(_ bytes: [UInt8], _ start: Int, _ searches: inout ProseSearches) {
    let first = start + 1 < bytes.count ? bytes[start + 1] : 32
    guard first.isLetter || "/!?".utf8.contains(first) else { return nil }
    if bytes[start...].starts(with: "<!--".utf8) {
      guard let end = searches.end(of: "-->", from: start + 4, in: bytes) else { return nil }
      (self.end, isGap) = (end, true)
      return
    }
    guard let close = searches.next(UInt8(ascii: ">"), from: start, in: bytes) else { return nil }
    if let other = searches.next(UInt8(ascii: "<"), from: start + 1, in: bytes), other < close {
      return nil
    }
    let inner = bytes[(start + 1)..<close]
    let isClosing = inner.first == UInt8(ascii: "/")
    let name = inner.drop { $0 == UInt8(ascii: "/") }.prefix {
      $0.isLetter || $0.isDigit || $0 == 45
    }
    let next = name.endIndex < close ? bytes[name.endIndex] : 32
    let isAddress = !inner.contains { $0 <= 32 } && inner.contains { $0 == 0x3a || $0 == 0x40 }
    if isAddress {
      (end, isGap) = (close + 1, true)
      return
    }
    guard next <= 32 || next == UInt8(ascii: "/") || !first.isLetter else { return nil }
    let word = String(decoding: name, as: UTF8.self).lowercased()
    if !isClosing, Self.code.contains(word),
      let end = searches.end(of: "</\(word)>", from: close, in: bytes)
    {
      (self.end, isGap) = (end, true)
      return
    }
    end = close + 1
    isSpace = Self.blocks.contains(word)
  }

  /// Elements whose text is not for a reader, or is code.
  private static let code: Set<String> = ["code", "pre", "script", "style"]
  private static let blocks: Set<String> = ["br", "div", "hr", "li", "p", "td", "th", "tr"]
}
