/// A kind as `-k` names it: literal, or with `*`, `?` and `[...]` as the shell
/// knows them. A backslash takes the next character as it is.
struct KindPattern: Equatable, Sendable {
  let pattern: [UInt8]
  let isLiteral: Bool

  init(_ text: String) {
    pattern = Array(text.utf8)
    isLiteral = !pattern.contains { "*?[\\".utf8.contains($0) }
  }

  /// Whether a kind (UTF-8) matches as a whole.
  func matches(_ kind: UnsafeRawBufferPointer) -> Bool {
    if isLiteral { return kind.count == pattern.count && kind.elementsEqual(pattern) }
    var (at, index) = (0, 0)
    // Where the last star stands, and how far it reaches: only that one needs
    // to be tried again, so the time is bounded by the product of the lengths.
    var star: (pattern: Int, kind: Int)?
    while index < kind.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        star = (at, index)
        at += 1
      } else if let next = step(at, kind, index) {
        (at, index) = next
      } else if let last = star {
        star = (last.pattern, last.kind + 1)
        (at, index) = (last.pattern + 1, last.kind + 1)
      } else {
        return false
      }
    }
    while at < pattern.count, pattern[at] == UInt8(ascii: "*") { at += 1 }
    return at == pattern.count
  }

  /// Matches one character; where both go on, or nil.
  private func step(
    _ at: Int, _ kind: UnsafeRawBufferPointer, _ index: Int
  ) -> (pattern: Int, kind: Int)? {
    guard at < pattern.count else { return nil }
    switch pattern[at] {
    case UInt8(ascii: "?"):
      var end = index + 1
      while end < kind.count, kind[end] & 0xc0 == 0x80 { end += 1 }
      return (at + 1, end)
    case UInt8(ascii: "["):
      guard let (isMember, end) = set(at, kind[index]) else { fallthrough }
      return isMember ? (end, index + 1) : nil
    default:
      let literal = pattern[at] == UInt8(ascii: "\\") && at + 1 < pattern.count ? at + 1 : at
      return pattern[literal] == kind[index] ? (literal + 1, index + 1) : nil
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
