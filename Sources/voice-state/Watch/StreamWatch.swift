import CLibc
import Core
import Screen
import Web

/// Follows the backend's voice stream, with the reconnects of `sse-tail`.
final class StreamWatch: StreamHandler {
  private let watch: Watch
  private let query: Query
  private var stream: EventStream?
  private var history: Fetch?

  /// - Parameters:
  ///   - watch: where everything is shown.
  ///   - query: the backend.
  init(_ watch: Watch, _ query: Query) {
    self.watch = watch
    self.query = query
    watch.onEmpty = { [unowned self] in askHistory() }
  }

  /// Follows until the end.
  func run() throws(SettingsError) -> ExitStatus {
    let request = try query.backend.request("api/voice/events")
    var stripped = request
    stripped.headers = []
    let stream = EventStream(
      query.client, stripped, backend: query.backend, policy: policy, handler: self)
    self.stream = stream
    while watch.ending == nil {
      query.client.perform()
      let now = Clock.monotonic
      var next = stream.tick(now: now)
      next = min(next, history?.tick(now: now) ?? .infinity)
      watch.look(force: false)
      if watch.ending != nil { break }
      next = min(next, watch.nextLook)
      query.client.wait(
        seconds: next - Clock.monotonic, reading: watch.descriptors, closing: [1])
      watch.heed()
    }
    return watch.leave()
  }

  private var policy: StreamPolicy {
    let options = watch.options
    var policy = StreamPolicy()
    if let wait = options.retryWait {
      policy.retryWait = wait
      policy.retryCap = max(60, wait)
    }
    policy.maxRetries = options.maxRetries
    policy.idleTimeout = options.idleTimeout ?? 45
    if policy.idleTimeout == 0 { policy.idleTimeout = nil }
    return policy
  }

  /// Past sessions are of use only to a person who looks at an empty screen.
  private func askHistory() {
    guard let screen = watch.screen, history == nil,
      let request = try? query.backend.request(
        PastSessions.path(limit: NoSession.recent, guild: watch.options.filter.guild))
    else { return }
    history = Fetch(query.client, request, now: Clock.monotonic) { [unowned self] end in
      history = nil
      guard let body = try? query.body(end, ""), let past = PastSessions(body) else { return }
      let few = past.limited(since: nil, count: NoSession.recent)
      screen.past = PastSession.lines(few.rows.map(\.session), at: .now())
      watch.changed(isState: false)
    }
  }

  // MARK: - What the stream tells

  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    watch.link.phase = .open
    watch.changed(isState: false)
    if watch.screen == nil {
      if let down {
        note("stream is \(isFirst ? "open" : "back") after \(Amount.duration(down * 1000))")
      } else {
        watch.diagnostics.note("stream is open: \(place)")
      }
    }
  }

  func streamItem(_ item: StreamItem) {
    guard watch.ending == nil, case .event(let event) = item else { return }
    let type = String(decoding: event.type, as: UTF8.self)
    let data = UnsafeRawBufferPointer(event.data)
    if type == "voice_state" {
      guard let state = try? RawState(data) else { return }
      watch.feed.take(state, at: .now())
      watch.changed(isState: true)
      showEach()
    } else if type == "voice_event" || type == "action_event" {
      try? VoiceRecord.read(data) { record, _ in
        guard case .action(let action) = record else { return }
        watch.feed.take(action)
        watch.changed(isState: false)
      }
      showEach()
    }
  }

  /// A line is told for each; a screen is drawn when the input pauses.
  private func showEach() {
    if watch.screen == nil { watch.look() }
  }

  func streamLost(_ reason: String, wait: Double) {
    let clock = Clock.monotonic
    var since = clock
    if case .down(_, let first, _) = watch.link.phase { since = first }
    watch.link.phase = .down(reason: Visible.line(reason), since: since, retryAt: clock + wait)
    watch.feed.linkLost()
    watch.changed(isState: false)
    if watch.screen == nil {
      note("stream is down: \(reason); next try in \(Amount.duration(wait * 1000))")
    }
  }

  func streamEnded(_ end: StreamEnd, at place: String) {
    switch end {
    case .noContent: watch.end(.success)
    case .failed(let problem): watch.end(problem.status, "\(place): \(problem.line)")
    case .gaveUp(let reason):
      watch.end(
        .temporary, "\(place): gave up after \(watch.options.maxRetries ?? 0) retries: \(reason)")
    }
  }

  private func note(_ words: String) {
    if watch.options.isVerbose || isatty(2) == 1 { watch.diagnostics.say(words) }
  }
}
