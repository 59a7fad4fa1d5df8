import Core

/// What the body of a mail says first: its text, and what else came with it (RFC 2045, 2046).
struct MailBody {
  private(set) var text: String?
  private(set) var hasAttachment = false
  private(set) var hasCalendar = false
  private var html: String?
  private let bytes: UnsafeRawBufferPointer
  private var parts = 0

  /// Parts and levels beyond these are not looked at, nor is more of a text, in bytes.
  static let mostParts = 100
  static let mostLevels = 8
  static let mostOfText = 64 << 10
  /// The longest text that is kept, scalars.
  static let mostKept = 16 << 10

  init(_ bytes: UnsafeRawBufferPointer, _ header: MailHeader, end: Int) {
    self.bytes = bytes
    look(at: header, end, level: 0)
    if text == nil { text = html }
  }

  private mutating func look(at header: MailHeader, _ end: Int, level: Int) {
    parts += 1
    var type = ContentType(header.raw("content-type") ?? "text/plain")
    let range = min(header.body, end)..<end
    if type.kind == "multipart" {
      if level >= Self.mostLevels { return }
      // What is damaged is guessed: a boundary by the first line that looks like one.
      let named = type["boundary"].map { Array("--\($0)".utf8) } ?? []
      if (3...202).contains(named.count), split(range, named, level) { return }
      if let guessed = boundary(range), split(range, guessed, level) { return }
      type = ContentType("text/plain")
    } else if !type.isWhole {
      type = type.asPlain
    }
    let disposition = ContentType(header.raw("content-disposition"))
    if type.value == "text/calendar" { hasCalendar = true }
    if disposition.value == "attachment" || type.kind != "text" && disposition.value != "inline" {
      hasAttachment = true
      return
    }
    guard type.kind == "text", text == nil else { return }
    let isHTML = type.value == "text/html"
    guard isHTML ? html == nil : type.value == "text/plain" else { return }
    let found = text(range, header, type)
    if isHTML {
      let plain = HTMLText.plain(found)
      if !plain.allSatisfy(\.isWhitespace) { html = PlainText.kept(plain, most: Self.mostKept) }
    } else if !found.allSatisfy(\.isWhitespace) {
      text = PlainText.kept(found, most: Self.mostKept)
    }
  }

  private func boundary(_ range: Range<Int>) -> [UInt8]? {
    var lines = MailLines(bytes, range)
    while let line = lines.next() {
      let text = bytes[line].reversed().drop(while: \.isBlank).reversed()
      if (4...202).contains(text.count), text.starts(with: "--".utf8),
        !text.contains(where: \.isBlank), text.contains(where: \.isAlphanumeric)
      {
        return Array(text)
      }
    }
    return nil
  }

  /// Whether there was a part.
  private mutating func split(_ range: Range<Int>, _ boundary: [UInt8], _ level: Int) -> Bool {
    let before = parts
    var lines = MailLines(bytes, range)
    var start: Int?
    var last = range.lowerBound
    while parts < Self.mostParts {
      let place = lines.place
      guard let line = lines.next() else { break }
      guard line.count >= boundary.count, bytes[line].starts(with: boundary) else { continue }
      var rest = bytes[line].dropFirst(boundary.count)
      let isEnd = rest.starts(with: "--".utf8)
      if isEnd { rest = rest.dropFirst(2) }
      guard rest.allSatisfy(\.isBlank) else { continue }
      // The line end before a boundary belongs to the boundary.
      if let start { part(start..<max(start, place - 1), level) }
      start = isEnd ? nil : lines.place
      last = lines.place
      if isEnd { return parts > before }
    }
    // What is cut has no end.
    if let start, parts < Self.mostParts { part(start..<max(last, range.upperBound), level) }
    return parts > before
  }

  private mutating func part(_ range: Range<Int>, _ level: Int) {
    look(at: MailHeader(bytes, range), range.upperBound, level: level + 1)
  }

  private func text(_ range: Range<Int>, _ header: MailHeader, _ type: ContentType) -> String {
    let source = Array(bytes[range].prefix(Self.mostOfText))
    let raw: [UInt8]
    switch ContentType(header.raw("content-transfer-encoding")).value {
    case "base64": raw = TransferCode.base64(source)
    case "quoted-printable": raw = TransferCode.quotedPrintable(source)
    default: raw = source
    }
    guard let charset = type["charset"].flatMap({ Charset($0) }) else { return Charset.guess(raw) }
    return charset.text(raw)
  }
}
