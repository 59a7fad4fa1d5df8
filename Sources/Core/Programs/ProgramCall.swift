import CLibc

/// A run of a program to its end, for all that it prints and says.
public final class ProgramCall {
  private let child: ChildProcess
  private var input: ArraySlice<UInt8>
  private var output: [UInt8] = []
  private var error: [UInt8] = []

  /// Starts it.
  ///
  /// - Parameters:
  ///   - environment: what is set or, with nil, unset beside our own environment.
  ///   - input: what it reads on standard input.
  ///   - file: an open file that it reads instead.
  ///   - leadsGroup: false for one that may ask a person at the terminal.
  public init(
    _ words: [String], environment: [String: String?] = [:], input: [UInt8] = [],
    reading file: Int32? = nil, leadsGroup: Bool = true
  ) throws(Failure) {
    var environment = environment
    environment["AGENTUTILS_PROGRAM"] = Process.name
    child = try ChildProcess(
      words, environment: environment,
      input: file.map { .given($0) } ?? (input.isEmpty ? .nothing : .pipe), error: .pipe,
      leadsGroup: leadsGroup)
    self.input = input[...]
  }

  /// Whether a program is in PATH.
  public static func isThere(_ name: String) -> Bool {
    (Process.environment("PATH") ?? "").split(separator: ":").contains {
      access(Folders.join(String($0), name), X_OK) == 0
    }
  }

  /// Waits until all have ended; a signal ends them, and us.
  ///
  /// - Parameter clean: puts things in order before a signal ends us.
  public static func wait(for calls: [ProgramCall], clean: () -> Void = {}) {
    EndSignals.watch(withQuit: true)
    var isOpen = calls.map { _ in (output: true, error: true) }
    while isOpen.contains(where: { $0.output || $0.error }) {
      var files = [pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0)]
      for (call, open) in zip(calls, isOpen) {
        let ends = [open.output ? call.child.output : -1, open.error ? call.child.error : -1]
        files += ends.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        files.append(pollfd(fd: call.child.input, events: Int16(POLLOUT), revents: 0))
      }
      _ = poll(&files, nfds_t(files.count), -1)
      if let signal = EndSignals.next() {
        for call in calls { call.child.kill(signal) }
        clean()
        Process.die(by: signal)
      }
      for (index, call) in calls.enumerated() {
        if files[index * 3 + 1].revents != 0 {
          isOpen[index].output = append(call.child.output, to: &call.output)
        }
        if files[index * 3 + 2].revents != 0 {
          isOpen[index].error = append(call.child.error, to: &call.error)
        }
        if files[index * 3 + 3].revents != 0 { call.feed() }
      }
    }
    for call in calls {
      call.child.closeInput()
      _ = call.child.waitForEnd()
    }
  }

  /// Who does not read it all has read enough.
  private func feed() {
    let count = input.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
    if count < 0, systemError == EAGAIN || systemError == EINTR { return }
    input = count < 0 ? [] : input.dropFirst(count)
    if input.isEmpty { child.closeInput() }
  }

  /// False at the end.
  private static func append(_ descriptor: Int32, to bytes: inout [UInt8]) -> Bool {
    var piece = [UInt8](repeating: 0, count: 65536)
    let count = read(descriptor, &piece, piece.count)
    if count > 0 { bytes += piece[..<count] }
    return count > 0 || count < 0 && (systemError == EINTR || systemError == EAGAIN)
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
