import Core

/// The secrets that went to a server and that must not be quoted from what it sends
/// back, in any spelling in which a server gives a text back: as it is, in another
/// case, percent-encoded, escaped as JSON or HTML, in base64 or hexadecimal.
public struct SecretMask: Sendable, Equatable {
  /// What a secret is replaced with.
  public static let cover = "(secret)"
  /// Shorter secrets are looked for as they are: other spellings would hide words.
  private static let shortest = 4

  /// Looked for in any case and with escapes, unless they are short.
  private var words: [[UInt8]] = []
  /// Looked for byte by byte.
  private var codes: [[UInt8]] = []

  /// - Parameter secrets: in any order; empty ones are passed over.
  public init(_ secrets: [String] = []) {
    for secret in secrets where !secret.isEmpty {
      let bytes = Array(secret.utf8)
      if bytes.count < Self.shortest {
        codes.append(bytes)
        continue
      }
      words.append(bytes)
      words.append(Array(bytes.hex.utf8))
      codes += Self.base64(bytes)
    }
  }

  /// The text without the secrets.
  public func hide(_ text: String) -> String {
    if words.isEmpty && codes.isEmpty { return text }
    let bytes = Array(text.utf8)
    var out: [UInt8] = []
    var start = 0
    var position = 0
    while position < bytes.count {
      guard let end = secretEnd(bytes, position) else {
        position += 1
        continue
      }
      out += bytes[start..<position]
      out += Self.cover.utf8
      (position, start) = (end, end)
    }
    if start == 0 { return text }
    out += bytes[start...]
    return String(decoding: out, as: UTF8.self)
  }

  /// Where the longest secret ends that begins here; nil when none does.
  private func secretEnd(_ text: [UInt8], _ start: Int) -> Int? {
    let rest = text[start...]
    var end = codes.filter { rest.starts(with: $0) }.map { start + $0.count }.max()
    for word in words where Self.canBegin(word[0], with: text[start]) {
      var places: Set<Int> = [start]
      for byte in word where !places.isEmpty {
        places = places.reduce(into: []) { Self.ends(of: byte, in: text, at: $1, into: &$0) }
      }
      if let place = places.max() { end = max(end ?? 0, place) }
    }
    return end
  }

  /// The characters that any base64 of a text with these bytes in it holds, for each
  /// of the three places at which they can begin, in both alphabets (RFC 4648).
  private static func base64(_ secret: [UInt8]) -> [[UInt8]] {
    var codes: [[UInt8]] = []
    for offset in 0..<3 {
      let bytes = [UInt8](repeating: 0, count: offset) + secret
      for text in [Base64.text(bytes), Base64.url(bytes)] {
        let code = text.utf8.prefix(bytes.count * 8 / 6).dropFirst((offset * 8 + 5) / 6)
        if code.count >= shortest, !codes.contains(Array(code)) { codes.append(Array(code)) }
      }
    }
    return codes
  }
}

extension SecretMask {
  private static func canBegin(_ byte: UInt8, with first: UInt8) -> Bool {
    lower(first) == lower(byte) || "+%\\&".utf8.contains(first)
  }

  private static func ends(
    of byte: UInt8, in text: [UInt8], at place: Int, into ends: inout Set<Int>
  ) {
    guard place < text.count else { return }
    let first = text[place]
    if lower(first) == lower(byte) { ends.insert(place + 1) }
    switch first {
    case UInt8(ascii: "+"):
      if byte == 32 { ends.insert(place + 1) }
    case UInt8(ascii: "%"):
      var digits = place + 1
      while let value = number(text, digits, 2, 16) {
        if value == byte { ends.insert(digits + 2) }
        digits += 2
        // A percent sign may itself be encoded, more than once.
        if value != UInt8(ascii: "%") { break }
      }
    case UInt8(ascii: "\\"):
      guard place + 1 < text.count else { return }
      if text[place + 1] == byte { ends.insert(place + 2) }
      if text[place + 1] == UInt8(ascii: "u"), byte < 0x80, number(text, place + 2, 4, 16) == byte {
        ends.insert(place + 6)
      }
      if text[place + 1] == UInt8(ascii: "x"), number(text, place + 2, 2, 16) == byte {
        ends.insert(place + 4)
      }
    case UInt8(ascii: "&"):
      if let end = entity(byte, text, place) { ends.insert(end) }
    default: break
    }
  }

  /// The end of `&amp;`, `&#38;` or `&#x26;` when it means the byte.
  private static func entity(_ byte: UInt8, _ text: [UInt8], _ place: Int) -> Int? {
    let name = text[(place + 1)...].prefix(8).prefix { $0 != UInt8(ascii: ";") }
    let end = name.endIndex
    guard end < text.count, text[end] == UInt8(ascii: ";") else { return nil }
    let names = [34: "quot", 38: "amp", 39: "apos", 60: "lt", 62: "gt"]
    if let known = names[Int(byte)], name.elementsEqual(known.utf8) { return end + 1 }
    guard name.first == UInt8(ascii: "#") else { return nil }
    let isHex = name.dropFirst().first.map(lower) == UInt8(ascii: "x")
    let start = name.startIndex + (isHex ? 2 : 1)
    return number(text, start, end - start, isHex ? 16 : 10) == byte ? end + 1 : nil
  }

  /// Nil when there are too few digits, or the number is too large for a byte.
  private static func number(_ text: [UInt8], _ start: Int, _ count: Int, _ base: Int) -> UInt8? {
    guard count > 0, start + count <= text.count else { return nil }
    return UInt8(String(decoding: text[start..<start + count], as: UTF8.self), radix: base)
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (65...90).contains(byte) ? byte | 32 : byte
  }
}
