import CLibc
import Core

/// A remote command on a terminal: an ssh of its own on a terminal of ours, through
/// which it asks its questions before the session begins.
final class SSHTerminal: Channel {
  private(set) var ending: Ending?
  private let child: ChildProcess?
  private let pipe: SSHLogPipe?
  private let judge: (SSHLog, ChildProcess, _ talk: [String]) -> Ending
  private let patience: Double
  /// What ssh printed before the session, the end of it.
  private var talk: [UInt8] = []
  /// What comes behind the session's end: its last bytes and ssh's own words.
  private var last: [UInt8] = []
  private var isOutputOver = false
  private var isWaiting = false
  private var isFull = false
  private var progress: Double
  private var verdict: Ending?

  private static let talkLimit = 2048

  /// - Parameters:
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
  init(failing ending: Ending) {
    child = nil
    pipe = nil
    patience = 0
    progress = 0
    judge = { _, _, _ in ending }
    self.ending = ending
  }

  var isStarted: Bool { pipe?.log.isStarted ?? false }
  var isDrained: Bool { true }
  var room: Int { ending != nil || isFull ? 0 : 4096 }
  var log: SSHLog { pipe?.log ?? SSHLog() }

  var deadline: Double? {
    guard ending == nil, child != nil else { return nil }
    // Between the end of its output and its own it takes a moment.
    if isOutputOver { return Clock.monotonic + 0.002 }
    return !isStarted && talk.isEmpty ? progress + patience : nil
  }

  func wants(_ set: inout PollSet) {
    guard ending == nil, let child, let pipe else { return }
    pipe.wants(&set)
    // What the owner has left unread it knows of.
    if !isOutputOver { set.add(child.terminal, reading: !isWaiting, writing: isFull) }
  }

  func advance(_ set: PollSet, now: Double) {
    guard ending == nil, let child, let pipe else { return }
    if set.isReadable(child.terminal) { isWaiting = true }
    isFull = false
    if pipe.pump() { progress = now }
    if pipe.log.cannotPin, verdict == nil {
      verdict = .hostKeyUnknown(why: "the host's key is new and cannot be pinned")
      child.kill(SIGKILL)
    }
    if !isStarted, talk.isEmpty, now >= progress + patience, verdict == nil {
      verdict = .connectFailed(why: "no answer for \(Int(patience.rounded())) s")
      child.kill(SIGKILL)
    }
    finishIfOver()
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard ending == nil, let child, let pipe else { return 0 }
    isWaiting = false
    var count = 0
    if !isOutputOver {
      count = CLibc.read(child.terminal, buffer.baseAddress, buffer.count)
      if count == 0 || count < 0 && systemError != EAGAIN && systemError != EINTR {
        isOutputOver = true
      }
      count = max(count, 0)
      // In this order what the command printed is never taken for ssh's talk.
      pipe.pump()
      if !pipe.log.isStarted { note(buffer[..<count]) }
      if pipe.log.isOver {
        last += buffer[..<count]
        count = 0
      }
    }
    if isOutputOver, count == 0, !last.isEmpty { count = giveLast(buffer) }
    finishIfOver()
    return count
  }

  func readError(_ buffer: UnsafeMutableRawBufferPointer) -> Int { 0 }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard ending == nil, let child, !isFull, !bytes.isEmpty else { return 0 }
    let count = CLibc.write(child.terminal, bytes.baseAddress, min(bytes.count, 4096))
    if count < 0, systemError == EAGAIN { isFull = true }
    return max(count, 0)
  }

  func finishWriting() {}

  func resize(_ size: WindowSize) { child?.resize(size) }

  func close() {
    guard ending == nil else { return }
    ending = .closed
    // First the proxies that it started, which a hang-up of its terminal might not end.
    child?.kill(SIGKILL)
    end()
  }

  /// The end of what was said before the session, for a proxy's reasons.
  private func note(_ bytes: Slice<UnsafeMutableRawBufferPointer>) {
    talk += bytes
    if talk.count > Self.talkLimit { talk.removeFirst(talk.count - Self.talkLimit) }
  }

  /// What is left of the session without ssh's farewell.
  private func giveLast(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    let kept = Self.withoutFarewell(last)
    let count = min(kept.count, buffer.count)
    buffer.copyBytes(from: kept.prefix(count))
    last = Array(kept.dropFirst(count))
    return count
  }

  /// Takes `Connection to HOST closed.` off the end, as often as it stands there.
  static func withoutFarewell(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    var rest = bytes[...]
    while true {
      let line = rest.reversed().drop { $0 == 10 || $0 == 13 }
      let end = line.startIndex.base
      guard end != rest.endIndex else { return rest }
      let start = rest[..<end].lastIndex(of: 10).map { $0 + 1 } ?? rest.startIndex
      let text = String(decoding: rest[start..<end], as: UTF8.self)
      // It may stand behind the command's last line, which had no end.
      guard let place = text.place(of: "Connection to "),
        text.hasSuffix(" closed.") || text.hasSuffix(" closed by remote host.")
      else { return rest }
      let kept = text[..<place.lowerBound].utf8.count
      rest = rest[..<(start + kept)]
    }
  }

  private func finishIfOver() {
    guard ending == nil, let child, let pipe else { return }
    // A process that it left behind may hold the terminal open.
    if !isOutputOver, !isWaiting, verdict != nil || pipe.log.isOver, child.reap() {
      isOutputOver = true
    }
    guard isOutputOver, last.isEmpty || Self.withoutFarewell(last).isEmpty, child.reap() else {
      return
    }
    pipe.pump()
    let lines = String(decoding: talk, as: UTF8.self).split { $0.isNewline }
    ending = verdict ?? judge(pipe.log, child, lines.map(String.init))
    end()
  }

  private func end() {
    child?.closeEnds()
    pipe?.close()
  }
}
