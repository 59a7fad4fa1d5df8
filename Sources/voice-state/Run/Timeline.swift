import Core

/// The time of a replay: goes at a speed, stands still, jumps.
struct Timeline {
  /// Seconds from the first event to each.
  private let offsets: [Double]
  private let start: Timestamp
  /// Nil: every event is due at once.
  private(set) var speed: Double?
  private(set) var isPaused = false
  /// The position, seconds from the first event, at a time of the clock.
  private var position = 0.0
  private var since: Double?

  /// - Parameters:
  ///   - times: of the events, oldest first.
  ///   - speed: times as fast as it was; nil does not wait.
  init(_ times: [Timestamp], speed: Double?) {
    self.speed = speed
    start = times.first ?? Timestamp(seconds: 0)
    let first = start
    offsets = times.map { time in
      let (seconds, isHuge) = time.seconds.subtractingReportingOverflow(first.seconds)
      return isHuge
        ? 0 : max(0, Double(seconds) + Double(time.nanoseconds - first.nanoseconds) / 1e9)
    }
  }

  /// Seconds from the first event.
  ///
  /// - Parameter clock: `Clock.monotonic`.
  func position(at clock: Double) -> Double {
    guard let since, let speed, !isPaused else { return position }
    return min(position + (clock - since) * speed, offsets.last ?? 0)
  }

  /// When an event is due, `Clock.monotonic`; nil for at once.
  mutating func due(_ index: Int, at clock: Double) -> Double? {
    guard let speed else { return nil }
    if since == nil { since = clock }
    if isPaused { return .infinity }
    let wait = (offsets[index] - position(at: clock)) / speed
    return wait <= 0 ? nil : clock + wait
  }

  /// The time of the replay; nil when nothing waits.
  func now(at clock: Double) -> Timestamp? {
    guard speed != nil else { return nil }
    return start.adding(.milliseconds(Int64(min(position(at: clock), 1e12) * 1000)))
  }

  /// Stands still, or goes on.
  mutating func pause(at clock: Double) {
    settle(clock)
    isPaused.toggle()
  }

  /// So many times faster than now; between a hundredth and ten thousand times.
  mutating func change(speed factor: Double, at clock: Double) {
    settle(clock)
    speed = speed.map { min(max($0 * factor, 0.01), 10_000) }
  }

  /// Goes to an event.
  mutating func skip(to index: Int, at clock: Double) {
    settle(clock)
    if offsets.indices.contains(index) { position = max(position, offsets[index]) }
  }

  /// The replay is over.
  mutating func stop() {
    position = offsets.last ?? 0
    isPaused = true
  }

  /// `3:12/10:05 x2`.
  func words(at clock: Double) -> String {
    guard let speed, let last = offsets.last else { return "" }
    let done = Self.clock(position(at: clock))
    var text = "\(done)/\(Self.clock(last))"
    if speed != 1 { text += " x" + Self.number(speed) }
    if isPaused && position < last { text += " paused" }
    return text
  }

  private mutating func settle(_ clock: Double) {
    position = position(at: clock)
    since = clock
  }

  private static func number(_ value: Double) -> String {
    value == value.rounded() ? "\(Int64(value))" : "\((value * 100).rounded() / 100)"
  }

  private static func clock(_ seconds: Double) -> String {
    let whole = Int64(min(max(seconds, 0), 1e12))
    func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let minutes = whole / 60
    return minutes < 60
      ? "\(minutes):\(two(whole % 60))" : "\(minutes / 60):\(two(minutes % 60)):\(two(whole % 60))"
  }
}
