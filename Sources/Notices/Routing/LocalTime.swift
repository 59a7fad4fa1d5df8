import CLibc
public import Core

/// An instant, and what a clock shows then where the person is.
public struct LocalTime: Equatable, Sendable {
  /// When it is.
  public let instant: Timestamp
  /// Minutes since midnight.
  public let minute: Int

  /// - Parameter text: RFC 3339, whose own clock time is the local one.
  /// - Returns: nil for anything else.
  public init?(rfc3339 text: String) {
    guard let instant = Timestamp(rfc3339: text),
      let minute = QuietHours.minute(text.dropFirst(11).prefix(5))
    else { return nil }
    (self.instant, self.minute) = (instant, minute)
  }

  /// - Parameter instant: of this machine's clock; the zone is that of TZ, or the system's.
  public init(_ instant: Timestamp) {
    self.instant = instant
    var clock = time_t(instant.seconds)
    var parts = tm()
    minute = localtime_r(&clock, &parts) == nil ? 0 : Int(parts.tm_hour) * 60 + Int(parts.tm_min)
  }
}

/// When a person wants to be left alone, each day.
public struct QuietHours: Equatable, Sendable {
  /// Minutes since midnight; the end belongs to the day after when it is before the start.
  public let start: Int, end: Int

  /// - Parameters: `HH:MM` each, the end also 24:00; nil when one is not.
  public init?(start: some StringProtocol, end: some StringProtocol) {
    guard let start = QuietHours.minute(start),
      let end = end == "24:00" ? 24 * 60 : QuietHours.minute(end)
    else { return nil }
    (self.start, self.end) = (start, end)
  }

  /// Whether it is one of them; the start is, the end is not.
  public func hold(_ minute: Int) -> Bool {
    start <= end ? start <= minute && minute < end : minute >= start || minute < end
  }

  /// Minutes since midnight of `HH:MM`; nil for anything else.
  static func minute(_ text: some StringProtocol) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
      [0, 1, 3, 4].allSatisfy({ bytes[$0] &- 0x30 < 10 })
    else { return nil }
    let hour = Int(bytes[0] - 0x30) * 10 + Int(bytes[1] - 0x30)
    let minute = Int(bytes[3] - 0x30) * 10 + Int(bytes[4] - 0x30)
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }
}
