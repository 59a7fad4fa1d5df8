import CLibc
import Core

/// A link by the user's own OpenSSH client, for a terminal: an ssh of its own, which connects, and
/// asks its questions, on that terminal.
final class SSHTerminalLink: Link {
  let transport = TransportName.ssh
  private(set) var ending: HostFailure?
  private let request: LinkRequest
  private let place: ControlPlace
  private let plan: SSHPlan
  private var terminal: SSHTerminal?

  init(_ request: LinkRequest, _ settings: SSHSettings?, _ wait: HostWait) throws(HostFailure) {
    self.request = request
    place = try SSHPlan.place(request)
    plan = try SSHPlan(request, settings, wait)
  }

  func wants(_ set: inout PollSet) { terminal?.wants(&set) }

  var deadline: Double? { terminal?.deadline }

  func advance(_ set: PollSet, now: Double) {
    guard let terminal else { return }
    terminal.advance(set, now: now)
    do throws(HostFailure) { try plan.tellPin(terminal.log) } catch {
      terminal.close()
      ending = error
    }
    // The master's connection is as dead; whoever comes next gets a new one.
    if case .failed(.silent) = terminal.ending { unlink(place.socket) }
  }

  func openTerminal(
    _ command: String, size: WindowSize, term: String
  ) throws(HostFailure) -> any Channel {
    guard command.utf8.count <= OpenSSHLink.longestCommand else { throw .tooLong }
    let pipe = try Failure.rethrowing(
      try SSHLogPipe(in: place.folder, name: place.ownName("log"))
    ) { HostFailure.local(why: $0.message) }
    let child = try Failure.rethrowing(
      try ChildProcess(
        plan.terminal(command, log: pipe.path), environment: ["TERM": term],
        terminal: size, pipesOutput: true)
    ) { HostFailure.local(why: $0.message) }
    let terminal = SSHTerminal(child, pipe, plan, patience: request.connectTimeout + 2)
    self.terminal = terminal
    return terminal
  }

  func run(_ command: String, _ wait: @escaping HostWait) throws(HostFailure) -> any Channel {
    throw .local(why: "no calls on a terminal's connection")
  }

  func close() { terminal?.close() }
}

/// A remote command on a terminal: an ssh of its own on a terminal of ours, through
/// which it asks its questions before the session begins. What the command prints comes
/// over a pipe: ssh would stand still before a terminal that is full, keys and all.
final class SSHTerminal: Channel {
  private(set) var ending: Ending?
  private let child: ChildProcess
  private let pipe: SSHLogPipe
  private let plan: SSHPlan
  private let patience: Double
  /// What ssh said on its terminal before the session, the end of it, for a proxy's reasons.
  private var talk: [UInt8] = []
  private var hasOutput = false
  private var isOutputOver = false
  private var isTalkOver = false
  // What the owner has left unread it knows of.
  private var isOutputWaiting = false
  private var isTalkWaiting = false
  private var isFull = false
  private var hold = OutputHold()
  private var progress = Clock.monotonic
  private var verdict: HostFailure?

  private static let talkLimit = 2048

  /// - Parameters:
  ///   - child: on a terminal, its output a pipe.
  ///   - patience: seconds without progress before the session, and without a
  ///     question, after which it is given up.
  init(_ child: ChildProcess, _ pipe: SSHLogPipe, _ plan: SSHPlan, patience: Double) {
    self.child = child
    self.pipe = pipe
    self.patience = patience
    self.plan = plan
  }

  var isStarted: Bool { hasOutput || log.isStarted }
  var room: Int { ending != nil || isFull ? 0 : 4096 }
  var log: SSHLog { pipe.log }

  var deadline: Double? {
    guard ending == nil else { return nil }
    // Between the end of its output and its own it takes a moment.
    if isOutputOver { return Clock.monotonic + 0.002 }
    return isPatient ? progress + patience : hold.next
  }

  func wants(_ set: inout PollSet) {
    guard ending == nil else { return }
    pipe.wants(&set)
    if !isOutputOver, !isOutputWaiting { set.add(child.output) }
    if !isTalkOver { set.add(child.terminal, reading: !isTalkWaiting, writing: isFull) }
  }

  func advance(_ set: PollSet, now: Double) {
    guard ending == nil else { return }
    if pipe.pump() { progress = now }
    if set.isReadable(child.output) { isOutputWaiting = true }
    if isStarted, isOutputWaiting { heed(hold.waiting(now, spent: child.processorTime)) }
    if set.isReadable(child.terminal) { isTalkWaiting = true }
    if isStarted { forgetTalk() }
    isFull = false
    if pipe.log.cannotPin, verdict == nil {
      verdict = .hostKeyUnknown(why: "the host's key is new and cannot be pinned")
      child.kill(SIGKILL)
    } else if isPatient, now >= progress + patience, verdict == nil {
      verdict = .connectFailed(why: "no answer for \(Int(patience.rounded())) s")
      child.kill(SIGKILL)
    }
    finishIfOver()
  }

  func read(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    guard ending == nil else { return 0 }
    var count = 0
    if !isOutputOver {
      isOutputWaiting = false
      heed(hold.taken())
      count = PipeEnd.read(child.output, &buffer, atMost: limit)
      if count > 0 { hasOutput = true }
      if count < 0 { isOutputOver = true }
    }
    if count <= 0, !isStarted, !isTalkOver {
      isTalkWaiting = false
      count = PipeEnd.read(child.terminal, &buffer, atMost: limit)
      if count > 0 { talk = Array((talk + buffer[..<count]).suffix(Self.talkLimit)) }
      if count < 0 { isTalkOver = true }
    }
    finishIfOver()
    return max(count, 0)
  }

  func readError(_ buffer: inout [UInt8], atMost limit: Int) -> Int { 0 }

  func write(_ bytes: ArraySlice<UInt8>) -> Int {
    guard ending == nil, !isFull, !bytes.isEmpty else { return 0 }
    heed(hold.needed(Clock.monotonic, spent: child.processorTime))
    let count = PipeEnd.write(child.terminal, bytes.prefix(4096))
    if count < 0, systemError == EAGAIN { isFull = true }
    return max(count, 0)
  }

  func finishWriting() {}

  func resize(_ size: WindowSize) {
    heed(hold.needed(Clock.monotonic, spent: child.processorTime))
    child.resize(size)
  }

  func close() {
    guard ending == nil else { return }
    ending = .failed(.closed)
    // The whole group: proxies that it started need not heed a hang-up.
    child.kill(SIGKILL)
    end()
  }

  /// Whether it is given up without progress: a person who was asked takes time.
  private var isPatient: Bool { !isStarted && talk.isEmpty }

  /// Sends the ssh a signal that is due.
  private func heed(_ signal: Int32?) {
    if let signal { child.kill(signal) }
  }

  /// In a session ssh's own words (its farewell) are of no use to anybody.
  private func forgetTalk() {
    guard isTalkWaiting, !isTalkOver else { return }
    isTalkWaiting = false
    var buffer = [UInt8](repeating: 0, count: 4096)
    if PipeEnd.read(child.terminal, &buffer) < 0 { isTalkOver = true }
  }

  private func finishIfOver() {
    guard ending == nil, isOutputOver, child.reap() else { return }
    // Why the session never began is still to be read.
    guard isStarted || isTalkOver else { return }
    pipe.pump()
    let lines = String(decoding: talk, as: UTF8.self).split { $0.isNewline }
    ending =
      verdict.map(Ending.failed) ?? plan.judge(pipe.log, child, lines.map(String.init))
    end()
  }

  private func end() {
    child.closeEnds()
    pipe.close()
  }
}

/// When an ssh whose output nobody takes is held back. It would read all that the host
/// still sends, up to a megabyte, and copy it anew for each packet. Stopped but for a
/// turn in each second it still answers probes, and sees a link that is dead.
///
/// A turn is over when the ssh has worked, not when some time has passed: where others
/// keep the processors busy it may have to wait longer than that, and one that never
/// comes to read the answer to its own probe takes a good link for a dead one. That
/// it is slow does not make it do so: it counts a probe as unanswered only where there
/// is nothing to read, and anything read counts as an answer. A host that probes it in
/// turn may have to wait some turns while it works off what it has read already.
struct OutputHold {
  private var isHeld = false
  /// When it went on, and its processor time then; nil before it was ever held.
  private var turn: (began: Double, spent: Double?)?
  /// When it is stopped or looked at next, or goes on; nil while its output is taken.
  private(set) var next: Double?

  /// Seconds that output waits before it is held, and that it is held.
  private static let patience = 0.5
  private static let pause = 1.0
  /// Seconds until the first look at a turn; then each time twice that, a second at most.
  private static let look = 0.006
  /// Seconds on a processor that are enough for a turn.
  private static let work = 0.005
  /// Seconds after which a turn is over that needed less, if it ran at all.
  private static let most = 0.18

  /// The signal that is due; `spent`: processor seconds so far, nil (short turns) if unknown.
  mutating func waiting(_ now: Double, spent: @autoclosure () -> Double?) -> Int32? {
    guard let due = next else {
      next = now + Self.patience
      return nil
    }
    guard now >= due else { return nil }
    if isHeld { return go(now, spent()) }
    if let turn, !Self.isOver(turn, now, spent()) {
      next = now + min(max(Self.look, now - turn.began), Self.pause)
      return nil
    }
    isHeld = true
    next = now + Self.pause
    return SIGSTOP
  }

  /// The signal that is due now that its output was taken.
  mutating func taken() -> Int32? {
    (next, turn) = (nil, nil)
    defer { isHeld = false }
    return isHeld ? SIGCONT : nil
  }

  /// The signal that is due now that there is something else for it to do.
  mutating func needed(_ now: Double, spent: @autoclosure () -> Double?) -> Int32? {
    isHeld ? go(now, spent()) : nil
  }

  private mutating func go(_ now: Double, _ spent: Double?) -> Int32 {
    isHeld = false
    turn = (now, spent)
    next = now + Self.look
    return SIGCONT
  }

  private static func isOver(
    _ turn: (began: Double, spent: Double?), _ now: Double, _ spent: Double?
  ) -> Bool {
    guard let before = turn.spent, let spent else { return true }
    return spent >= before + work || spent > before && now >= turn.began + most
  }
}

extension ChildProcess {
  /// Nil where the system has no clock for that (macOS).
  var processorTime: Double? {
    #if os(Linux)
      var clock = clockid_t()
      var time = timespec()
      guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
        return nil
      }
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    #else
      return nil
    #endif
  }
}
