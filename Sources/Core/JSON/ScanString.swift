import CLibc

enum ScanString {
  /// Decodes escapes. Returns the bytes written.
  static func unescape(_ raw: UnsafeRawBufferPointer, to out: UnsafeMutablePointer<UInt8>) -> Int {
    guard let base = raw.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
    let end = base + raw.count
    var at = base
    var to = out
    while at < end {
      let slash = memchr(at, 0x5c, end - at)
      let stop = slash.map { UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) } ?? end
      memcpy(to, at, stop - at)
      to += stop - at
      at = stop
      if at < end { at = escape(at, end, &to) }
    }
    return to - out
  }

  /// Decodes one escape, which begins at `at`; returns where it ends.
  private static func escape(
    _ at: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ to: inout UnsafeMutablePointer<UInt8>
  ) -> UnsafePointer<UInt8> {
    func put(_ byte: UInt8) {
      to.pointee = byte
      to += 1
    }
    guard end - at >= 2 else {
      put(0x5c)
      return at + 1
    }
    switch at[1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): put(at[1])
    case UInt8(ascii: "b"): put(8)
    case UInt8(ascii: "f"): put(12)
    case UInt8(ascii: "n"): put(10)
    case UInt8(ascii: "r"): put(13)
    case UInt8(ascii: "t"): put(9)
    case UInt8(ascii: "u"):
      guard let unit = hexUnit(at, end) else { fallthrough }
      var scalar = unit
      var length = 6
      if unit & 0xf800 == 0xd800 {
        scalar = 0xfffd
        if unit < 0xdc00, let low = hexUnit(at + 6, end), low & 0xfc00 == 0xdc00 {
          scalar = 0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)
          length = 12
        }
      }
      encode(scalar, &to)
      return at + length
    default:
      put(0x5c)
      return at + 1
    }
    return at + 2
  }

  static func hexUnit(_ at: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UInt32? {
    guard end - at >= 6, at[0] == 0x5c, at[1] == UInt8(ascii: "u") else { return nil }
    var unit: UInt32 = 0
    for index in 2..<6 {
      let digit: UInt8
      switch at[index] {
      case 0x30...0x39: digit = at[index] - 0x30
      case 0x41...0x46: digit = at[index] - 0x37
      case 0x61...0x66: digit = at[index] - 0x57
      default: return nil
      }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  static func encode(_ scalar: UInt32, _ to: inout UnsafeMutablePointer<UInt8>) {
    func put(_ bits: UInt32) {
      to.pointee = UInt8(truncatingIfNeeded: bits)
      to += 1
    }
    switch scalar {
    case 0..<0x80: put(scalar)
    case 0x80..<0x800:
      put(0xc0 | scalar >> 6)
      put(0x80 | scalar & 0x3f)
    case 0x800..<0x10000:
      put(0xe0 | scalar >> 12)
      put(0x80 | scalar >> 6 & 0x3f)
      put(0x80 | scalar & 0x3f)
    default:
      put(0xf0 | scalar >> 18)
      put(0x80 | scalar >> 12 & 0x3f)
      put(0x80 | scalar >> 6 & 0x3f)
      put(0x80 | scalar & 0x3f)
    }
  }
}

/// Memory for the text of strings with escapes, used again and again.
///
/// What a call returns is valid until the next call, and as long as the
/// scratch lives: keep it in a property, or use `withExtendedLifetime`.
public final class ScanScratch {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity = 256

  public init() { base = .allocate(capacity: capacity) }

  deinit { base.deallocate() }

  /// Room for so many bytes; what it held is lost.
  public func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    if count > capacity {
      base.deallocate()
      capacity = max(count, capacity * 2)
      base = .allocate(capacity: capacity)
    }
    return base
  }

  /// The text of a JSON string (RFC 8259, section 7) as UTF-8.
  ///
  /// Surrogate pairs become one character, a lone surrogate U+FFFD. Bytes that
  /// are not valid UTF-8 stay as they are, and so does a backslash that begins
  /// no known escape.
  ///
  /// - Parameter raw: what stands between the quotes.
  /// - Returns: the same bytes when nothing is escaped, else bytes of this
  ///   scratch; never more than `raw` has.
  public func text(of raw: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard let start = raw.baseAddress, memchr(start, 0x5c, raw.count) != nil else { return raw }
    let out = reserve(raw.count)
    return UnsafeRawBufferPointer(start: out, count: ScanString.unescape(raw, to: out))
  }
}
