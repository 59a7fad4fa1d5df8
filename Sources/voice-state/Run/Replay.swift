import Agent
import CLibc
import Core
import Screen

/// A past session, as its events tell it.
extension Run {
  func replay(_ backend: ClankyVoice, _ wanted: String) throws -> ExitStatus {
    // Oldest first.
    var events = try backend.events(of: wanted)
    if events.isEmpty {
      let past = try backend.past(guild: options.filter.guild, limit: ClankyVoice.mostPast)
      let ids = Set(past.compactMap(\.id).filter { $0.hasPrefix(wanted) })
      if ids.count > 1 {
        diagnostics.error("session \(wanted)", "\(ids.count) sessions begin so")
        return .failure
      }
      if let one = ids.first, one != wanted { events = try backend.events(of: one) }
    }
    guard let last = events.last else {
      diagnostics.error("session \(wanted)", "the backend knows no events of it")
      return .negative
    }
    if options.isQuiet { return .success }
    if options.form == .json { return try write(events) }
    if options.form == .text, isatty(1) != 1 {
      var feed = VoiceFeed(keepsEnded: true)
      for event in events { feed.receive(event.news) }
      return try show(&feed, at: last.at)
    }
    return try watch(events)
  }

  /// The events' own bytes.
  private func write(_ events: [ClankyVoice.PastEvent]) throws -> ExitStatus {
    var timeline = Timeline(events.map(\.at), speed: options.speed)
    for (index, event) in events.prefix(options.count ?? events.count).enumerated() {
      if let due = timeline.due(index, at: Clock.monotonic) {
        try writer.flush()
        while Clock.monotonic < due {
          poll(nil, 0, Int32(min(max((due - Clock.monotonic) * 1000, 1), 60_000)))
        }
      }
      try writer.write(json: event.bytes)
    }
    try writer.flush()
    return .success
  }

  private func watch(_ events: [ClankyVoice.PastEvent]) throws -> ExitStatus {
    let watch = try Watch(options, diagnostics)
    let isScreen = watch.screen != nil
    // A pipe is not kept waiting unless it is asked for.
    var timeline = Timeline(events.map(\.at), speed: options.speed ?? (isScreen ? 1 : nil))
    watch.link.phase = .open
    var index = 0
    watch.time = {
      timeline.now(at: Clock.monotonic) ?? events[min(max(index - 1, 0), events.count - 1)].at
    }
    watch.note = { timeline.words(at: Clock.monotonic) }
    watch.onWish = { wish in
      let clock = Clock.monotonic
      switch wish {
      case .pause: timeline.pause(at: clock)
      case .speed(let factor): timeline.change(speed: factor, at: clock)
      case .skip: timeline.skip(to: index, at: clock)
      case .quit: break
      }
      watch.changed(isState: false)
    }
    while index < events.count, watch.ending == nil {
      if let due = timeline.due(index, at: Clock.monotonic), due > Clock.monotonic {
        // A key may change when the event is due.
        _ = watch.wait(for: nil, until: min(due, Clock.monotonic + 0.25))
        continue
      }
      watch.feed.receive(events[index].news)
      watch.link.phase = .open
      index += 1
      watch.changed(isState: false)
      if !isScreen { watch.look() }
      watch.handleSignals()
    }
    timeline.stop()
    watch.link.phase = .ended("end of the session")
    watch.changed(isState: false)
    if isScreen { while watch.wait(for: nil) {} }
    watch.look(force: false)
    return watch.leave()
  }
}

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

  func now(at clock: Double) -> Timestamp? {
    guard speed != nil else { return nil }
    return start.adding(.milliseconds(Int64(min(position(at: clock), 1e12) * 1000)))
  }

  mutating func pause(at clock: Double) {
    settle(clock)
    isPaused.toggle()
  }

  /// So many times faster than now; between a hundredth and ten thousand times.
  mutating func change(speed factor: Double, at clock: Double) {
    settle(clock)
    speed = speed.map { min(max($0 * factor, 0.01), 10_000) }
  }

  mutating func skip(to index: Int, at clock: Double) {
    settle(clock)
    if offsets.indices.contains(index) { position = max(position, offsets[index]) }
  }

  mutating func stop() {
    position = offsets.last ?? 0
    isPaused = true
  }

  /// `3:12/10:05 x2`.
  func words(at clock: Double) -> String {
    guard let speed, let last = offsets.last else { return "" }
    func text(of seconds: Double) -> String {
      let whole = Int64(min(max(seconds, 0), 1e12))
      // With its seconds, however long it is.
      return whole < 86_400
        ? Amount.clock(whole) : "\(whole / 3600)" + Amount.clock(3600 + whole % 3600).dropFirst()
    }
    var text = "\(text(of: position(at: clock)))/\(text(of: last))"
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
}
