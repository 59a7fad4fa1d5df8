import CLibc
import Core
import Foundation

/// A reply command that runs: the message goes in, text comes out.
///
/// It is watched by a thread of its own, which waits in poll(2).
final class ReplyProcess: Sendable {
  /// What comes of it.
  enum Event: Sendable {
    /// Some of its output.
    case output([UInt8])
    /// The last one.
    case ended(Ending)
  }

  /// How it ended.
  enum Ending: Equatable, Sendable {
    /// With this status, and the last line that it wrote on standard error.
    case exited(Int32, complaint: String)
    /// By this signal.
    case killed(Int32)
    /// It could not be started.
    case failed(String)
    /// It was stopped by `stop`.
    case stopped
    /// Its time was over.
    case late
    /// It wrote more than is taken.
    case tooLong
  }

  /// The longest output, bytes.
  static let outputLimit = 256 * 1024
  /// How long a program has between being asked to end and being killed, seconds.
  private static let grace = 2.0

  /// What comes of it, the ending last.
  let events: AsyncStream<Event>
  private let command: String
  private let environment: [String: String?]
  private let wake: (read: Int32, write: Int32)

  /// Starts a command.
  ///
  /// - Parameters:
  ///   - command: for sh(1).
  ///   - environment: what is set beside our own environment.
  ///   - input: what it reads.
  ///   - seconds: how long it may take.
  init(_ command: String, environment: [String: String], input: [UInt8], seconds: Double) {
    self.command = command
    self.environment = environment.mapValues { $0 }
    var ends: [Int32] = [-1, -1]
    // Without descriptors the command cannot be started either.
    _ = clibc_pipe(&ends, 0)
    wake = (ends[0], ends[1])
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    self.events = events
    Thread.detachNewThread { [self] in
      continuation.yield(.ended(watch(input, until: Clock.monotonic + seconds, continuation)))
      continuation.finish()
    }
  }

  deinit { for end in [wake.read, wake.write] where end >= 0 { close(end) } }

  /// Asks it to end; kills it when it does not.
  func stop() { _ = write(wake.write, "x", 1) }

  /// Serves its pipes until it has ended.
  private func watch(
    _ input: [UInt8], until deadline: Double, _ events: AsyncStream<Event>.Continuation
  ) -> Ending {
    let child: ChildProcess
    do throws(ChildProcess.Failure) {
      child = try ChildProcess(
        ["/bin/sh", "-c", command], environment: environment, input: .pipe, output: .pipe,
        error: .pipe, leadsGroup: true)
    } catch {
      return .failed(error.words)
    }
    var pump = ReplyPump(child, input: input)
    var ending: Ending?
    var killAt = Double.infinity
    var goneSince: Double?
    func end(_ reason: Ending) {
      if ending != nil { return }
      ending = reason
      child.kill(SIGTERM)
      killAt = Clock.monotonic + Self.grace
    }
    while true {
      if pump.wait(wake.read) { end(.stopped) }
      if !pump.output.isEmpty {
        if ending == nil { events.yield(.output(pump.output)) }
        pump.output = []
      }
      if pump.count > Self.outputLimit { end(.tooLong) }
      let now = Clock.monotonic
      if now >= deadline { end(.late) }
      if now >= killAt { child.kill(SIGKILL) }
      guard Self.hasEnded(child.process) else { continue }
      if pump.isOver { break }
      // What it started in the background may hold its output open.
      let since = goneSince ?? now
      goneSince = since
      if now - since >= 1 { break }
    }
    // Not yet reaped, so the group is still its own.
    if ending != nil || !pump.isOver { child.kill(SIGKILL) }
    let status = child.waitForEnd()
    if let ending { return ending }
    if let signal = child.endSignal { return .killed(signal) }
    return .exited(child.exitStatus ?? status, complaint: pump.complaint)
  }

  /// Whether a program has ended; it stays to be reaped.
  private static func hasEnded(_ process: pid_t) -> Bool {
    var info = siginfo_t()
    let found = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
    return found != 0 || info.si_signo == SIGCHLD
  }
}

/// The three pipes of a reply command.
private struct ReplyPump {
  private static let complaintLimit = 4096

  /// What came out and was not passed on.
  var output: [UInt8] = []
  /// How much came out in all.
  private(set) var count = 0
  private let child: ChildProcess
  private var input: ArraySlice<UInt8>
  private var isOutputOpen = true
  private var isErrorOpen = true
  private var errors: [UInt8] = []

  init(_ child: ChildProcess, input: [UInt8]) {
    self.child = child
    self.input = input[...]
    if input.isEmpty { child.closeInput() }
  }

  /// Whether all that it wrote was read.
  var isOver: Bool { !isOutputOpen }

  /// The last line that it wrote on standard error, not too long and safe to show.
  var complaint: String {
    let text = String(decoding: errors, as: UTF8.self)
    let line = text.split(whereSeparator: \.isNewline).last { !$0.trimmingBlanks().isEmpty } ?? ""
    return Visible.line(String(line.prefix(300)))
  }

  /// Moves what can be moved, and waits for that, a fifth of a second at most.
  ///
  /// - Returns: whether somebody wrote to `wake`.
  mutating func wait(_ wake: Int32) -> Bool {
    var entries = [
      pollfd(fd: child.input, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: isOutputOpen ? child.output : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isErrorOpen ? child.error : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&entries, nfds_t(entries.count), 200) > 0 else { return false }
    if entries[0].revents != 0 { send() }
    if entries[1].revents != 0 {
      isOutputOpen = read(child.output) { output += $0 }
      count += output.count
    }
    if entries[2].revents != 0 {
      isErrorOpen = read(child.error) { errors += $0 }
      errors = errors.suffix(Self.complaintLimit)
    }
    guard entries[3].revents != 0 else { return false }
    var byte: UInt8 = 0
    return CLibc.read(wake, &byte, 1) == 1
  }

  private mutating func send() {
    let sent = input.withUnsafeBytes { write(child.input, $0.baseAddress, min($0.count, 65536)) }
    if sent < 0 && (systemError == EAGAIN || systemError == EINTR) { return }
    // A program that does not read all of it is as good as any.
    input = sent < 0 ? [] : input.dropFirst(sent)
    if input.isEmpty { child.closeInput() }
  }

  /// - Returns: whether there may be more.
  private func read(_ descriptor: Int32, _ take: ([UInt8]) -> Void) -> Bool {
    var block = [UInt8](repeating: 0, count: 65536)
    let count = CLibc.read(descriptor, &block, block.count)
    if count > 0 { take(Array(block[..<count])) }
    return count > 0 || (count < 0 && (systemError == EAGAIN || systemError == EINTR))
  }
}
