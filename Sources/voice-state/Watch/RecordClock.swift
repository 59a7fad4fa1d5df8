import Core

/// What time it is for records: the time that they tell, going on from when
/// they came.
struct RecordClock {
  private var anchor: (time: Timestamp, at: Double)?
  /// How fast time goes.
  private let speed: Double
  private var stopped: Timestamp?

  /// - Parameter speed: 1 for as fast as it does.
  init(speed: Double = 1) { self.speed = speed }

  /// A record came that tells the time.
  ///
  /// - Parameter at: `Clock.monotonic`.
  mutating func set(_ time: Timestamp, at clock: Double) {
    anchor = (time, clock)
    stopped = nil
  }

  /// The time that the last record told, nil when none did.
  var told: Timestamp? { anchor?.time }

  /// Nothing more comes: the time stays where the last record left it.
  mutating func stop() { stopped = anchor?.time }

  /// The time; nil when no record told any.
  func now(at clock: Double) -> Timestamp? {
    if let stopped { return stopped }
    guard let anchor else { return nil }
    let passed = min(max((clock - anchor.at) * speed, 0), 1e9)
    return anchor.time.adding(.milliseconds(Int64(passed * 1000)))
  }
}
