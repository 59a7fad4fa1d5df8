import Agent
import CLibc
import Core
import Records
import Screen
import Web

/// Follows the backend's voice stream, with the reconnects of `sse-tail`.
final class StreamWatch: StreamLoop {
  private let watch: Watch
  private let backend: ClankyVoice
  private let wire: FollowedStream
  private var history: Fetch?
  private var guilds: Fetch?
  private var hasAskedGuilds = false
  private var faults: FaultLog

  init(_ watch: Watch, _ backend: ClankyVoice) throws(Failure) {
    (self.watch, self.backend) = (watch, backend)
    wire = try backend.stream()
    faults = FaultLog(say: watch.tell)
    var policy = watch.options.reconnect.policy(usualSilence: wire.usualSilence)
    policy.maxEventBytes = Fetch.largest
    super.init(backend.agent.client, wire.place, policy, judge: wire.judge)
    watch.onEmpty = { [unowned self] in
      askGuilds()
      askHistory()
    }
  }

  func run() throws(Failure) -> ExitStatus {
    let events = EventWire(self, try backend.request())
    follow { () throws(LinkEnd) in
      let response = try events.open()
      try events.read(response) { [self] item throws(LinkEnd) in
        receive(item)
        if isOver { throw .over }
      }
    }
    faults.finish()
    let status = watch.leave()
    return faults.hasFault && status == .success ? .failure : status
  }

  override var isOver: Bool { watch.ending != nil }

  override var files: [pollfd] {
    watch.descriptors.flatMap(Self.reading) + [pollfd(fd: 1, events: 0, revents: 0)]
  }

  override func willWait() throws(LinkEnd) -> Double {
    let next = min(
      look(at: &guilds) {
        watch.guilds = backend.guildNames(in: $0)
        return true
      },
      look(at: &history) {
        guard let past = backend.past(in: $0) else { return false }
        watch.screen?.past = past.limited(count: NoSession.recent).lines(
          at: .now(), guilds: watch.guilds)
        return true
      })
    watch.look(force: false)
    if isOver { throw .over }
    return min(next, watch.nextLook)
  }

  override func hasWaited() throws(LinkEnd) {
    watch.handleSignals()
    if isOver { throw .over }
  }

  /// Only a person who looks at an empty screen wants to see past sessions.
  private func askHistory() {
    guard watch.screen != nil, history == nil else { return }
    history = backend.fetchPast(guild: watch.options.filter.guild, limit: NoSession.recent)
  }

  /// Guilds go by their names on a screen.
  private func askGuilds() {
    guard watch.screen != nil, !watch.options.isVerbose, !hasAskedGuilds else { return }
    hasAskedGuilds = true
    guilds = backend.fetchGuilds()
  }

  /// Uses an answer that is there, which may change what is shown. Returns when to look again at the
  /// latest, seconds of `Clock.monotonic`.
  private func look(at fetch: inout Fetch?, _ use: (FetchEnd) -> Bool) -> Double {
    guard let running = fetch else { return .infinity }
    let due = running.due(Clock.monotonic)
    guard let end = running.end else { return due }
    fetch = nil
    if use(end) { watch.changed(isState: false) }
    return .infinity
  }

  // MARK: - What the stream tells

  override func opened(_ place: String, isFirst: Bool, down: Double?) {
    // An agent that was away may be in other guilds.
    hasAskedGuilds = false
    watch.link.phase = .open
    watch.changed(isState: false)
    if watch.screen == nil {
      if let down {
        say("stream is \(isFirst ? "open" : "back") after \(Amount.duration(down * 1000))")
      } else {
        watch.diagnostics.note("stream is open: \(place)")
      }
    }
  }

  private func receive(_ item: StreamItem) {
    switch item {
    case .event(let event):
      // A line is told for each; a screen is drawn when the input pauses.
      succeeded()
      let isRead = VoiceRecord.read(event, receive, fault: { faults.event(openPlace, $0) })
      if isRead, watch.screen == nil { watch.look() }
    case .oversize(let bytes):
      faults.event(openPlace, "event of \(bytes) bytes or more dropped: over \(Fetch.largest)")
    case .comment, .retry: break
    }
  }

  private func receive(_ record: VoiceRecord) {
    switch record {
    case .state(let state):
      watch.feed.receive(state, at: .now())
      watch.changed(isState: true)
      if !state.sessions.isEmpty { askGuilds() }
    case .news(let news):
      watch.feed.receive(news)
      watch.changed(isState: false)
    case .session, .link, .other: break
    }
  }

  override func lost(_ reason: String, wait: Double) {
    watch.lost(reason, wait: wait)
    if watch.screen == nil {
      say("stream is down: \(reason); next try in \(Amount.duration(wait * 1000))")
    }
  }

  override func ended(_ end: StreamEnd, at place: String) {
    switch end {
    case .noContent: watch.end(.success)
    case .failed(let problem): watch.end(problem.status, "\(place): \(problem.message)")
    case .gaveUp(let reason):
      watch.end(
        .temporary,
        "\(place): gave up after \(watch.options.reconnect.maxRetries ?? 0) retries: \(reason)")
    }
  }

  private func say(_ words: String) {
    if watch.options.isVerbose || isatty(2) == 1 { watch.diagnostics.say(words) }
  }
}
