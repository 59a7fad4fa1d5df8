import CLibc

/// Clocks for the commands' loops; pure types are handed the numbers.
public enum Clock {
  /// Seconds of a clock that never steps, from an arbitrary start: for waits
  /// and time-outs.
  public static var monotonic: Double { read(CLOCK_MONOTONIC) }

  /// Seconds since 1970-01-01T00:00:00Z, for dates.
  public static var unix: Double { read(CLOCK_REALTIME) }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Short spans of time in words.
public enum Latency {
  /// Milliseconds with one decimal.
  public static func text(_ seconds: Double) -> String { short(seconds * 1000) }

  /// Seconds with one decimal.
  public static func short(_ seconds: Double) -> String {
    let tenths = Int64((min(max(seconds, 0), 1e15) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Seconds, without decimals where there are none.
  public static func seconds(_ seconds: Double) -> String {
    seconds == seconds.rounded() && seconds < 1e15 ? "\(Int64(seconds))" : "\(seconds)"
  }
}
