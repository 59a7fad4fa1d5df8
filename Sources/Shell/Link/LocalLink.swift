import CLibc
import Core

/// This machine as a host: commands run under a shell of ours, without a
/// network between.
public final class LocalLink: Link {
  /// Ready at once.
  public init() {}

  public let transport = TransportName.local

  public func run(_ command: String, _ wait: @escaping HostWait) throws(HostFailure) -> any Channel
  {
    let shell = Process.environment("SHELL") ?? "/bin/sh"
    return LocalChannel(
      try Failure.rethrowing(
        try ChildProcess(
          [shell, "-c", command], environment: ["SHELL": shell], input: .pipe, error: .pipe)
      ) { HostFailure.local(why: $0.message) })
  }
}

/// A shell's command on this machine.
private final class LocalChannel: PipeChannel {
  private var child: ChildProcess?

  init(_ child: ChildProcess) {
    self.child = child
    super.init(child.takeEnds())
  }

  /// A program closes its output a moment before it ends.
  override var deadline: Double? { isRead ? Clock.monotonic + 0.005 : nil }

  override func found() -> Ending? {
    guard isRead, let child, child.reap() else { return nil }
    return child.endSignal.map(Ending.ended(bySignal:))
      ?? .remoteExit(status: child.exitStatus ?? 0)
  }

  override func letGo() { child = nil }
}

/// Three pipes for a command: its standard input, output and error.
struct StandardPipes {
  private(set) var ours: [Int32] = []
  private(set) var theirs: [Int32] = []

  init() throws(HostFailure) {
    for number in 0..<3 {
      var ends: [Int32] = [-1, -1]
      let isInput = number == 0
      guard clibc_pipe(&ends, isInput ? 1 : 0) == 0 else {
        let reason = systemReason(systemError)
        closeOurs()
        closeTheirs()
        throw .local(why: "pipe: \(reason)")
      }
      ours.append(ends[isInput ? 1 : 0])
      theirs.append(ends[isInput ? 0 : 1])
    }
  }

  func closeOurs() { for end in ours { close(end) } }
  func closeTheirs() { for end in theirs { close(end) } }
}

/// A command whose standard input, output and error are pipes of ours.
class PipeChannel: Channel {
  private var input: Int32
  private var output: Int32
  private var error: Int32
  private var isFull = false
  private var result: Ending?
  /// When something came last.
  private(set) var heard = Clock.monotonic

  init(_ ends: [Int32]) { (input, output, error) = (ends[0], ends[1], ends[2]) }

  deinit { closeEnds() }

  /// Whether all was read that there is.
  final var isRead: Bool { output < 0 && error < 0 }

  /// Looks how the command has ended.
  func found() -> Ending? { nil }

  /// It is over.
  func letGo() {}

  private func closeEnds() {
    for end in [input, output, error] where end >= 0 { CLibc.close(end) }
    (input, output, error) = (-1, -1, -1)
  }

  var deadline: Double? { nil }

  func wants(_ set: inout PollSet) {
    set.add(output)
    set.add(error)
    if isFull { set.add(input, reading: false, writing: true) }
  }

  final var ending: Ending? {
    if result == nil, let ending = found() { end(ending) }
    return result
  }

  final var room: Int { input < 0 ? 0 : 65536 }

  final func read(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    receive(&output, &buffer, limit)
  }

  final func readError(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    receive(&error, &buffer, limit)
  }

  final func write(_ bytes: ArraySlice<UInt8>) -> Int {
    guard input >= 0, !bytes.isEmpty else { return 0 }
    let count = PipeEnd.write(input, bytes)
    isFull = count < 0 && (systemError == EAGAIN || systemError == EINTR)
    // A program that does not read: its end tells how it was.
    return count >= 0 ? count : isFull ? 0 : bytes.count
  }

  final func finishWriting() {
    if input >= 0 { CLibc.close(input) }
    (input, isFull) = (-1, false)
  }

  final func close() { end(.failed(.closed)) }

  private func end(_ ending: Ending) {
    result = result ?? ending
    closeEnds()
    letGo()
  }

  private func receive(_ end: inout Int32, _ buffer: inout [UInt8], _ limit: Int) -> Int {
    guard end >= 0 else { return 0 }
    let count = PipeEnd.read(end, &buffer, atMost: limit)
    if count > 0 { heard = Clock.monotonic }
    if count >= 0 { return count }
    CLibc.close(end)
    end = -1
    return 0
  }
}
