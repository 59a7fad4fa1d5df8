import CLibc

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
  /// are no valid UTF-8 stay as they are, and so does a backslash that begins
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
