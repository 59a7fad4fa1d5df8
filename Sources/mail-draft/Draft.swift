import Core

struct Draft {
  struct Field {
    let bytes: [UInt8]

    /// In small letters.
    var name: String {
      String(decoding: bytes.prefix { $0 != UInt8(ascii: ":") && !isBlank($0) }, as: UTF8.self)
        .lowercased()
    }

    var line: [UInt8] {
      let lines = bytes.split(separator: 10)
      return Array(lines.map { Array($0.drop(while: isBlank)) }.joined(separator: [32]))
    }

    var text: [UInt8] {
      let text = line.drop { $0 != UInt8(ascii: ":") }.dropFirst()
      return Array(text.trimming(isBlank))
    }

    var isOfRecipients: Bool {
      ["to", "cc", "bcc"].contains(name.without("resent-")) || name == "apparently-to"
    }

    var isTold: Bool {
      isOfRecipients || ["from", "sender"].contains(name.without("resent-"))
        || name.hasSuffix("-to") || name == "subject" || name == "content-type"
    }
  }

  var fields: [Field] = []
  var body: ArraySlice<UInt8> = []

  private static let longest = 100_000

  /// A mail, or a text. The header ends at a line that is none of it, as it does for those who
  /// send it. A text may begin with what looks like a field, a mail has one of those that every
  /// mail has.
  init(_ given: [UInt8]) throws(Failure) {
    // No NUL and no CR: some would take one for the end of a line, and others not.
    let text = given.contains { $0 == 0 || $0 == 13 } ? given.filter { $0 != 0 && $0 != 13 } : given
    let known = ["from", "to", "cc", "bcc", "subject"]
    var rest = text[...]
    if rest.starts(with: Array("From ".utf8)) { rest = rest.drop { $0 != 10 }.dropFirst() }
    let start = rest.startIndex
    while !rest.isEmpty {
      let line = rest.prefix(Self.longest + 1).prefix { $0 != 10 }
      let isMore = line.first.map(isBlank) == true && !fields.isEmpty
      if line.allSatisfy(isBlank) {
        rest = rest.dropFirst(line.count + 1)
        break
      }
      guard isMore || Self.isField(line) else { break }
      let old = isMore ? fields.removeLast().bytes + [10] : []
      fields.append(Field(bytes: old + line))
      rest = rest.dropFirst(line.count + 1)
      if rest.startIndex - start > Self.longest {
        guard fields.contains(where: { known.contains($0.name) }) else { break }
        throw Failure("not a draft: its header is longer than 100,000 bytes")
      }
    }
    if !fields.contains(where: { known.contains($0.name) }) { (fields, rest) = ([], text[...]) }
    body = rest
    if let last = body.last, last != 10 { body.append(10) }
  }

  private static func isField(_ line: ArraySlice<UInt8>) -> Bool {
    let name = line.prefix(1000).prefix { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ":") }
    return !name.isEmpty && line[name.endIndex...].first { !isBlank($0) } == UInt8(ascii: ":")
  }

  /// What an agent wrote: a record with `to`, `cc`, `bcc`, `subject` and `body` or `text`. An
  /// address is a text, or an object with `email` and perhaps `name`. Whatever a member holds, it is
  /// one field: a line end in it is a blank.
  static func mail(record text: String) throws(Failure) -> [UInt8] {
    guard let record = try? JSONValue.parse(text: text) else {
      throw Failure("not a draft: not one record")
    }
    func line(_ value: JSONValue) throws(Failure) -> String {
      guard let text = value.isObject ? try address(value) : value.string else {
        throw Failure("not a draft: not a text")
      }
      var line = ""
      for scalar in text.unicodeScalars {
        line.unicodeScalars.append(scalar.value < 32 || scalar.value == 127 ? " " : scalar)
      }
      return line
    }
    /// `{"email":"ada@example.org","name":"Ada"}`.
    func address(_ value: JSONValue) throws(Failure) -> String {
      guard let email = value["email"]?.string, !email.isEmpty else {
        throw Failure("not a draft: an address without an email")
      }
      // It would be another recipient, or a part of the name.
      let marks = Array("<>,;\"()".utf8)
      if email.utf8.contains(where: { $0 <= 32 || $0 == 127 || marks.contains($0) }) {
        throw Failure("not a draft: not an address: \(email)")
      }
      guard let name = value["name"]?.string, !name.isEmpty else { return email }
      let quoted = name.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
      return "\"\(quoted)\" <\(email)>"
    }
    var mail = ""
    for name in ["To", "Cc", "Bcc", "Subject"] {
      guard let value = record[name.lowercased()], !value.isNull else { continue }
      if name == "Subject", value.string == nil { throw Failure("not a draft: not a text") }
      let values = value.kind == .array ? value.elements : [value]
      let lines = try values.map { value throws(Failure) in try line(value) }
      mail += "\(name): \(lines.joined(separator: ", "))\n"
    }
    let body = [record["body"], record["text"]].compactMap { $0 }.first { !$0.isNull }
    guard let text = body == nil ? "" : body?.string else {
      throw Failure("not a draft: not a text")
    }
    return Array("\(mail)\n\(text)\n".utf8)
  }

  mutating func set(_ name: String, _ text: String) {
    fields.removeAll { $0.name == name.lowercased() }
    fields.append(Field(bytes: FileName.bytes("\(name): \(text)")))
  }

  mutating func fill() {
    for name in ["To", "Subject"] where !fields.contains(where: { $0.name == name.lowercased() }) {
      set(name, "")
    }
  }

  var bytes: [UInt8] { fields.flatMap { $0.bytes + [10] } + [10] + body }

  var hasRecipient: Bool { fields.contains { $0.isOfRecipients && !$0.text.isEmpty } }
}

func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

extension String {
  fileprivate func without(_ start: String) -> String {
    hasPrefix(start) ? String(dropFirst(start.count)) : self
  }
}

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
