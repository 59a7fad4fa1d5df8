import CLibc
public import Core
import Records

/// Makes texts of values that come again and again, such as ids, and hands out the same text
/// as long as they are the same.
public struct LastText: Sendable {
  private var bytes: [UInt8] = []
  private var text = ""

  public init() {}

  /// The text of a string, or of a number, without white space at its ends; empty for
  /// anything else.
  public mutating func of(_ value: ScanValue) -> String {
    if value.count == bytes.count,
      bytes.withUnsafeBytes({ $0.isEmpty || memcmp($0.baseAddress!, value.start, $0.count) == 0 })
    {
      return text
    }
    bytes = Array(value.bytes)
    text = (value.string ?? "").trimmed
    return text
  }
}

/// Reads times that follow each other: most are of the second that the last one was of.
public struct LastSecond: Sendable {
  private var bytes: [UInt8] = []
  private var second: Int64 = 0

  public init() {}

  /// The time of a string as in RFC 3339; nil for anything else.
  public mutating func of(_ value: ScanValue) -> Timestamp? {
    // "2026-03-01T12:00:00.000Z" with its quotes, the form that every server writes.
    if value.count == 26, bytes.count == 20, value.start[20] == 0x2e, value.start[24] == 0x5a,
      bytes.withUnsafeBytes({ memcmp($0.baseAddress!, value.start, 20) == 0 })
    {
      var milliseconds: Int32 = 0
      for index in 21..<24 {
        let digit = value.start[index] &- 0x30
        guard digit < 10 else { return nil }
        milliseconds = milliseconds * 10 + Int32(digit)
      }
      return Timestamp(seconds: second, nanoseconds: milliseconds * 1_000_000)
    }
    guard let time = value.rawText.flatMap({ Timestamp(rfc3339: $0) }) else { return nil }
    // A leap second is spelled as no other is, and neither is a time of another zone.
    if value.count == 26, value.start[20] == 0x2e, value.start[24] == 0x5a {
      (bytes, second) = (Array(value.bytes.prefix(20)), time.seconds)
    }
    return time
  }
}

extension ScanValue {
  /// An id: without white space at its ends, empty when there is none.
  public var trimmedText: String {
    guard let text = string else { return "" }
    guard let first = text.utf8.first, let last = text.utf8.last,
      first <= 0x20 || last <= 0x20 || first >= 0x80 || last >= 0x80
    else { return text }
    return text.trimmed
  }

  /// A whole number, or a string with the digits of one; nil for anything else.
  public var wholeNumber: Int64? {
    guard let raw = rawText, !raw.isEmpty, raw.count <= 20 else { return nil }
    var (value, isBelow): (Int64, Bool) = (0, false)
    for (index, byte) in raw.enumerated() {
      if index == 0, byte == UInt8(ascii: "-"), raw.count > 1 {
        isBelow = true
        continue
      }
      guard byte &- 0x30 < 10 else { return fractional }
      let (product, overflows) = value.multipliedReportingOverflow(by: 10)
      let (sum, passes) = product.subtractingReportingOverflow(Int64(byte - 0x30))
      if overflows || passes { return nil }
      value = sum
    }
    if isBelow { return value }
    return value == .min ? nil : -value
  }

  /// A number such as `5.0` or `1e3`, which JSON does not tell from a whole one.
  private var fractional: Int64? {
    string.flatMap { Double($0) }.flatMap { Int64(exactly: $0) }
  }

  /// The value with its bytes, to be put into a record; nil when it is null or there is none,
  /// or it is not JSON after all, which a look from outside does not tell. Ill-formed UTF-8
  /// becomes U+FFFD.
  public var json: [UInt8]? {
    guard !isNull, ScanValidator.isValue(bytes) else { return nil }
    return UTF8Text.isValid(bytes) ? Array(bytes) : UTF8Text.repaired(bytes)
  }

  /// Whether this is true, as a word or as a text.
  public var isTrue: Bool { isText("true") || isWord("true") }
}
