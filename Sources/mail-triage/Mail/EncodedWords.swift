/// The words of a header that are not ASCII, `=?utf-8?Q?caf=C3=A9?=` (RFC 2047).
enum EncodedWords {
  /// A header's text with its encoded words decoded, and the blanks between two of them
  /// left out. Those with a character set that is not known stay as they are.
  static func decode(_ header: String) -> String {
    let text = Array(header.utf8)
    var out = ""
    var plain: [UInt8] = []
    var word: (charset: Charset, bytes: [UInt8])?
    // Bytes of one character may stand in two words.
    func flush() {
      if let word { out += word.charset.text(word.bytes) }
      out += String(decoding: plain, as: UTF8.self)
      (word, plain) = (nil, [])
    }
    var at = 0
    while at < text.count {
      guard text[at] == UInt8(ascii: "="), let found = self.word(text, at) else {
        plain.append(text[at])
        at += 1
        continue
      }
      at = found.end
      if let last = word, plain.allSatisfy(\.isBlank) {
        plain = []
        if last.charset == found.charset {
          word = (last.charset, last.bytes + found.bytes)
          continue
        }
      }
      flush()
      word = (found.charset, found.bytes)
    }
    flush()
    return out
  }

  /// What is longer, without an end, is none, bytes: 75 are allowed.
  private static let mostOfWord = 2000

  private static func word(
    _ text: [UInt8], _ start: Int
  ) -> (charset: Charset, bytes: [UInt8], end: Int)? {
    let question = UInt8(ascii: "?")
    guard start + 1 < text.count, text[start + 1] == question else { return nil }
    // The names of character sets have 40 letters at most; a language may follow.
    let from = start + 2
    let most = min(text.count, from + 60)
    guard let middle = text[from..<most].firstIndex(of: question), middle + 2 < text.count,
      text[middle + 2] == question,
      let charset = Charset(String(decoding: text[from..<middle], as: UTF8.self))
    else { return nil }
    // There are programs that leave blanks in it.
    let code = text[(middle + 3)...].prefix(mostOfWord)
    guard let end = code.firstIndex(of: question), end + 1 < text.count,
      text[end + 1] == UInt8(ascii: "=")
    else { return nil }
    let bytes: [UInt8]
    switch text[middle + 1] | 0x20 {
    case UInt8(ascii: "q"): bytes = TransferCode.wordQ(code[..<end])
    case UInt8(ascii: "b"): bytes = TransferCode.base64(code[..<end])
    default: return nil
    }
    return (charset, bytes, end + 2)
  }
}
