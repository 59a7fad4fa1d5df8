import CLibc
import Core
import Screen
import Shell

/// The loop between the user's terminal and the session: one turn waits for
/// whatever comes first, and takes it as far as it goes.
final class AttachLoop {
  enum Phase {
    /// A link is made.
    case opening
    case starting
    case attached
    case waiting(until: Double, why: String)
  }

  private let options: AttachOptions
  private let request: LinkRequest
  private let line: AttachLine
  let terminal: SeatTerminal
  private let talk: AttachTalk
  let signals = TerminalSignals(window: true)
  var reconnect: Reconnect
  var phase = Phase.opening
  var link: (any Link)?
  var channel: (any Channel)?
  private var filter: AttachAnswerFilter
  var escapes = EscapeKeys()
  var keys = ByteQueue()
  private static let keyLimit = 256 << 10
  var keyRoom: Int { max(0, Self.keyLimit - keys.count) }
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  var status: StatusLine
  var set = PollSet()
  var outcome: AttachOutcome?
  var toldSize = WindowSize(columns: 80, rows: 24)
  var nudgeEnd: Double?
  var isTalking = false
  /// Whether the screen of the link before is still shown.
  private var isStale = false
  private var lastWhy = ""

  init(
    _ options: AttachOptions, _ request: LinkRequest, _ line: AttachLine, _ terminal: SeatTerminal,
    _ talk: AttachTalk
  ) {
    (self.options, self.request, self.line) = (options, request, line)
    (self.terminal, self.talk) = (terminal, talk)
    reconnect = Reconnect(maxRetries: options.maxRetries)
    filter = AttachAnswerFilter(nonce: line.nonce)
    status = StatusLine(host: request.destination.name, isSilent: options.quiet)
  }

  private var host: String { request.destination.name }

  func run() -> AttachOutcome {
    guard terminal.enter() else {
      return AttachOutcome(status: ExitStatus.failure.rawValue, messages: ["the terminal has gone"])
    }
    talk.clear = { [self] in
      terminal.draw(status.clear(terminal.size))
      terminal.drain(seconds: 1)
    }
    connect()
    while outcome == nil { turn() }
    link?.close()
    if outcome?.signal == nil { terminal.drain(seconds: 2) }
    talk.clear()
    return outcome!
  }

  private func turn() {
    set.removeAll()
    link?.wants(&set)
    do throws(HostFailure) { try wait(&set, until: deadline) } catch { return }
    let now = Clock.monotonic
    link?.advance(set, now: now)
    advance(now)
    terminal.flush()
  }

  /// The one place where the loop waits, also while a link is made.
  private func wait(_ set: inout PollSet, until: Double?) throws(HostFailure) {
    set.add(terminal.input, reading: keyRoom > 0)
    set.add(terminal.output, reading: false, writing: terminal.isWaiting)
    set.add(signals.descriptor)
    set.wait(seconds: until.map { $0 - Clock.monotonic })
    if set.isReadable(signals.descriptor) { handleSignals() }
    if outcome == nil && set.isReadable(terminal.input) { readKeys() }
    if outcome != nil { throw .closed }
    terminal.flush()
  }

  /// When the loop must turn at the latest.
  private var deadline: Double? {
    // It may have ended when it was made, and no descriptor tells.
    if link?.ending != nil { return 0 }
    var times = [link?.deadline, nudgeEnd].compactMap { $0 }
    if case .waiting(let until, _) = phase {
      times.append(min(until, status.nextChange(until: until, now: Clock.monotonic)))
    }
    return times.min()
  }

  private func advance(_ now: Double) {
    switch phase {
    case .waiting(let until, let why):
      if now >= until {
        connect()
      } else {
        show(
          .waiting(why: why, attempt: reconnect.failures, seconds: Int((until - now).rounded(.up))))
      }
    case .opening: break
    case .starting, .attached: exchange(now)
    }
  }

  // MARK: The link

  private func connect() {
    phase = .opening
    isTalking = false
    filter = AttachAnswerFilter(nonce: line.nonce)
    talk.beginTry(keepingAnswers: reconnect.hasAnswered)
    show(
      reconnect.hasAnswered || reconnect.failures > 0
        ? .trying(why: lastWhy, attempt: reconnect.failures) : .connecting)
    terminal.flush()
    do throws(HostFailure) {
      let link = try request.link { [self] set, until throws(HostFailure) in
        try wait(&set, until: until)
      }
      self.link = link
      toldSize = terminal.size
      channel = try link.openTerminal(
        reconnect.hasAnswered ? line.again : line.first, size: toldSize, term: line.term)
      phase = .starting
      exchange(Clock.monotonic)
    } catch {
      if outcome == nil { lost(.failed(error), Clock.monotonic) }
    }
  }

  private func exchange(_ now: Double) {
    guard let channel else { return }
    while terminal.room > 0 {
      let count = channel.read(&buffer, atMost: terminal.room)
      if count == 0 { break }
      receive(buffer[..<count])
      terminal.flush()
    }
    sendKeys()
    if let nudgeEnd, now >= nudgeEnd { tellSize() }
    if let ending = channel.ending {
      lost(ending, now)
    } else if let failure = link?.ending {
      lost(.failed(failure), now)
    }
  }

  func sendKeys() {
    while let channel, sendsKeys, !keys.isEmpty {
      let count = channel.write(keys.prefix(channel.room)[...])
      if count == 0 { break }
      keys.drop(count)
    }
  }

  /// Typed ahead, keys wait for the session, but a transport that asks gets them. Of those
  /// that are typed while the link is down nobody knows where they would land.
  private var sendsKeys: Bool {
    if case .attached = phase { return true }
    return isTalking || (channel?.isStarted == true && !reconnect.hasAnswered)
  }

  private func receive(_ bytes: ArraySlice<UInt8>) {
    if case .attached = phase {
      if isStale {
        // Left first, the old screen does not keep the cursor of the shell's.
        isStale = false
        terminal.undo()
      }
      status.forget()
      terminal.pass(bytes)
      return
    }
    guard let channel else { return }
    if !channel.isStarted {
      beginTalk()
      terminal.pass(bytes)
      return
    }
    let (before, behind) = filter.receive(Array(bytes))
    // What login files print; over a session's screen it would only be dirt.
    if !before.isEmpty && !reconnect.hasAnswered {
      terminal.draw(status.clear(terminal.size))
      terminal.pass(before[...])
      // tmux drops what the host's terminal has not passed on when it takes it over,
      // the answer too at times: its screen says the same.
      if filter.answer == nil, terminal.modes.isOnAlternateScreen { filter.assumeAttaching() }
    }
    guard filter.answer == .attaching else { return }
    attached()
    if !behind.isEmpty { receive(behind[...]) }
  }

  private func beginTalk() {
    guard !isTalking else { return }
    isTalking = true
    terminal.draw(status.clear(terminal.size))
    if isStale {
      isStale = false
      terminal.undo()
    }
  }

  private func attached() {
    isStale = reconnect.hasAnswered && !isTalking
    if !reconnect.hasAnswered {
      terminal.draw(status.clear(terminal.size))
      remember()
    } else {
      keys.removeAll()
      escapes.reset()
      keys.append(AttachLine.acknowledgement)
    }
    if let link { talk.note("\(host): connected by \(link.transport.rawValue)") }
    phase = .attached
    reconnect.answered()
    talk.isHeld = true
    terminal.setRaw(true)
    if terminal.size != toldSize { tellSize() }
  }

  /// Nothing depends on it: a session goes on when the disk is full.
  private func remember() {
    do throws(Failure) {
      let name = line.start.name
      try SessionMemory.update(SessionMemory.path(for: request)) { $0.used(name) }
    } catch {
      talk.note(error.message)
    }
  }

  private func lost(_ ending: Ending, _ now: Double) {
    let answer = filter.answer
    link?.close()
    link = nil
    channel = nil
    nudgeEnd = nil
    lastWhy = ending.reason
    talk.note("\(host): \(lastWhy)")
    terminal.setRaw(false)
    if reconnect.hasAnswered {
      keys.removeAll()
      escapes.reset()
    }
    let failures = reconnect.failures
    guard case .failed(let failure) = ending, let seconds = try? reconnect.lost(failure) else {
      outcome = .ended(ending, of: line.start, on: host, answer: answer, failures: failures)
      return
    }
    phase = .waiting(until: now + seconds, why: lastWhy)
    advance(now)
  }
}

extension AttachLoop {
  func handleSignals() {
    let taken = signals.take()
    if let signal = taken.ending {
      outcome = AttachOutcome(signal: signal)
      return
    }
    if taken.isStopped {
      suspend()
    } else if taken.isContinued {
      terminal.goOn()
      nudge()
    }
    if taken.isResized || taken.isStopped {
      tellSize()
      status.forget()
    }
  }

  func suspend() {
    // An ssh that is held back would get no more turns.
    channel?.resize(toldSize)
    guard terminal.stop() else {
      outcome = AttachOutcome(signal: SIGHUP)
      return
    }
    // The signal that woke us is not a second stop.
    _ = signals.take()
    status.forget()
    nudge()
  }

  func tellSize() {
    nudgeEnd = nil
    guard let channel else { return }
    toldSize = terminal.size
    channel.resize(toldSize)
  }

  /// tmux draws everything anew when the size changes, and only then hears of it.
  func nudge() {
    guard case .attached = phase, let channel else { return }
    status.forget()
    var size = terminal.size
    size.rows += size.rows > 2 ? -1 : 1
    channel.resize(size)
    nudgeEnd = Clock.monotonic + 0.05
  }

  func show(_ state: StatusLine.State) {
    let text = status.show(
      state, terminal.size, onLastRow: reconnect.hasAnswered,
      isInSequence: terminal.modes.isInSequence)
    terminal.draw(text)
  }
}

extension AttachLoop {
  func readKeys() {
    var bytes = [UInt8](repeating: 0, count: min(4096, keyRoom))
    let count = read(terminal.input, &bytes, bytes.count)
    if count < 0 && (systemError == EINTR || systemError == EAGAIN) { return }
    guard count > 0 else {
      outcome = AttachOutcome(signal: SIGHUP)
      return
    }
    for part in escapes.receive(bytes[..<count]) {
      switch part {
      case .end:
        // What was typed before goes out if it can at once.
        sendKeys()
        link?.advance(PollSet(), now: Clock.monotonic)
        outcome = .left(host, isQuiet: options.quiet, hasAttached: reconnect.hasAnswered)
        terminal.forgetOutput()
        return
      case .suspend: suspend()
      case .list: show(.escapes)
      case .keys(let typed): receive(typed)
      }
    }
  }

  private func receive(_ typed: [UInt8]) {
    switch phase {
    case .waiting(_, let why):
      if typed.contains(0x0d) { phase = .waiting(until: 0, why: why) }
    case .attached:
      if status.isShown { nudge() }
      keys.append(typed)
    case .opening, .starting:
      if !reconnect.hasAnswered || isTalking { keys.append(typed) }
    }
  }
}

/// What comes of attaching.
struct AttachOutcome: Equatable {
  var status: Int32 = 0
  /// Ends the process instead.
  var signal: Int32?
  var messages: [String] = []

  /// The user ended it, by an escape.
  static func left(_ host: String, isQuiet: Bool, hasAttached: Bool) -> AttachOutcome {
    AttachOutcome(
      status: (hasAttached ? ExitStatus.success : .temporary).rawValue,
      messages: isQuiet ? [] : ["\(host): disconnected"])
  }

  static func ended(
    _ ending: Ending, of start: SessionStart, on host: String, answer: AttachAnswer?, failures: Int
  ) -> AttachOutcome {
    func refusal(_ failure: HostFailure) -> AttachOutcome {
      AttachOutcome(status: failure.exitStatus, messages: failure.lines(of: host))
    }
    switch (ending, answer) {
    case (.remoteExit, .gone):
      return AttachOutcome(
        status: ExitStatus.negative.rawValue,
        messages: ["\(host): session \(start.name) ended while the link was down"])
    case (.remoteExit, .noTmux): return refusal(.noTmux)
    case (.remoteExit, .noFolder): return refusal(.noFolder(start.directory))
    case (.remoteExit, .noHarness): return refusal(.noHarness(start.firstWord ?? start.harness))
    // The host's script has said why.
    case (.remoteExit(let status), .noWorktree):
      let isFinal = status != ExitStatus.temporary.rawValue
      return refusal(.noWorktree(why: "nothing was started", isFinal: isFinal))
    // tmux itself says why.
    case (.remoteExit(let status), .attaching): return AttachOutcome(status: status)
    case (.remoteExit(let status), nil):
      let outcome = refusal(.noShell(says: ending.reason))
      // A login file's own, as ssh has it; but nothing is to be tried again for it.
      let isOwn = (1..<126).contains(status) && status != ExitStatus.temporary.rawValue
      return AttachOutcome(status: isOwn ? status : outcome.status, messages: outcome.messages)
    case (.failed(.hostKeyChanged(let lines)), _):
      return AttachOutcome(status: ending.exitStatus, messages: lines)
    default:
      let tries =
        failures == 0 ? "" : "gave up after \(failures) more \(failures == 1 ? "try" : "tries"): "
      return AttachOutcome(
        status: ending.exitStatus, messages: ["\(host): \(tries)\(ending.reason)"])
    }
  }
}
