public import Core

/// A key made of a time (AT Protocol, "Timestamp Identifiers"): 13 letters and digits that sort
/// as the times do.
public struct TID: Hashable, Sendable, CustomStringConvertible {
  /// As it was written.
  public let description: String

  private static let digits = Array("234567abcdefghijklmnopqrstuvwxyz".utf8)

  /// - Parameter text: nil when it is none.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    // The highest of the 64 bits is 0, and 13 digits hold 65.
    guard bytes.count == 13, bytes.allSatisfy({ Self.digits.contains($0) }),
      Self.digits[..<16].contains(bytes[0])
    else { return nil }
    description = text
  }

  /// The time, microseconds since 1970.
  public var microseconds: Int64 {
    let value = description.utf8.reduce(UInt64(0)) { value, byte in
      value << 5 | UInt64(Self.digits.firstIndex(of: byte) ?? 0)
    }
    return Int64(value >> 10)
  }

  /// The same, to the millisecond.
  public var time: Timestamp {
    let milliseconds = microseconds / 1000
    return Timestamp(
      seconds: milliseconds / 1000, nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
  }

  /// - Parameters:
  ///   - microseconds: since 1970; the lowest 53 bits count.
  ///   - clock: which of several writers this is; the lowest 10 bits count.
  public init(microseconds: Int64, clock: Int) {
    let time = UInt64(truncatingIfNeeded: microseconds) & (1 << 53 - 1)
    let value = time << 10 | UInt64(truncatingIfNeeded: clock) & 1023
    description = String(
      decoding: (0..<13).map { Self.digits[Int(value >> UInt64(60 - 5 * $0) & 31)] },
      as: UTF8.self)
  }
}

/// Gives keys of which each is above the one before.
public struct TIDClock: Sendable {
  private let clock: Int
  private var last: Int64 = 0

  /// - Parameter clock: tells this writer from others, 0 to 1023.
  public init(clock: Int) { self.clock = clock }

  /// The next key.
  ///
  /// - Parameter now: seconds since 1970.
  public mutating func next(now: Double) -> TID {
    last = max(last + 1, Int64(max(now, 0) * 1e6))
    return TID(microseconds: last, clock: clock)
  }
}
