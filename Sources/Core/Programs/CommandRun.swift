import CLibc

/// A command of the user's that is run to its end, for what it prints.
public struct CommandRun {
  /// Why there is nothing to be had of it.
  public enum Failure: Error, Equatable, Sendable {
    /// It could not be started, read or waited for; lower case, no full stop.
    case broken(String)
    /// It ended with another status than 0.
    case ended(status: Int32)
    case killed(signal: Int32)
    /// It took longer than it may, and was killed.
    case late
    /// It printed more than so many bytes, and was killed.
    case tooLong(Int)
    /// A signal came that is to end us; it was handed on.
    case interrupted(Int32)

    /// One line, lower case, no full stop.
    public var reason: String {
      switch self {
      case .broken(let words): words
      case .ended(let status): "ended with status \(status)"
      case .killed(let signal), .interrupted(let signal): "ended by signal \(signal)"
      case .late: "took too long"
      case .tooLong(let limit): "printed more than \(limit) bytes"
      }
    }
  }

  private let words: [String]
  private let limit: Int
  private let timeout: Double
  private let mayAskPerson: Bool

  /// Seconds for the end of output: what it started in the background may hold that open.
  private static let grace = 1.0

  /// - Parameters:
  ///   - words: the program, found in PATH, and its arguments.
  ///   - limit: the most that it may print, bytes.
  ///   - timeout: the longest that it may take, seconds.
  ///   - mayAskPerson: whether it may ask a person at the terminal: it is then in our process group,
  ///     and what ends us ends it.
  public init(_ words: [String], limit: Int, timeout: Double, mayAskPerson: Bool = false) {
    (self.words, self.limit, self.timeout) = (words, limit, timeout)
    self.mayAskPerson = mayAskPerson
  }

  /// Runs it. In a group of its own, INT, TERM, HUP and QUIT are watched from now on.
  ///
  /// - Parameter input: what it reads on standard input; it need not read it all.
  public func output(input: [UInt8] = []) throws(Failure) -> [UInt8] {
    if !mayAskPerson { EndSignals.watch(withQuit: true) }
    let child = try Core.Failure.rethrowing(
      try ChildProcess(
        words, input: input.isEmpty ? .nothing : .pipe, leadsGroup: !mayAskPerson),
      as: { Failure.broken($0.message) })
    let deadline = Clock.monotonic + timeout
    let printed = try talk(with: child, input, deadline)
    // Its output may have ended long before it does.
    while !child.reap() { _ = try pause(for: child, [], seconds: 0.005, deadline) }
    if let signal = child.endSignal { throw .killed(signal: signal) }
    if let status = child.exitStatus, status != 0 { throw .ended(status: status) }
    return printed
  }

  private func talk(
    with child: ChildProcess, _ input: [UInt8], _ deadline: Double
  ) throws(Failure) -> [UInt8] {
    var printed: [UInt8] = []
    var rest = input[...]
    var end = Double.infinity
    while Clock.monotonic < end {
      let ready = try pause(
        for: child, [(child.output, POLLIN), (child.input, POLLOUT)], seconds: 0.1, deadline)
      if end == .infinity, child.reap() { end = Clock.monotonic + Self.grace }
      if ready[1] { child.feed(&rest) }
      guard ready[0] else { continue }
      let isOpen = ChildProcess.drain(child.output, into: &printed)
      if printed.count > limit {
        child.kill(SIGKILL)
        throw .tooLong(limit)
      }
      if !isOpen { return printed }
    }
    return printed
  }

  private func pause(
    for child: ChildProcess, _ files: [(descriptor: Int32, event: Int32)], seconds: Double,
    _ deadline: Double
  ) throws(Failure) -> [Bool] {
    let left = deadline - Clock.monotonic
    if left <= 0 {
      child.kill(SIGKILL)
      throw .late
    }
    var entries = files.map { pollfd(fd: $0.descriptor, events: Int16($0.event), revents: 0) }
    let signals = mayAskPerson ? -1 : EndSignals.descriptor
    entries.append(pollfd(fd: signals, events: Int16(POLLIN), revents: 0))
    _ = poll(&entries, nfds_t(entries.count), Int32(min(left, seconds) * 1000 + 1))
    if !mayAskPerson, let signal = EndSignals.next() {
      child.kill(signal)
      throw .interrupted(signal)
    }
    return entries.dropLast().map { $0.revents != 0 }
  }
}
