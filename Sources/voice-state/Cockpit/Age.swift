import Core
import Screen

/// How long ago, how long still.
enum Age {
  /// `now`, `14s ago`, `in 5m`; nil without a time.
  static func text(_ time: Timestamp?, at now: Timestamp) -> String? {
    time.map { TimeText.relative($0, now: now) }
  }

  /// `14s ago` for so many milliseconds; nil without a number.
  static func text(_ milliseconds: Double?) -> String? {
    guard let milliseconds, milliseconds.magnitude < 1e15 else { return nil }
    return TimeText.relative(
      Timestamp(seconds: -Int64(milliseconds / 1000)), now: Timestamp(seconds: 0))
  }

  /// The seconds from one time to another, 0 when it is already past; nil
  /// without a time.
  static func seconds(from start: Timestamp?, to end: Timestamp?) -> Int64? {
    guard let start, let end else { return nil }
    let (seconds, isHuge) = end.seconds.subtractingReportingOverflow(start.seconds)
    guard !isHuge else { return nil }
    return max(0, end.nanoseconds < start.nanoseconds ? seconds - 1 : seconds)
  }

  /// How long from one time to another: `3.2s`, `4m58s`; nil without a time.
  static func span(from start: Timestamp?, to end: Timestamp?) -> String? {
    guard let start, let end, let seconds = seconds(from: start, to: end) else { return nil }
    guard start < end else { return Amount.duration(0) }
    let rest = (Int(end.nanoseconds) - Int(start.nanoseconds) + 1_000_000_000) % 1_000_000_000
    return Amount.duration(Double(seconds) * 1000 + Double(rest / 1_000_000))
  }

  /// A clock from one time to another: `0:28`; nil without a time.
  static func clock(from start: Timestamp?, to end: Timestamp?) -> String? {
    seconds(from: start, to: end).map { Amount.clock($0) }
  }
}
