public import CLibc
public import Core

/// Numbers as a person reads them in a row.
public enum Amount {
  /// US dollars in at most eight cells up to 99999: `$0.0094`, `$2.47`,
  /// `<$0.0001` for what would round to nothing.
  public static func money(_ dollars: Double) -> String {
    let size = abs(dollars)
    let sign = dollars < 0 ? "-" : ""
    if size == 0 { return "$0" }
    if size < 0.00005 { return "\(sign)<$0.0001" }
    if size < 0.99995 { return "\(sign)$\(fixed(size, 4))" }
    return size < 999.995 ? "\(sign)$\(fixed(size, 2))" : "\(sign)$\(fixed(size, 0))"
  }

  /// US dollars with every digit that counts, two decimals at least: `$0.0000004`.
  public static func exactMoney(_ dollars: Double) -> String {
    var text = fixed(abs(dollars), 10)
    guard let point = text.firstIndex(of: "."), !text.contains("e") else { return "$\(dollars)" }
    while text.hasSuffix("0"), text.distance(from: point, to: text.endIndex) > 3 {
      text.removeLast()
    }
    return (dollars < 0 ? "-$" : "$") + text
  }

  /// A count in at most four cells: `84`, `1.5k`, `15k`, `1.2M`.
  public static func count(_ value: Double) -> String {
    let size = abs(value)
    switch size {
    case ..<999.5: return fixed(value, 0)
    case ..<9_950: return fixed(value / 1000, 1) + "k"
    case ..<999_500: return fixed(value / 1000, 0) + "k"
    case ..<9_950_000: return fixed(value / 1_000_000, 1) + "M"
    default: return fixed(value / 1_000_000, 0) + "M"
    }
  }

  /// A duration: `812ms`, `1.3s`, `30s`, `4m58s`, `45m`, `1h02m`, `2d03h`.
  public static func duration(_ milliseconds: Double) -> String {
    if milliseconds < 0 { return "-" + duration(-milliseconds) }
    if milliseconds < 999.5 { return fixed(milliseconds, 0) + "ms" }
    if milliseconds < 9_950 { return fixed(milliseconds / 1000, 1) + "s" }
    guard milliseconds < 1e15 else { return "\(milliseconds)ms" }  // NaN too
    let seconds = Int64(milliseconds / 1000 + 0.5)
    func rest(_ value: Int64, _ unit: String) -> String { value == 0 ? "" : value.digits(2) + unit }
    switch seconds {
    case ..<60: return "\(seconds)s"
    case ..<3600: return "\(seconds / 60)m" + rest(seconds % 60, "s")
    case ..<86_400: return "\(seconds / 3600)h" + rest(seconds / 60 % 60, "m")
    default: return "\(seconds / 86_400)d" + rest(seconds / 3600 % 24, "h")
    }
  }

  /// A span of time on a clock: `0:28`, `44:32`, `1:04:32`, `2d03h`.
  ///
  /// - Parameter seconds: below zero counts as none.
  public static func clock(_ seconds: Int64) -> String {
    let seconds = max(0, seconds)
    return switch seconds {
    case ..<3600: "\(seconds / 60):\((seconds % 60).digits(2))"
    case ..<86_400: "\(seconds / 3600):\((seconds / 60 % 60).digits(2)):\((seconds % 60).digits(2))"
    default: "\(seconds / 86_400)d\((seconds / 3600 % 24).digits(2))h"
    }
  }

  /// A size: `184 B`, `4.0 KB`, `1.20 MB`, as the dashboard writes it.
  public static func bytes(_ count: Double) -> String {
    let size = abs(count)
    if size < 1024 { return "\(fixed(count, 0)) B" }
    if size < 1024 * 1024 { return "\(fixed(count / 1024, 1)) KB" }
    return "\(fixed(count / (1024 * 1024), 2)) MB"
  }

  public static func bytes(_ count: Int) -> String { bytes(Double(count)) }

  /// A number with so many decimals; what is too large for that, or no finite
  /// number, in Swift's own spelling.
  public static func fixed(_ value: Double, _ decimals: Int) -> String {
    var scale: UInt64 = 1
    for _ in 0..<decimals { scale *= 10 }
    // Rounded by hand: `rounded()` would be the only use of libm.
    let scaled = abs(value) * Double(scale) + 0.5
    guard scaled < 9e18 else { return "\(value)" }
    let units = UInt64(scaled)
    let sign = value < 0 && units > 0 ? "-" : ""
    guard decimals > 0 else { return sign + String(units) }
    return sign + String(units / scale) + "." + (units % scale).digits(decimals)
  }
}

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
  /// - Parameter zone: turns seconds since 1970 into a calendar time, nil out of range.
  public static func absolute(
    _ time: Timestamp, zone: (Int64) -> tm? = LocalZone.calendar
  ) -> String {
    guard let part = zone(time.seconds) else { return "?" }
    let date = [part.tm_mon + 1, part.tm_mday].map { $0.digits(2) }
    let clock = [part.tm_hour, part.tm_min, part.tm_sec].map { $0.digits(2) }
    let year = (part.tm_year + 1900).digits(4)
    return "\(year)-" + date.joined(separator: "-") + " " + clock.joined(separator: ":")
  }
}
