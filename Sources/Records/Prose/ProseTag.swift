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
    let other = searches.next(UInt8(ascii: "<"), from: start + 1, in: bytes) ?? bytes.count
    let inner = bytes[(start + 1)..<close]
    let isAddress =
      other > close && !inner.contains { $0 <= 32 } && inner.contains { $0 == 0x3a || $0 == 0x40 }
    if isAddress {
      (end, isGap) = (close + 1, true)
      return
    }
    if !first.isLetter, first != UInt8(ascii: "/") {
      guard other > close else { return nil }
      end = close + 1
      return
    }
    guard let tag = Self.scan(bytes, start + 1) else { return nil }
    let word = String(decoding: bytes[tag.name], as: UTF8.self).lowercased()
    if first.isLetter, Self.code.contains(word),
      let end = searches.end(of: "</\(word)>", from: tag.end, in: bytes)
    {
      (self.end, isGap) = (end, true)
      return
    }
    end = tag.end
    isSpace = Self.blocks.contains(word)
  }

  /// What stands behind the `<` of a tag (CommonMark 0.31, 6.6); nil when it is none: `a<b && c>d`.
  private static func scan(_ bytes: [UInt8], _ start: Int) -> (name: Range<Int>, end: Int)? {
    var at = start
    func byte() -> UInt8 { at < bytes.count ? bytes[at] : 0 }
    func skip(while isWanted: (UInt8) -> Bool) {
      while at < bytes.count, isWanted(bytes[at]) { at += 1 }
    }
    let isClosing = byte() == UInt8(ascii: "/")
    if isClosing { at += 1 }
    guard byte().isLetter else { return nil }
    let name = at
    skip { $0.isLetter || $0.isDigit || $0 == 45 }
    let range = name..<at
    while true {
      let before = at
      skip { $0 <= 32 }
      if !isClosing, byte() == UInt8(ascii: "/") {
        at += 1
        return byte() == UInt8(ascii: ">") ? (range, at + 1) : nil
      }
      if byte() == UInt8(ascii: ">") { return (range, at + 1) }
      // An attribute, behind a space.
      guard !isClosing, at > before, byte().isLetter || byte() == 0x3a || byte() == 0x5f else {
        return nil
      }
      skip { $0.isLetter || $0.isDigit || ":_.-".utf8.contains($0) }
      let end = at
      skip { $0 <= 32 }
      guard byte() == UInt8(ascii: "=") else {
        at = end
        continue
      }
      at += 1
      skip { $0 <= 32 }
      let quote = byte()
      let from = at
      if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        at += 1
        skip { $0 != quote }
        guard at < bytes.count else { return nil }
        at += 1
      } else {
        skip { $0 > 32 && !"\"'=<>`".utf8.contains($0) }
        guard at > from else { return nil }
      }
    }
  }

  /// Elements whose text is not for a reader, or is code.
  private static let code: Set<String> = ["code", "pre", "script", "style"]
  private static let blocks: Set<String> = ["br", "div", "hr", "li", "p", "td", "th", "tr"]
}
