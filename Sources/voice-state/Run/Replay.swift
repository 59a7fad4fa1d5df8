import CLibc
import Core
import Records
import Screen

/// A past session, rebuilt from its events as time passes.
final class Replay {
  private let options: StateOptions
  private let diagnostics: Diagnostics
  /// Oldest first.
  private var events: [VoiceBackend.PastEvent] = []

  init(_ options: StateOptions, _ diagnostics: Diagnostics) {
    self.options = options
    self.diagnostics = diagnostics
  }

  /// Asks for the events and shows them.
  ///
  /// - Parameter wanted: the session's id, or the beginning of it.
  func run(_ backend: VoiceBackend, _ wanted: String) throws -> ExitStatus {
    events = try backend.events(of: wanted)
    if events.isEmpty {
      let past = try backend.past(guild: options.filter.guild, limit: PastSessions.most)
      let ids = Set(past.rows.compactMap(\.session.id).filter { $0.hasPrefix(wanted) })
      if ids.count > 1 {
        diagnostics.error("session \(wanted)", "\(ids.count) sessions begin so")
        return .failure
      }
      if let one = ids.first, one != wanted { events = try backend.events(of: one) }
    }
    guard !events.isEmpty else {
      diagnostics.error("session \(wanted)", "the backend knows no events of it")
      return .negative
    }
    return try show()
  }

  private func show() throws -> ExitStatus {
    if options.isQuiet { return .success }
    if options.form == .json { return try json() }
    let isScreen = isatty(1) == 1 && options.form ?? .text == .text
    if !isScreen && options.form == .text { return try once() }
    return try watched()
  }

  /// The session at its end.
  private func once() throws -> ExitStatus {
    var feed = VoiceFeed(keepsEnded: true)
    for event in events { feed.take(event.action) }
    return try Once(options, diagnostics).show(&feed, at: events.last?.at ?? .now())
  }

  /// The events' own bytes.
  private func json() throws -> ExitStatus {
    let writer = RecordWriter()
    var timeline = Timeline(events.map(\.at), speed: options.speed)
    for (index, event) in events.prefix(options.count ?? events.count).enumerated() {
      if let due = timeline.due(index, at: Clock.monotonic) {
        try writer.flush()
        while Clock.monotonic < due {
          poll(nil, 0, Int32(min(max((due - Clock.monotonic) * 1000, 1), 60_000)))
        }
      }
      try JSONLines.write(event.bytes, to: writer)
    }
    try writer.flush()
    return .success
  }

  private func watched() throws -> ExitStatus {
    let watch = try Watch.make(options, diagnostics)
    let isScreen = watch.screen != nil
    // A pipe is not kept waiting unless it is asked for.
    var timeline = Timeline(events.map(\.at), speed: options.speed ?? (isScreen ? 1 : nil))
    watch.link.phase = .open
    var index = 0
    watch.time = { [events] in
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
      watch.feed.take(events[index].action)
      watch.link.phase = .open
      index += 1
      watch.changed(isState: false)
      if !isScreen { watch.look() }
      watch.heed()
    }
    timeline.stop()
    watch.link.phase = .ended("end of the session")
    watch.changed(isState: false)
    if isScreen { while watch.wait(for: nil) {} }
    watch.look(force: false)
    return watch.leave()
  }
}
