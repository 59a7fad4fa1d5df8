public import CLibc

/// A program that was started by us: no shell between, signals at their defaults,
/// nothing of ours open in it but what it was given. Our ends do not block.
///
/// It is killed when the last reference goes.
public final class ChildProcess {
  /// What one of its standard descriptors is.
  public enum Stream: Equatable, Sendable {
    /// `/dev/null`.
    case nothing
    /// A pipe to us.
    case pipe
    /// The same as ours.
    case ours
    /// This descriptor of ours, which stays ours to close.
    case given(Int32)
  }

  /// Its process id.
  public let process: pid_t
  /// Our writing end of its standard input; -1 when there is none (any more).
  public private(set) var input: Int32 = -1
  /// Our reading end of its standard output; -1 when there is none.
  public private(set) var output: Int32 = -1
  /// Our reading end of its standard error; -1 when there is none.
  public private(set) var error: Int32 = -1
  /// Our reading end of its descriptor 3; -1 when there is none.
  public private(set) var notes: Int32 = -1
  /// Our end of its terminal; -1 when there is none.
  public private(set) var terminal: Int32 = -1
  /// How it ended, as waitpid(2) says; nil while it runs. See `reap`.
  public private(set) var waitStatus: Int32?
  private let leadsGroup: Bool

  /// Starts a program in our session.
  ///
  /// - Parameters:
  ///   - words: the program, found in PATH, and its arguments.
  ///   - environment: what is set or, with nil, unset beside our own environment.
  ///   - leadsGroup: whether it has a process group of its own, so that `kill` also
  ///     reaches what it started; otherwise it is in our group.
  ///   - notes: whether its descriptor 3 is a pipe to us, too.
  /// - Throws: `Failure`, also for a program that is not there.
  public init(
    _ words: [String], environment: [String: String?] = [:], input: Stream = .nothing,
    output: Stream = .pipe, error: Stream = .ours, leadsGroup: Bool = false,
    notes: Bool = false
  ) throws(Failure) {
    var ends: [(ours: Int32, its: Int32)] = []
    defer { for end in ends where end.ours >= 0 { close(end.its) } }
    var standard: [Int32] = []
    for (number, stream) in [input, output, error, notes ? .pipe : .nothing].enumerated() {
      let end: (ours: Int32, its: Int32)
      switch stream {
      case .nothing: end = (-1, Int32(CLIBC_SPAWN_NOTHING))
      case .ours: end = (-1, Int32(CLIBC_SPAWN_OURS))
      case .given(let descriptor): end = (-1, descriptor)
      case .pipe:
        guard let pair = Self.pipe(ours: number == 0 ? 1 : 0) else {
          let code = systemError
          for end in ends where end.ours >= 0 { close(end.ours) }
          throw Failure(code: code, place: words[0])
        }
        end = pair
      }
      ends.append(end)
      standard.append(end.its)
    }
    do throws(Failure) {
      process = try Self.start(
        words, environment, standard, terminal: nil, leadsGroup: leadsGroup)
    } catch {
      for end in ends where end.ours >= 0 { close(end.ours) }
      throw error
    }
    self.leadsGroup = leadsGroup
    (self.input, self.output, self.error) = (ends[0].ours, ends[1].ours, ends[2].ours)
    self.notes = ends[3].ours
  }

  /// Starts a program on a terminal of its own, in a session of its own.
  ///
  /// - Parameter pipesOutput: whether its standard output is a pipe to us instead.
  public init(
    _ words: [String], environment: [String: String?] = [:], terminal size: WindowSize,
    pipesOutput: Bool = false
  ) throws(Failure) {
    var name = [CChar](repeating: 0, count: 1024)
    let descriptor = clibc_terminal_pair(
      Int32(clamping: size.columns), Int32(clamping: size.rows), &name, name.count)
    guard descriptor >= 0 else { throw Failure(code: systemError, place: "terminal") }
    var end: (ours: Int32, its: Int32) = (-1, -1)
    if pipesOutput {
      guard let pair = Self.pipe(ours: 0) else {
        let code = systemError
        close(descriptor)
        throw Failure(code: code, place: words[0])
      }
      end = pair
    }
    defer { if end.its >= 0 { close(end.its) } }
    do throws(Failure) {
      process = try Self.start(
        words, environment, [-1, end.its, -1, -1], terminal: name, leadsGroup: true)
    } catch {
      close(descriptor)
      if end.ours >= 0 { close(end.ours) }
      throw error
    }
    leadsGroup = true
    terminal = descriptor
    output = end.ours
  }

  deinit {
    closeEnds()
    if waitStatus == nil {
      kill(SIGKILL)
      _ = waitForEnd()
    }
  }

  /// Tells its terminal the size; the program gets SIGWINCH when it is another.
  public func resize(_ size: WindowSize) {
    _ = clibc_set_window_size(
      terminal, Int32(clamping: size.columns), Int32(clamping: size.rows))
  }

  /// Gives it what its standard input takes at once, and ends that behind the last byte. Who does
  /// not read it all has read enough.
  ///
  /// - Parameter staysOpen: whether it is to read more.
  public func feed(_ rest: inout ArraySlice<UInt8>, staysOpen: Bool = false) {
    while !rest.isEmpty, input >= 0 {
      let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
      if count < 0, systemError == EINTR { continue }
      if count < 0, systemError == EAGAIN { return }
      rest = count < 0 ? [] : rest.dropFirst(count)
    }
    if !staysOpen { closeInput() }
  }

  /// Reads what one of its ends has now, some of it where there is very much.
  ///
  /// - Parameters:
  ///   - descriptor: `output` or `error`.
  ///   - most: the most that is kept, bytes.
  /// - Returns: whether more may come.
  public static func drain(
    _ descriptor: Int32, into bytes: inout [UInt8], most: Int = .max
  ) -> Bool {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    for _ in 0..<16 {
      let count = read(descriptor, &piece, piece.count)
      if count > 0 {
        bytes += piece[..<min(count, most - bytes.count)]
      } else if count == 0 || systemError != EINTR {
        return count < 0 && systemError == EAGAIN
      }
    }
    return true
  }

  /// Ends its standard input.
  public func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Gives our ends of its standard input, output and error away: they are the caller's to close.
  public func takeEnds() -> [Int32] {
    defer { (input, output, error) = (-1, -1, -1) }
    return [input, output, error]
  }

  /// Closes all ends that are ours. A program on a terminal gets a hang-up.
  public func closeEnds() {
    for end in [input, output, error, notes, terminal] where end >= 0 { close(end) }
    (input, output, error, notes, terminal) = (-1, -1, -1, -1, -1)
  }

  /// Whether it has ended. It is not reaped, so that its id, and that of its group, stay its own.
  public var hasEnded: Bool {
    if waitStatus != nil { return true }
    var info = siginfo_t()
    let found = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
    return found != 0 && systemError != EINTR || info.si_signo == SIGCHLD
  }

  /// Looks whether it has ended, without waiting.
  ///
  /// - Returns: whether it has.
  @discardableResult
  public func reap() -> Bool {
    guard waitStatus == nil else { return true }
    var status: Int32 = 0
    let found = waitpid(process, &status, WNOHANG)
    if found == process { waitStatus = status }
    // Somebody else's wait took it: there is nothing to know any more.
    if found < 0, systemError == ECHILD { waitStatus = 0 }
    return waitStatus != nil
  }

  /// Waits until it has ended; only behind a kill, or after its output has ended.
  ///
  /// - Returns: what waitpid(2) says.
  public func waitForEnd() -> Int32 {
    var status: Int32 = 0
    while waitStatus == nil {
      let found = waitpid(process, &status, 0)
      if found == process { waitStatus = status }
      if found < 0, systemError != EINTR { waitStatus = 0 }
    }
    return waitStatus ?? 0
  }

  /// Sends a signal, to all that it started as well when it leads a group.
  public func kill(_ signal: Int32) {
    guard waitStatus == nil else { return }
    _ = CLibc.kill(leadsGroup ? -process : process, signal)
  }

  /// Asks it to end, and kills it when it has not after so long.
  ///
  /// - Returns: whether it ended when it was asked.
  @discardableResult
  public func end(within seconds: Double, asking signal: Int32 = SIGTERM) -> Bool {
    kill(signal)
    let limit = Clock.monotonic + seconds
    while !reap() {
      guard Clock.monotonic < limit else {
        kill(SIGKILL)
        _ = waitForEnd()
        return false
      }
      _ = poll(nil, 0, 2)
    }
    return true
  }

  /// The status with which it exited; nil while it runs and for a signal.
  public var exitStatus: Int32? {
    waitStatus.flatMap { $0 & 0x7f == 0 ? ($0 >> 8) & 0xff : nil }
  }

  /// The signal that ended it; nil for none.
  public var endSignal: Int32? {
    waitStatus.flatMap { $0 & 0x7f == 0 ? nil : $0 & 0x7f }
  }

  private static func pipe(ours: Int) -> (ours: Int32, its: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard clibc_pipe(&ends, Int32(ours)) == 0 else { return nil }
    return (ends[ours], ends[1 - ours])
  }

  private static func start(
    _ words: [String], _ changes: [String: String?], _ standard: [Int32], terminal: [CChar]?,
    leadsGroup: Bool
  ) throws(Failure) -> pid_t {
    var arguments = words.map { FileName.with($0) { strdup($0) } } + [nil]
    var environment = Self.environment(changes).map { FileName.with($0) { strdup($0) } } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var child: pid_t = 0
    let code = clibc_spawn(&child, &arguments, &environment, standard, terminal, leadsGroup)
    guard code == 0 else { throw Failure(code: code, place: words[0]) }
    return child
  }

  private static func environment(_ changes: [String: String?]) -> [String] {
    var all: [String] = []
    var next = clibc_environ()
    while let place = next, let entry = place.pointee {
      let text = FileName.text(entry)
      let name = String(text.prefix { $0 != "=" })
      if changes[name] == nil { all.append(text) }
      next = place + 1
    }
    for (name, value) in changes {
      if let value { all.append("\(name)=\(value)") }
    }
    return all
  }
}
