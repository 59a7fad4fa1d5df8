/// A piece of a text of JSON that its sender may have cut in the middle of a character: many
/// count in units of UTF-16, of which a character beyond U+FFFF has two (RFC 8259, section 8.2).
public struct TextPiece: Equatable, Sendable {
  /// The second half of a character, with which the piece begins; nil mostly.
  var low: UInt32?
  var text: String
  /// The first half of a character, with which the piece ends; nil mostly.
  var high: UInt32?

  /// Whether there is nothing in it.
  public var isEmpty: Bool { text.isEmpty && low == nil && high == nil }
}

extension ScanValue {
  /// The text of a string with the halves at its ends; nil for anything else.
  public var piece: TextPiece? {
    guard isString, let text = string else { return nil }
    return TextPiece(text, Halves(of: bytes.dropFirst().dropLast()))
  }
}

extension JSONValue {
  /// The text of a string with the halves at its ends; nil for anything else.
  public var piece: TextPiece? { string.map { TextPiece($0, halves) } }
}

/// The halves of characters at the ends of a string.
struct Halves: Equatable, Sendable {
  var low: UInt32?
  var high: UInt32?

  init() {}

  init(of raw: Slice<UnsafeRawBufferPointer>) {
    let raw = UnsafeRawBufferPointer(rebasing: raw)
    guard raw.count >= 6, let start = raw.baseAddress?.assumingMemoryBound(to: UInt8.self)
    else { return }
    let end = start + raw.count
    if let unit = ScanString.hexUnit(start, end), unit & 0xfc00 == 0xdc00 { low = unit }
    guard let unit = ScanString.hexUnit(end - 6, end), unit & 0xfc00 == 0xd800 else { return }
    // A backslash that another one escapes begins nothing.
    var slash = end - 6
    while slash > start, slash[-1] == UInt8(ascii: "\\") { slash -= 1 }
    if (end - 6 - slash) % 2 == 0 { high = unit }
  }
}

extension TextPiece {
  fileprivate init(_ text: String, _ halves: Halves) {
    self.text = text
    let hasLow = halves.low != nil && text.unicodeScalars.first == "\u{fffd}"
    if hasLow { self.text.unicodeScalars.removeFirst() }
    let hasHigh = halves.high != nil && self.text.unicodeScalars.last == "\u{fffd}"
    if hasHigh { self.text.unicodeScalars.removeLast() }
    (low, high) = (hasLow ? halves.low : nil, hasHigh ? halves.high : nil)
  }
}

extension TextPiece: ExpressibleByStringLiteral {
  /// A piece that is not cut in a character.
  public init(stringLiteral text: String) { self.init(low: nil, text: text, high: nil) }
}

/// Puts together the characters that were cut in two between the pieces of texts.
public struct SplitText: Sendable {
  private var halves: [String: UInt32] = [:]

  private static let most = 1000

  public init() {}

  /// What is to be appended to a text. A half at its end waits for the next piece; one that
  /// finds no other becomes U+FFFD.
  ///
  /// - Parameter name: which text it is a piece of.
  public mutating func next(_ piece: TextPiece, of name: @autoclosure () -> String = "") -> String {
    if piece.isEmpty || halves.isEmpty && piece.low == nil && piece.high == nil {
      return piece.text
    }
    let name = name()
    var text = piece.text
    switch (halves.removeValue(forKey: name), piece.low) {
    case (let high?, let low?):
      let scalar = Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
      text = scalar.map { String(Character($0)) + text } ?? text
    case (nil, nil): break
    default: text = "\u{fffd}" + text
    }
    if let high = piece.high {
      if halves.count >= Self.most { halves = [:] }
      halves[name] = high
    }
    return text
  }

  /// A text has ended, or begins anew.
  ///
  /// - Returns: what its half is shown as that found no other: U+FFFD, else nothing.
  @discardableResult
  public mutating func end(_ name: String = "") -> String {
    halves.isEmpty || halves.removeValue(forKey: name) == nil ? "" : "\u{fffd}"
  }
}
