import Core

/// The header of a mail or of one of its parts (RFC 5322, section 2.2): those fields that are
/// asked for here, the first of each name.
struct MailHeader {
  /// What was kept, by names in lower case; unfolded, and raw.
  private var fields: [String: [UInt8]] = [:]
  private(set) var body: Int
  /// Whether it was longer than `mostBytes`. There is no body then.
  private(set) var isCut = false
  private(set) var isEmpty = true

  /// The longest header that is read, and the longest field, bytes.
  static let mostBytes = 256 << 10
  static let mostOfField = 32 << 10

  private static let wanted: Set<String> = [
    "from", "sender", "to", "cc", "delivered-to", "x-original-to", "subject", "date",
    "message-id", "in-reply-to", "references", "list-id", "precedence", "auto-submitted",
    "content-type", "content-transfer-encoding", "content-disposition",
  ]

  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    let limit = min(range.upperBound, range.lowerBound + Self.mostBytes)
    var lines = MailLines(bytes, range.lowerBound..<limit)
    body = range.upperBound
    var name: String?
    var isFirst = true
    while true {
      let start = lines.place
      let line = lines.next()
      if lines.place == limit, limit < range.upperBound {
        isCut = true
        return
      }
      guard let line else { return }
      defer { isFirst = false }
      if line.isEmpty {
        body = lines.place
        return
      }
      if bytes[line.lowerBound].isBlank, !isFirst {
        add(bytes[line], to: name)
        continue
      }
      guard let colon = Self.colon(bytes, line) else {
        // The line that a mailbox has in front.
        if isFirst, bytes[line].starts(with: "From ".utf8) { continue }
        // Who forgets the line between them has a body that begins here.
        body = start
        return
      }
      isEmpty = false
      let raw = bytes[line.lowerBound..<colon.name]
      name = String(decoding: raw, as: UTF8.self).lowercased()
      if let found = name, Self.wanted.contains(found), fields[found] == nil {
        fields[found] = []
        add(bytes[colon.place + 1..<line.upperBound], to: name)
      } else {
        name = nil
      }
    }
  }

  static func isField(_ line: UnsafeRawBufferPointer) -> Bool {
    colon(line, 0..<line.count) != nil
  }

  private static func colon(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>
  ) -> (place: Int, name: Int)? {
    // A brace begins a record, which may lie where mails are.
    guard let place = bytes[line].firstIndex(of: UInt8(ascii: ":")),
      bytes[line].first != UInt8(ascii: "{")
    else { return nil }
    var end = place
    while end > line.lowerBound, bytes[end - 1].isBlank { end -= 1 }
    let name = bytes[line.lowerBound..<end]
    guard !name.isEmpty, name.count <= 100, name.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      return nil
    }
    return (place, end)
  }

  private mutating func add(_ bytes: Slice<UnsafeRawBufferPointer>, to name: String?) {
    guard let name, let count = fields[name]?.count else { return }
    fields[name]?.append(contentsOf: bytes.prefix(Self.mostOfField - count))
  }

  /// Without blanks around it, its encoded words as they are; nil when it is missing.
  func raw(_ name: String) -> String? {
    fields[name].map { Charset.guess($0).trimmed }
  }

  func text(_ name: String) -> String? { raw(name).map(EncodedWords.decode) }
}
