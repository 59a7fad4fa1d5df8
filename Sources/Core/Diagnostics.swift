import CLibc

/// One-line messages on standard error, in the form `prog: what: reason`.
///
/// Whatever comes from outside (names, reasons of a server, bad input) is made
/// visible first, so that a message is always one line and never a command to
/// the terminal.
public struct Diagnostics: Sendable {
  /// The command's name, in front of each line.
  public let program: String
  /// Whether `note` speaks (`-v`).
  public var verbose: Bool
  /// Where the lines go; standard error except in tests.
  private let descriptor: Int32

  public init(program: String, verbose: Bool = false, descriptor: Int32 = 2) {
    self.init(name: Self.script ?? program, verbose: verbose, descriptor: descriptor)
  }

  /// The script of the suite that runs the command: what goes wrong, goes wrong there.
  private static let script = Process.environment("AGENTUTILS_PROGRAM").map { Visible.line($0) }

  private init(name: String, verbose: Bool, descriptor: Int32) {
    program = name
    (self.verbose, self.descriptor) = (verbose, descriptor)
  }

  /// The same, which says `prog: name:` before all: for one of several.
  public func about(_ name: String) -> Diagnostics {
    Diagnostics(
      name: "\(program): \(Visible.line(name))", verbose: verbose, descriptor: descriptor)
  }

  /// Says `prog: message`.
  public func say(_ message: String) { emit("\(program): \(Visible.line(message))\n") }

  /// Says `prog: what: reason`.
  public func error(_ what: String, _ reason: String) { say("\(what): \(reason)") }

  /// Says `prog: file:line: reason`, for a fault in a record.
  public func fault(file: String, line: Int, _ reason: String) {
    say("\(file):\(line): \(reason)")
  }

  /// Says `prog: message` when verbose.
  public func note(_ message: @autoclosure () -> String) { if verbose { say(message()) } }

  /// Says `prog: message` where a person at a terminal reads it; a script sees the status.
  public func tellPerson(_ message: @autoclosure () -> String) {
    if isatty(descriptor) == 1 { say(message()) }
  }

  /// Says `prog: message` and leaves.
  public func fail(_ message: String, _ status: ExitStatus = .failure) -> Never {
    say(message)
    Process.exit(status)
  }

  /// Says so and leaves: nothing useful can be done without memory.
  public static func outOfMemory() -> Never {
    Diagnostics(program: Process.name).fail("out of memory")
  }

  /// Writes it all, as far as the terminal takes it.
  func emit(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = CLibc.write(descriptor, rest.baseAddress, rest.count)
        if count < 0 && systemError == EINTR { continue }
        if count < 0 && systemError == EAGAIN {
          // A terminal that another program made non-blocking: a second at most.
          if isWritable(descriptor, within: 1000) { continue }
        }
        if count <= 0 { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }
}

/// An error that has a line for the user, and an exit status.
public protocol Reported: Error {
  /// What is at fault and why, lower case.
  var message: String { get }
  /// How the command ends.
  var status: ExitStatus { get }
}

/// The system's words for an error number, in lower case as diagnostics are:
/// `no such file or directory`.
public func systemReason(_ code: Int32) -> String {
  let text = String(cString: strerror(code))
  return text.isEmpty ? "error \(code)" : text.lowercasedFirst
}
