import CLibc

/// A run of a program to its end, for all that it prints and says. It is killed when it is let go.
public final class ProgramCall {
  /// The program.
  public let child: ChildProcess
  private var input: ArraySlice<UInt8>
  /// What it printed so far, and what it said on standard error.
  public private(set) var (output, error): ([UInt8], [UInt8]) = ([], [])
  private let most: Int
  private var (isOutputOpen, isErrorOpen) = (true, true)

  /// Starts it.
  ///
  /// - Parameters:
  ///   - environment: what is set or, with nil, unset beside our own environment.
  ///   - input: what it reads on standard input.
  ///   - file: an open file that it reads instead.
  ///   - leadsGroup: false for one that may ask a person at the terminal.
  ///   - isOurs: whether it is a command of the suite, which speaks in our name.
  ///   - passesOn: whether what it prints and says goes where ours goes.
  ///   - most: the most that is kept of each, bytes.
  public init(
    _ words: [String], environment: [String: String?] = [:], input: [UInt8] = [],
    reading file: Int32? = nil, leadsGroup: Bool = true, isOurs: Bool = true,
    passesOn: Bool = false, most: Int = .max
  ) throws(Failure) {
    var environment = environment
    if isOurs { environment["AGENTUTILS_PROGRAM"] = Process.name }
    child = try ChildProcess(
      words, environment: environment,
      input: file.map { .given($0) } ?? (input.isEmpty ? .nothing : .pipe),
      output: passesOn ? .ours : .pipe, error: passesOn ? .ours : .pipe, leadsGroup: leadsGroup)
    self.input = input[...]
    self.most = most
    // A program that does not read its input must not end us.
    clibc_signal_ignore(SIGPIPE)
    child.feed(&self.input)
  }

  /// Whether a program is in PATH.
  public static func isThere(_ name: String) -> Bool {
    (Process.environment("PATH") ?? "").split(separator: ":").contains {
      access(Folders.join(String($0), name), X_OK) == 0
    }
  }

  /// Whether it may still print or say something.
  public var isTalking: Bool { isOutputOpen || isErrorOpen }

  /// What is to be waited for until it can be read. Its end is nothing that can be waited for: behind
  /// its last word `look` is to be called again soon.
  public var reading: [Int32] {
    [isOutputOpen ? child.output : -1, isErrorOpen ? child.error : -1].filter { $0 >= 0 }
  }

  /// Does what can be done without waiting: whether it has ended, and all that it printed is here.
  /// What it left behind may hold its standard error open.
  @discardableResult
  public func look() -> Bool {
    child.feed(&input)
    if isOutputOpen {
      isOutputOpen = ChildProcess.drain(child.output, into: &output, most: most)
    }
    let hasEnded = !isOutputOpen && child.reap()
    if isErrorOpen { isErrorOpen = ChildProcess.drain(child.error, into: &error, most: most) }
    return hasEnded
  }

  /// Waits until all have ended; a signal ends them, and us.
  ///
  /// - Parameter clean: puts things in order before a signal ends us.
  public static func wait(for calls: [ProgramCall], clean: () -> Void = {}) {
    EndSignals.watch(withQuit: true)
    while calls.contains(where: \.isTalking) {
      var files = [pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0)]
      for call in calls {
        files += call.reading.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        files.append(pollfd(fd: call.child.input, events: Int16(POLLOUT), revents: 0))
      }
      _ = poll(&files, nfds_t(files.count), -1)
      if let signal = EndSignals.next() {
        for call in calls { call.child.kill(signal) }
        clean()
        Process.die(by: signal)
      }
      for call in calls { call.look() }
    }
    for call in calls {
      call.child.closeInput()
      _ = call.child.waitForEnd()
    }
  }

  /// Its status; a signal's is 2.
  public var status: Int32 { child.exitStatus ?? 2 }

  /// The lines of its output.
  public var lines: [String] { Self.lines(output) }

  /// What a command of the suite said, which speaks in our name, without the name.
  public var faults: [String] {
    let start = Process.name + ": "
    return Self.lines(error).map {
      $0.hasPrefix(start) ? String($0.dropFirst(start.count)) : $0
    }
  }

  private static func lines(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
}
