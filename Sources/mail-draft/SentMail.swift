import Core

extension Draft {
  /// What is sent: a header that is not ASCII is marked as RFC 2047 and 2045 want it, and what
  /// nobody filled in is left out.
  var mail: [UInt8] {
    var mail: [UInt8] = []
    for field in fields {
      let text = field.text
      if text.isEmpty, ["to", "cc", "bcc", "subject"].contains(field.name) { continue }
      let isOdd = field.name == "subject" && text.contains { $0 > 127 }
      mail += isOdd ? Array("Subject: ".utf8) + Self.encodedWords(text) : field.bytes
      mail.append(10)
    }
    let isSaid = fields.contains { $0.name == "mime-version" || $0.name.hasPrefix("content-") }
    let coding = isSaid ? nil : coding
    if let coding {
      mail += Array(
        ("MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
          + "Content-Transfer-Encoding: \(coding)\n").utf8)
    }
    mail.append(10)
    switch coding {
    case "base64":
      for start in stride(from: body.startIndex, to: body.endIndex, by: 57) {
        mail += Array(Base64.text(Array(body[start..<min(start + 57, body.endIndex)])).utf8) + [10]
      }
    case "quoted-printable":
      for line in body.dropLast().split(separator: 10, omittingEmptySubsequences: false) {
        mail += Self.printable(line)
      }
    default: mail += body
    }
    return mail
  }

  /// RFC 5322, section 2.1.1.
  private var coding: String? {
    var longest = 0
    var length = 0
    var isOdd = false
    for byte in body {
      length = byte == 10 ? 0 : length + 1
      longest = max(longest, length)
      isOdd = isOdd || !(32...126).contains(byte) && byte != 9 && byte != 10
    }
    return longest > 100_000
      ? "base64" : longest > 998 ? "quoted-printable" : isOdd ? "8bit" : nil
  }

  private static func code(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }

  private static func encodedWords(_ text: [UInt8]) -> [UInt8] {
    var words: [[UInt8]] = [[]]
    for byte in text {
      // A word ends in front of a character, not in one.
      if words[words.count - 1].count > 48, byte & 0xc0 != 0x80 { words.append([]) }
      let isPlain =
        byte < 128 && (Character(UnicodeScalar(byte)).isLetter || (48...57).contains(byte))
      words[words.count - 1] += byte == 32 ? [UInt8(ascii: "_")] : isPlain ? [byte] : code(byte)
    }
    let marked = words.map { Array("=?utf-8?Q?".utf8) + $0 + Array("?=".utf8) }
    return Array(marked.joined(separator: Array("\n ".utf8)))
  }

  /// A line as quoted-printable (RFC 2045, section 6.7), in which no line is long.
  private static func printable(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    var column = 0
    for (index, byte) in zip(line.indices, line) {
      let isLast = index == line.endIndex - 1
      let isPlain =
        (33...126).contains(byte) && byte != UInt8(ascii: "=") || isBlank(byte) && !isLast
      let letters = isPlain ? [byte] : code(byte)
      // The last of a line needs no room for a sign behind it.
      if column + letters.count > (isLast ? 76 : 75) {
        text += [UInt8(ascii: "="), 10]
        column = 0
      }
      text += letters
      column += letters.count
    }
    return text + [10]
  }
}
