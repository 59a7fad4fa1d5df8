import Agent
import CLibc
import Core
import Records
import Screen

/// Keeps the sessions, shows them, handles keys and signals, and ends for the right reason.
final class Watch {
  enum Ending {
    case status(ExitStatus)
    case signal(Int32)
    case writing(WriteFailure)
  }

  let options: StateOptions
  let diagnostics: Diagnostics
  /// What it shows them on: a screen, or lines.
  let screen: LiveView?
  let lines: LineView?
  private let signals: TerminalSignals

  var feed: VoiceFeed
  var link = BackendLink()
  /// What ages are told by; nil for the clock of the system.
  var time: (() -> Timestamp)?
  /// What stands beside the link's words; empty as a rule.
  var note: () -> String = { "" }
  var onWish: (LiveView.Wish) -> Void = { _ in }
  /// Called once each time the last session has gone.
  var onEmpty: () -> Void = {}
  /// Names by ids, as far as they are known.
  var guilds: [String: String] = [:]

  /// What is shown: the sessions, the time that ages are told by, and that of `Clock.monotonic`.
  private(set) var sessions: [VoiceSession] = []
  private(set) var now = Timestamp(seconds: 0)
  private(set) var clock = -Double.infinity
  /// Whether anything came since the last look, and whether that was a state.
  private(set) var isChanged = true
  private(set) var isState = false

  private(set) var ending: Ending?
  private let deadline: Double
  private var lastWords: [String] = []
  private var trouble = ""
  private var wasEmpty = false
  private var shown = 0
  private var wanted = -Double.infinity
  private var keyDeadline: Double?

  /// With the view that the command line and standard output ask for.
  ///
  /// - Parameter readsInput: whether standard input is read for records.
  init(
    _ options: StateOptions, _ diagnostics: Diagnostics, readsInput: Bool = false
  ) throws(WriteFailure) {
    (self.options, self.diagnostics) = (options, diagnostics)
    deadline = options.reconnect.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    let isReplay =
      if case .replay = options.subject { true } else { false }
    if options.form ?? .text == .text,
      let terminal = Terminal(usesStandardInput: !readsInput)
    {
      signals = TerminalSignals(window: true)
      screen = LiveView(terminal, options, isReplay: isReplay || options.speed != nil)
      lines = nil
      // What a person looks at does not go away with the end of a replay.
      feed = VoiceFeed(options.filter, keepsEnded: isReplay)
      try terminal.enter()
    } else {
      let signals = TerminalSignals(window: false)
      self.signals = signals
      screen = nil
      lines = LineView(options.form ?? .line, tellsAll: isReplay) { signals.isEnding }
      feed = VoiceFeed(options.filter)
    }
  }

  /// Whether a signal that ends the process came; asked by writes that wait.
  var isInterrupted: Bool { signals.isEnding }

  func end(_ status: ExitStatus, _ words: String? = nil) {
    if let words { lastWords.append(words) }
    guard ending == nil else { return }
    ending = .status(status)
    trouble = words ?? ""
  }

  /// Says words. A screen would draw over them, so there they are kept until the
  /// terminal is given back, at most as many as a log of faults tells.
  func tell(_ words: String) {
    if screen == nil {
      diagnostics.say(words)
    } else if lastWords.count <= FaultLog.limit {
      lastWords.append(words)
    }
  }

  func end(_ failure: WriteFailure) {
    guard ending == nil else { return }
    if failure.code == EINTR, let number = signals.take().ending {
      ending = .signal(number)
    } else {
      ending = .writing(failure)
    }
  }

  /// Something came; it is shown with the next look.
  func changed(isState: Bool) {
    isChanged = true
    if isState {
      self.isState = true
      link.stateAt = Clock.monotonic
    }
  }

  func lost(_ reason: String, wait: Double?) {
    link.lose(Visible.line(reason), at: Clock.monotonic, wait: wait)
    feed.linkLost()
    changed(isState: false)
  }

  /// Shows what came. For a view that counts every change, after each; for a
  /// screen that would only draw what the next moment draws over, when the
  /// input pauses.
  func look(force: Bool = true) {
    guard ending == nil else { return }
    guard force || isChanged || Clock.monotonic >= wanted else { return }
    clock = Clock.monotonic
    sessions = feed.sessions()
    for index in sessions.indices {
      sessions[index].guildName = sessions[index].guildId.flatMap { guilds[$0] }
    }
    if feed.isKnown && sessions.isEmpty != wasEmpty {
      wasEmpty = sessions.isEmpty
      if wasEmpty { onEmpty() }
    }
    now = time?() ?? .now()
    do throws(WriteFailure) {
      if let screen { shown += try screen.show(self) }
      if let lines {
        shown += try lines.show(self, most: options.count.map { $0 - shown } ?? .max)
      }
    } catch {
      return end(error)
    }
    (isChanged, isState) = (false, false)
    wanted = screen?.nextLook(after: self) ?? lines?.nextLook(after: self) ?? .infinity
    if let most = options.count, shown >= most { end(.success) }
  }

  /// When the loop must look again at the latest, `Clock.monotonic`.
  var nextLook: Double {
    isChanged ? clock : min(wanted, deadline, keyDeadline ?? .infinity)
  }

  var descriptors: [Int32] {
    [signals.descriptor] + (screen.map { [$0.terminal.input] } ?? [])
  }

  /// Looks, then waits until the file can be read, the time has come, or the
  /// watch ends. Returns whether the file can be read.
  func wait(for descriptor: Int32?, until: Double = .infinity) -> Bool {
    while ending == nil {
      look(force: false)
      if ending != nil { return false }
      let now = Clock.monotonic
      if now >= until { return false }
      var entries = (descriptors + (descriptor.map { [$0] } ?? [])).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      entries.append(pollfd(fd: 1, events: 0, revents: 0))
      let seconds = min(max(min(nextLook, until) - now, 0), 60)
      let count = poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up)))
      handleSignals()
      if count > 0, descriptor != nil, entries[entries.count - 2].revents != 0 {
        return ending == nil
      }
    }
    return false
  }

  /// Takes signals, keys, the end of the output and of the time.
  func handleSignals() {
    guard ending == nil else { return }
    let taken = signals.take()
    if let number = taken.ending {
      ending = .signal(number)
      return
    }
    if let live = screen {
      if taken.isStopped { stop(live) }
      if taken.isResized || taken.isContinued || taken.isStopped {
        if taken.isContinued && !taken.isStopped { resume(live) }
        live.redraw()
        isChanged = true
      }
      keys(live)
    } else if OutputEnd.isClosed {
      ending = .writing(WriteFailure(code: EPIPE))
    }
    if ending == nil && Clock.monotonic >= deadline { timeIsUp() }
  }

  private func stop(_ live: LiveView) {
    do throws(WriteFailure) { try live.terminal.suspend() } catch { end(error) }
    // It was the suspension's own.
    _ = signals.take()
  }

  /// After a stop that could not be seen coming: the shell has the modes it likes.
  private func resume(_ live: LiveView) {
    live.terminal.leave()
    do throws(WriteFailure) { try live.terminal.enter() } catch { end(error) }
  }

  private func keys(_ live: LiveView) {
    let clock = Clock.monotonic
    var wishes: [LiveView.Wish] = []
    if live.terminal.isReadable {
      guard let bytes = live.terminal.read() else {
        // The terminal has gone.
        ending = .signal(SIGHUP)
        return
      }
      if !bytes.isEmpty { wishes = live.handle(bytes) }
      isChanged = true
    } else if let due = keyDeadline, clock >= due, live.isKeyPending {
      wishes = live.handle([])
      isChanged = true
    }
    keyDeadline = live.isKeyPending ? (keyDeadline ?? clock + 0.05) : nil
    for wish in wishes {
      if wish == .quit { end(.success) } else { onWish(wish) }
    }
  }

  /// Time that ends while the link is up was used well.
  private func timeIsUp() {
    switch link.phase {
    case .open, .ended: end(.success)
    case .connecting, .down: end(.temporary, "time is up and the stream is not open")
    }
  }

  /// Gives the terminal back, says the last words, and ends the process as `ending` says.
  func leave() -> ExitStatus {
    screen?.terminal.leave()
    for words in lastWords { diagnostics.say(words) }
    switch ending {
    case .signal(let number): Process.die(by: number)
    case .writing(let failure): diagnostics.fail(writing: failure)
    case .status(let status):
      guard status != .success else { return status }
      do throws(WriteFailure) {
        try lines?.failed(status, trouble)
      } catch {
        diagnostics.fail(writing: error)
      }
      return status
    case nil: return .success
    }
  }
}

/// Lines for a pipe: one for each change, the sessions' own bytes with every state, or one for a
/// status bar whenever it is another.
final class LineView {
  let form: OutputForm
  private let tellsAll: Bool
  private let writer: RecordWriter
  private var changes = Changes()
  private var link = "connecting"
  private var shown: String?

  init(_ form: OutputForm, tellsAll: Bool, interrupted: @escaping () -> Bool) {
    (self.form, self.tellsAll) = (form, tellsAll)
    writer = RecordWriter(interrupted: interrupted)
  }

  /// Shows what there is, in so many lines at most. Returns how many were shown.
  func show(_ watch: Watch, most: Int) throws(WriteFailure) -> Int {
    let word = watch.link.word(at: watch.clock)
    var lines: [String] = []
    switch form {
    case .json:
      let sessions = watch.isState ? watch.feed.raw.prefix(most) : []
      for session in sessions { try writer.write(json: session.bytes) }
      try writer.flush()
      return sessions.count
    case .waybar, .tmux, .i3:
      guard watch.feed.isKnown || word == "down" else { return 0 }
      return try print(form.line(watch.sessions, at: watch.now, link: word))
    case .text, .line:
      lines += linkChange(word, watch)
      if watch.isChanged && watch.feed.isKnown {
        lines += changes.lines(
          watch.sessions, at: watch.now, tellsAll: tellsAll, reason: { watch.feed.reason(of: $0) })
      }
    }
    for line in lines.prefix(most) { try writer.write(line + "\n") }
    try writer.flush()
    return min(lines.count, most)
  }

  private func linkChange(_ word: String, _ watch: Watch) -> [String] {
    if word == link { return [] }
    let bad = ["stale", "down"]
    // Back for the stream is not yet back for the state.
    defer { link = word }
    if bad.contains(word) {
      return [changes.line("", watch.now, watch.link.words(at: watch.clock).text)]
    }
    return bad.contains(link) ? [changes.line("", watch.now, word)] : []
  }

  /// What a bar shows last would stay there.
  func failed(_ status: ExitStatus, _ reason: String) throws(WriteFailure) {
    if form.isBar { _ = try print(form.trouble(status, reason)) }
  }

  private func print(_ line: String) throws(WriteFailure) -> Int {
    guard line != shown else { return 0 }
    shown = line
    try writer.write(line + "\n")
    try writer.flush()
    return 1
  }

  /// When it wants to be shown again though nothing came, `Clock.monotonic`.
  func nextLook(after watch: Watch) -> Double {
    if form.isBar { return watch.clock + 1 }
    guard form != .json, let at = watch.link.stateAt,
      watch.link.word(at: watch.clock) != "stale"
    else { return .infinity }
    if case .ended = watch.link.phase { return .infinity }
    return at + BackendLink.staleAfter
  }
}

struct BackendLink {
  enum Phase {
    case connecting
    case open
    /// Lost; the next try comes at a time of `Clock.monotonic`, nil when unknown.
    case down(reason: String, since: Double, retryAt: Double?)
    case ended(String)
  }

  enum Mood { case good, odd, bad }

  /// A state that is older is stale, seconds: three of them were missed.
  static let staleAfter = 10.0

  var phase = Phase.connecting
  /// When the last state came, `Clock.monotonic`.
  var stateAt: Double?

  /// It was lost, or could not be had again.
  mutating func lose(_ reason: String, at clock: Double, wait: Double?) {
    var since = clock
    if case .down(_, let first, _) = phase { since = first }
    phase = .down(reason: reason, since: since, retryAt: wait.map { clock + $0 })
  }

  func isStale(at now: Double) -> Bool {
    if case .ended = phase { return false }
    return stateAt.map { now - $0 >= Self.staleAfter } ?? false
  }

  /// One word for machines: `live`, `connecting`, `stale`, `down`, `ended`.
  func word(at now: Double) -> String {
    switch phase {
    case .connecting: "connecting"
    case .open: isStale(at: now) ? "stale" : "live"
    case .down: isStale(at: now) ? "stale" : "down"
    case .ended: "ended"
    }
  }

  func words(at now: Double) -> (text: String, mood: Mood) {
    let age = stateAt.map { "state \(Self.seconds(now - $0)) old" }
    switch phase {
    case .connecting: return ("connecting", .odd)
    case .open:
      guard let age else { return ("live, no state yet", .odd) }
      return isStale(at: now) ? ("stale: \(age)", .bad) : ("live, \(age)", .good)
    case .down(let reason, let since, let retryAt):
      var text = (isStale(at: now) ? "stale: " : "") + "down for \(Self.seconds(now - since))"
      if let retryAt {
        let wait = retryAt - now
        text += wait > 0 ? ", next try in \(Self.seconds(wait.rounded(.up)))" : ", trying"
      }
      if let age { text += ", \(age)" }
      return ("\(text): \(reason)", .bad)
    case .ended(let reason): return (reason, .odd)
    }
  }

  /// Whole seconds, minutes above two of them: `7 s`, `3 min`.
  private static func seconds(_ value: Double) -> String {
    let seconds = Int64(min(max(value, 0), 1e9))
    return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
  }
}
