import Core

extension InputPieces {
  /// Of a record no more is read, bytes; a longer line is passed over.
  static let longestRecord = 16 << 20

  enum Part {
    case mail(UnsafeRawBufferPointer, isQuoted: Bool)
    /// A line, nil for one that is too long.
    case record(UnsafeRawBufferPointer?)
  }

  /// How long the byte order mark is that some editors put in front of a file.
  static func mark(_ start: some Sequence<UInt8>) -> Int {
    start.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
  }

  /// Hands over each mail or record, until there is enough.
  func read(_ body: (Part, _ number: Int) throws -> Bool) throws {
    if let reason = try first({ ForeignText.reason(of: $0) }) { throw Failure(reason) }
    let (isMailbox, isMail) = try first { start in
      let start = UnsafeRawBufferPointer(rebasing: start.dropFirst(Self.mark(start)))
      let line = UnsafeRawBufferPointer(rebasing: start[..<(start.placeOfLineFeed ?? start.count)])
      return (line.starts(with: "From ".utf8), MailHeader.isField(line))
    }
    if isMailbox || isMail {
      try mails(isMailbox: isMailbox, body)
    } else {
      // Also where the first of them is bad.
      try records(body)
    }
  }

  private func records(_ body: (Part, Int) throws -> Bool) throws {
    var line: [UInt8] = []
    var number = 0
    var isTooLong = false
    var goesOn = true
    while goesOn,
      try next({ piece in
        isTooLong = isTooLong || line.count + piece.bytes.count > Self.longestRecord
        if !isTooLong { line += piece.bytes }
        guard piece.isEnd else { return }
        number += 1
        if line.last == 10 { line.removeLast() }
        if number == 1 { line.removeFirst(Self.mark(line)) }
        if isTooLong {
          goesOn = try body(.record(nil), number)
        } else if !line.allSatisfy({ $0.isBlank || $0 == 13 }) {
          goesOn = try line.withUnsafeBytes { try body(.record($0), number) }
        }
        line.removeAll(keepingCapacity: line.capacity < 1 << 20)
        isTooLong = false
      })
    {}
  }

  private func mails(isMailbox: Bool, _ body: (Part, Int) throws -> Bool) throws {
    var mail: [UInt8] = []
    var number = 0
    var goesOn = true
    // An empty line stands in front of the next.
    var wasEmpty = true
    func end() throws {
      guard number > 0 else { return }
      goesOn = try mail.withUnsafeBytes { try body(.mail($0, isQuoted: isMailbox), number) }
      mail.removeAll(keepingCapacity: true)
    }
    while goesOn,
      try next({ piece in
        let bytes = piece.bytes.dropFirst(number == 0 ? Self.mark(piece.bytes) : 0)
        let isNext = piece.isStart && wasEmpty && (number == 0 || Self.isSeparator(bytes))
        if isMailbox, isNext {
          try end()
          number += 1
        } else if number == 0 {
          number = 1
        }
        wasEmpty =
          piece.isStart && piece.isEnd && piece.bytes.allSatisfy { $0 == 10 || $0 == 13 }
        mail += bytes.prefix(Item.mostOfMail - mail.count)
      })
    {}
    if goesOn { try end() }
  }

  /// Whether a line stands in front of a mail: `From SENDER DATE`, where the date is as of
  /// ctime(3), or an address alone. A sentence that begins so is text.
  private static func isSeparator(_ line: some Sequence<UInt8>) -> Bool {
    let line = Array(line.prefix(1000).prefix { $0 != 10 && $0 != 13 })
    guard line.starts(with: "From ".utf8) else { return false }
    let words = String(decoding: line.dropFirst(5), as: UTF8.self).split(separator: " ")
    if words.count == 1 { return words[0].utf8.contains(UInt8(ascii: "@")) }
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    return words.indices.dropFirst().dropLast(3).contains { index in
      days.contains(String(words[index])) && words[index + 1].utf8.count == 3
        && Int(words[index + 2]) != nil && words[index + 3].utf8.contains(UInt8(ascii: ":"))
    }
  }
}
