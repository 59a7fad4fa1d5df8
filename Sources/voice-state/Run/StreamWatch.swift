import Agent
import CLibc
import Core
import Records
import Screen
import Web

/// Follows the backend's voice stream, with the reconnects of `sse-tail`.
final class StreamWatch: StreamHandler {
  private let watch: Watch
  private let agent: AgentAccess
  private var stream: EventStream?
  private var history: Fetch?
  private var faults: FaultLog
  private var place = ""

  /// - Parameters:
  ///   - watch: where everything is shown.
  ///   - agent: whose stream is followed.
  init(_ watch: Watch, _ agent: AgentAccess) {
    self.watch = watch
    self.agent = agent
    faults = FaultLog(say: watch.tell)
    watch.onEmpty = { [unowned self] in askHistory() }
  }

  /// Follows until the end.
  func run() throws(SettingsError) -> ExitStatus {
    let request = try agent.backend.request(ClankyPath.voiceEvents)
    var stripped = request
    stripped.headers = []
    let stream = EventStream(
      agent.client, stripped, policy: policy,
      judge: { [backend = agent.backend] in backend.problem(of: $0, $1) }, handler: self)
    self.stream = stream
    while watch.ending == nil {
      agent.client.perform()
      let now = Clock.monotonic
      var next = stream.tick(now: now)
      next = min(next, history?.tick(now: now) ?? .infinity)
      watch.look(force: false)
      if watch.ending != nil { break }
      next = min(next, watch.nextLook)
      agent.client.wait(
        seconds: next - Clock.monotonic, reading: watch.descriptors, closing: [1])
      watch.heed()
    }
    faults.finish()
    let status = watch.leave()
    return faults.hasFault && status == .success ? .failure : status
  }

  private var policy: StreamPolicy {
    var policy = watch.options.reconnect.policy(usualSilence: 45)
    policy.maxEventBytes = Fetch.largest
    return policy
  }

  /// Only a person who looks at an empty screen wants to see past sessions.
  private func askHistory() {
    guard let screen = watch.screen, history == nil,
      let request = try? agent.backend.request(
        ClankyPath.pastSessions(guild: watch.options.filter.guild, limit: NoSession.recent))
    else { return }
    history = Fetch(agent.client, request, now: Clock.monotonic) { [unowned self] end in
      history = nil
      guard case .response(let head, let body) = end,
        agent.backend.problem(of: head, body) == nil, let past = PastSessions(body)
      else { return }
      let few = past.limited(since: nil, count: NoSession.recent)
      screen.past = PastSession.lines(few.rows.map(\.session), at: .now())
      watch.changed(isState: false)
    }
  }

  // MARK: - What the stream tells

  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    self.place = place
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
    guard watch.ending == nil else { return }
    switch item {
    case .event(let event):
      let data = UnsafeRawBufferPointer(event.data)
      switch String(decoding: event.type, as: UTF8.self) {
      case "voice_state": takeState(data)
      case let type where type == "voice_event" || type == "action_event": takeAction(data, type)
      default: break
      }
    case .oversize(let bytes):
      faults.event(place, "event of \(bytes) bytes or more dropped: over \(Fetch.largest)")
    case .comment, .retry, .message, .fault: break
    }
  }

  private func takeState(_ data: UnsafeRawBufferPointer) {
    guard let state = try? RawState(data) else {
      return drop("voice_state", data, "not a voice state")
    }
    if state.faulty > 0 {
      let all = state.sessions.count + state.faulty
      faults.event(place, "voice_state: \(state.faulty) of \(all) sessions are not objects")
    }
    watch.feed.take(state, at: .now())
    watch.changed(isState: true)
    showEach()
  }

  private func takeAction(_ data: UnsafeRawBufferPointer, _ type: String) {
    guard (try? ScanMembers.value(of: "kind", in: data))?.isString == true,
      (try? VoiceRecord.read(data, take)) != nil
    else { return drop(type, data, "not an action") }
    showEach()
  }

  private func take(_ record: VoiceRecord, _ received: Timestamp?) {
    guard case .action(let action) = record else { return }
    watch.feed.take(action)
    watch.changed(isState: false)
  }

  /// Says of an event that cannot be used why it is not.
  private func drop(_ type: String, _ data: UnsafeRawBufferPointer, _ reason: String) {
    let fault = ScanValidator.firstFault(data)
    let words = fault.map { "not JSON: \($0.0.reason) at byte \($0.1)" }
    faults.event(place, "\(type): \(words ?? reason)")
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
        .temporary,
        "\(place): gave up after \(watch.options.reconnect.maxRetries ?? 0) retries: \(reason)")
    }
  }

  private func note(_ words: String) {
    if watch.options.isVerbose || isatty(2) == 1 { watch.diagnostics.say(words) }
  }
}
