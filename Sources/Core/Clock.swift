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
