import CLibc
import Core

/// An instant as a person reads it.
public enum TimeText {
  /// The age: `now` below five seconds, then `42s ago`, `5m ago`, `3h ago`,
  /// `12d ago`, `3y ago`; `in 5m` for a clock that is behind. At most seven
  /// cells up to 999 years.
  public static func relative(_ time: Timestamp, now: Timestamp) -> String {
    let (age, isHuge) = now.seconds.subtractingReportingOverflow(time.seconds)
    guard !isHuge, age.magnitude < 1 << 60 else { return "?" }
    let size = abs(age)
    let amount: String
    switch size {
    case ..<5: return "now"
    case ..<60: amount = "\(size)s"
    case ..<3600: amount = "\(size / 60)m"
    case ..<86_400: amount = "\(size / 3600)h"
    case ..<(100 * 86_400): amount = "\(size / 86_400)d"
    case ..<(365 * 86_400): amount = "\(size / (7 * 86_400))w"
    default: amount = "\(size / (365 * 86_400))y"
    }
    return age < 0 ? "in \(amount)" : "\(amount) ago"
  }

  /// The date and time of the zone that the user lives in: `2026-05-09 18:30:13`.
  ///
  /// - Parameters:
  ///   - time: any instant.
  ///   - zone: turns seconds since 1970 into a calendar time, nil out of range.
  public static func absolute(_ time: Timestamp, zone: (Int64) -> tm?) -> String {
    guard let part = zone(time.seconds) else { return "?" }
    func pad(_ value: Int32, _ width: Int = 2) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    return "\(pad(part.tm_year + 1900, 4))-\(pad(part.tm_mon + 1))-\(pad(part.tm_mday)) "
      + "\(pad(part.tm_hour)):\(pad(part.tm_min)):\(pad(part.tm_sec))"
  }

  /// The calendar of the user's zone (TZ, or the system's).
  public static func local(_ seconds: Int64) -> tm? {
    var clock = time_t(seconds)
    var parts = tm()
    return localtime_r(&clock, &parts) == nil ? nil : parts
  }
}
