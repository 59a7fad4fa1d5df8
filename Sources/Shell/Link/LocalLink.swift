import CLibc
public import Core

/// This machine as a host: commands run under a shell of ours, without a
/// network between.
public final class LocalLink: Link {
  private var channels: [LocalChannel] = []
  private var isClosed = false

  /// Ready at once.
  public init() {}

  public var state: LinkState { isClosed ? .ended(.closed) : .ready }
  public var transport: TransportName { .local }
  public var deadline: Double? {
    // A program closes its output a moment before it ends.
    channels.contains { $0.isEnding } ? Clock.monotonic + 0.005 : nil
  }

  public func wants(_ set: inout PollSet) {
    for channel in channels { channel.wants(&set) }
  }

  public func advance(_ set: PollSet, now: Double) {
    for channel in channels { channel.advance() }
    channels.removeAll { $0.ending != nil }
  }

  /// Always fails: the only terminal here is the user's own, where tmux itself attaches.
  public func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel {
    LocalChannel(failing: "no terminal on this machine's own link")
  }

  public func run(_ command: String) -> any Channel {
    let channel = LocalChannel(command)
    if channel.ending == nil { channels.append(channel) }
    return channel
  }

  public func close() {
    isClosed = true
    for channel in channels { channel.close() }
    channels = []
  }
}

/// A shell's command on this machine.
final class LocalChannel: Channel {
  private(set) var ending: Ending?
  private var child: ChildProcess?
  private var isOutputOver = false
  private var isErrorOver = false
  private var isFull = false

  init(failing why: String) { ending = .failed(.local(why: why)) }

  init(_ command: String) {
    let shell = Process.environment("SHELL") ?? "/bin/sh"
    do throws(Failure) {
      child = try ChildProcess(
        [shell, "-c", command], environment: ["SHELL": shell], input: .pipe, output: .pipe,
        error: .pipe)
    } catch {
      ending = .failed(.local(why: error.words))
    }
  }

  var isStarted: Bool { true }
  var isDrained: Bool { true }
  var room: Int { child == nil || isFull ? 0 : 65536 }
  var isEnding: Bool { child != nil && ending == nil && isOutputOver && isErrorOver }

  func wants(_ set: inout PollSet) {
    guard let child else { return }
    if !isOutputOver { set.add(child.output) }
    if !isErrorOver { set.add(child.error) }
    if isFull { set.add(child.input, reading: false, writing: true) }
  }

  func advance() {
    isFull = false
    finishIfOver()
  }

  func read(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    guard let child, !isOutputOver else { return 0 }
    let count = PipeEnd.take(child.output, &buffer, atMost: limit)
    if count < 0 { isOutputOver = true }
    finishIfOver()
    return max(count, 0)
  }

  func readError(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    guard let child, !isErrorOver else { return 0 }
    let count = PipeEnd.take(child.error, &buffer, atMost: limit)
    if count < 0 { isErrorOver = true }
    finishIfOver()
    return max(count, 0)
  }

  func write(_ bytes: ArraySlice<UInt8>) -> Int {
    guard let child, child.input >= 0, !isFull else { return 0 }
    let count = PipeEnd.give(child.input, bytes)
    if count >= 0 { return count }
    // A program that does not read: its end tells how it was.
    if systemError != EAGAIN && systemError != EINTR { return bytes.count }
    isFull = true
    return 0
  }

  func finishWriting() { child?.closeInput() }

  func resize(_ size: WindowSize) {}

  func close() {
    ending = ending ?? .failed(.closed)
    child?.closeEnds()
    child?.kill(SIGHUP)
    child = nil
  }

  private func finishIfOver() {
    guard isEnding, let child, child.reap() else { return }
    if let signal = child.endSignal {
      ending = .ended(bySignal: signal)
    } else {
      ending = .remoteExit(status: child.exitStatus ?? 0)
    }
    child.closeEnds()
    self.child = nil
  }
}
