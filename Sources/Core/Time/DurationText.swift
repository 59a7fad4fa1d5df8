/// Durations as people write them: `90s`, `15m`, `2h`, `3d`, `1w`, `500ms`;
/// a plain number is seconds.
public enum DurationText {
  /// Reads a duration: digits with at most one decimal point, then a unit.
  ///
  /// - Returns: nil for anything else, a sign, or more than 10^9 days.
  public static func parse(_ text: String) -> Duration? {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let first = parts.first, !first.isEmpty,
      first.count <= 14, let whole = Int64(first)
    else { return nil }
    let unit: Int64
    switch text.dropFirst(number.count) {
    case "ms": unit = 1_000_000
    case "", "s": unit = 1_000_000_000
    case "m": unit = 60_000_000_000
    case "h": unit = 3_600_000_000_000
    case "d": unit = 86_400_000_000_000
    case "w": unit = 604_800_000_000_000
    default: return nil
    }
    // Whole units in seconds and the rest, so that nothing overflows.
    let (seconds, rest) = (unit / 1_000_000_000, unit % 1_000_000_000)
    let (total, overflow) = whole.multipliedReportingOverflow(by: max(seconds, 1))
    guard !overflow, total <= 86_400_000_000_000 else { return nil }
    var duration =
      seconds > 0
      ? Duration.seconds(total)
      : .seconds(whole / 1000) + .nanoseconds(whole % 1000 * rest)
    if parts.count == 2 {
      guard let last = parts.last, !last.isEmpty else { return nil }
      var scale = unit
      for digit in last.utf8 {
        scale /= 10
        duration += .nanoseconds(Int64(digit - 0x30) * scale)
      }
    }
    return duration
  }
}
