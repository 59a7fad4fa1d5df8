import CLibc
import Core

/// A remote command on a terminal: an ssh of its own on a terminal of ours, through
/// which it asks its questions before the session begins. What the command prints comes
/// over a pipe: ssh would stand still before a terminal that is full, keys and all.
final class SSHTerminal: Channel {
  private(set) var ending: Ending?
  private let child: ChildProcess?
  private let pipe: SSHLogPipe?
  private let judge: (SSHLog, ChildProcess, _ talk: [String]) -> Ending
  private let patience: Double
  /// What ssh said on its terminal before the session, the end of it.
  private var talk: [UInt8] = []
  private var hasOutput = false
  private var isOutputOver = false
  private var isTalkOver = false
  // What the owner has left unread it knows of.
  private var isOutputWaiting = false
  private var isTalkWaiting = false
  private var isFull = false
  private var hold = OutputHold()
  private var progress: Double
  private var verdict: HostFailure?

  private static let talkLimit = 2048

  /// - Parameters:
  ///   - child: on a terminal, its output a pipe.
  ///   - patience: seconds without progress before the session, and without a
  ///     question, after which it is given up.
  ///   - judge: why it ended.
  init(
    _ child: ChildProcess, _ pipe: SSHLogPipe, patience: Double, now: Double,
    judge: @escaping (SSHLog, ChildProcess, _ talk: [String]) -> Ending
  ) {
    self.child = child
    self.pipe = pipe
    self.patience = patience
    self.judge = judge
    progress = now
  }

  /// One that could not be started.
  init(failing failure: HostFailure) {
    child = nil
    pipe = nil
    patience = 0
    progress = 0
    judge = { _, _, _ in .failed(failure) }
    ending = .failed(failure)
  }

  var isStarted: Bool { hasOutput || log.isStarted }
  var isDrained: Bool { true }
  var room: Int { ending != nil || isFull ? 0 : 4096 }
  var log: SSHLog { pipe?.log ?? SSHLog() }

  var deadline: Double? {
    guard ending == nil, child != nil else { return nil }
    // Between the end of its output and its own it takes a moment.
    if isOutputOver { return Clock.monotonic + 0.002 }
    return isPatient ? progress + patience : hold.next
  }

  func wants(_ set: inout PollSet) {
    guard ending == nil, let child, let pipe else { return }
    pipe.wants(&set)
    if !isOutputOver, !isOutputWaiting { set.add(child.output) }
    if !isTalkOver { set.add(child.terminal, reading: !isTalkWaiting, writing: isFull) }
  }

  func advance(_ set: PollSet, now: Double) {
    guard ending == nil, let child, let pipe else { return }
    if pipe.pump() { progress = now }
    if set.isReadable(child.output) { isOutputWaiting = true }
    if isStarted, isOutputWaiting, let signal = hold.waiting(now, spent: child.processorTime) {
      child.kill(signal)
    }
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
    guard ending == nil, let child else { return 0 }
    var count = 0
    if !isOutputOver {
      isOutputWaiting = false
      if let signal = hold.taken() { child.kill(signal) }
      count = PipeEnd.take(child.output, &buffer, atMost: limit)
      if count > 0 { hasOutput = true }
      if count < 0 { isOutputOver = true }
    }
    if count <= 0, !isStarted, !isTalkOver {
      isTalkWaiting = false
      count = PipeEnd.take(child.terminal, &buffer, atMost: limit)
      if count > 0 { note(buffer[..<count]) }
      if count < 0 { isTalkOver = true }
    }
    finishIfOver()
    return max(count, 0)
  }

  func readError(_ buffer: inout [UInt8], atMost limit: Int) -> Int { 0 }

  func write(_ bytes: ArraySlice<UInt8>) -> Int {
    guard ending == nil, let child, !isFull, !bytes.isEmpty else { return 0 }
    if let signal = hold.needed(Clock.monotonic, spent: child.processorTime) {
      child.kill(signal)
    }
    let count = PipeEnd.give(child.terminal, bytes.prefix(4096))
    if count < 0, systemError == EAGAIN { isFull = true }
    return max(count, 0)
  }

  func finishWriting() {}

  func resize(_ size: WindowSize) {
    if let signal = hold.needed(Clock.monotonic, spent: child?.processorTime) {
      child?.kill(signal)
    }
    child?.resize(size)
  }

  func close() {
    guard ending == nil else { return }
    ending = .failed(.closed)
    // The whole group: proxies that it started need not heed a hang-up.
    child?.kill(SIGKILL)
    end()
  }

  /// Whether it is given up without progress: a person who was asked takes time.
  private var isPatient: Bool { !isStarted && talk.isEmpty }

  /// The end of what was said before the session, for a proxy's reasons.
  private func note(_ bytes: ArraySlice<UInt8>) {
    talk += bytes
    if talk.count > Self.talkLimit { talk.removeFirst(talk.count - Self.talkLimit) }
  }

  /// In a session ssh's own words (its farewell) are of no use to anybody.
  private func forgetTalk() {
    guard let child, isTalkWaiting, !isTalkOver else { return }
    isTalkWaiting = false
    var buffer = [UInt8](repeating: 0, count: 4096)
    if PipeEnd.take(child.terminal, &buffer) < 0 { isTalkOver = true }
  }

  private func finishIfOver() {
    guard ending == nil, isOutputOver, let child, let pipe, child.reap() else { return }
    // Why the session never began is still to be read.
    guard isStarted || isTalkOver else { return }
    pipe.pump()
    let lines = String(decoding: talk, as: UTF8.self).split { $0.isNewline }
    ending =
      verdict.map(Ending.failed) ?? judge(pipe.log, child, lines.map(String.init))
    end()
  }

  private func end() {
    child?.closeEnds()
    pipe?.close()
  }
}
