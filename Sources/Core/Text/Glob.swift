/// A pattern for the whole of a text: `*` is anything, `?` one character. With sets, `[...]` is
/// one of some bytes as the shell knows them, and a backslash takes the next character as it is.
public struct Glob: Equatable, Sendable {
  /// UTF-8, as written.
  public let pattern: [UInt8]
  /// Whether it is one text alone.
  public let isLiteral: Bool
  private let hasSets: Bool

  /// - Parameters:
  ///   - pattern: UTF-8.
  ///   - hasSets: whether `[` and the backslash mean something.
  public init(_ pattern: some Sequence<UInt8>, hasSets: Bool) {
    self.pattern = Array(pattern)
    self.hasSets = hasSets
    let special = hasSets ? "*?[\\" : "*?"
    isLiteral = !self.pattern.contains(where: special.utf8.contains)
  }

  /// Whether a text matches as a whole.
  public func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
  }

  /// Whether a text (UTF-8) matches as a whole.
  public func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    if isLiteral { return text.count == pattern.count && text.elementsEqual(pattern) }
    var (at, index) = (0, 0)
    // Where the last star stands, and how far it reaches: only that one needs
    // to be tried again, so the time is bounded by the product of the lengths.
    var star: (pattern: Int, text: Int)?
    while index < text.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        star = (at, index)
        at += 1
      } else if let next = step(at, text, index) {
        (at, index) = next
      } else if let last = star {
        star = (last.pattern, last.text + 1)
        (at, index) = (last.pattern + 1, last.text + 1)
      } else {
        return false
      }
    }
    while at < pattern.count, pattern[at] == UInt8(ascii: "*") { at += 1 }
    return at == pattern.count
  }

  private func step(
    _ at: Int, _ text: UnsafeRawBufferPointer, _ index: Int
  ) -> (pattern: Int, text: Int)? {
    guard at < pattern.count else { return nil }
    switch pattern[at] {
    case UInt8(ascii: "?"):
      var end = index + 1
      while end < text.count, text[end] & 0xc0 == 0x80 { end += 1 }
      return (at + 1, end)
    case UInt8(ascii: "[") where hasSets:
      guard let (isMember, end) = set(at, text[index]) else { fallthrough }
      return isMember ? (end, index + 1) : nil
    default:
      let isEscaped = hasSets && pattern[at] == UInt8(ascii: "\\") && at + 1 < pattern.count
      let literal = isEscaped ? at + 1 : at
      return pattern[literal] == text[index] ? (literal + 1, index + 1) : nil
    }
  }

  /// Whether a byte is in the set that begins at `at`, and where the set ends;
  /// nil when it does not end.
  private func set(_ at: Int, _ byte: UInt8) -> (isMember: Bool, end: Int)? {
    var index = at + 1
    guard index < pattern.count else { return nil }
    let isNegated = pattern[index] == UInt8(ascii: "!") || pattern[index] == UInt8(ascii: "^")
    if isNegated { index += 1 }
    let first = index
    var isMember = false
    while index < pattern.count {
      if pattern[index] == UInt8(ascii: "]") && index > first {
        return (isMember != isNegated, index + 1)
      }
      if index + 2 < pattern.count, pattern[index + 1] == UInt8(ascii: "-"),
        pattern[index + 2] != UInt8(ascii: "]")
      {
        if pattern[index] <= byte && byte <= pattern[index + 2] { isMember = true }
        index += 3
      } else {
        if pattern[index] == byte { isMember = true }
        index += 1
      }
    }
    return nil
  }
}
