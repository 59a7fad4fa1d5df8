import CLibc

/// A token that a command prints: `pass show clanky`, `secret-tool lookup ...`.
enum TokenCommand {
  /// Seconds for the end of output: what it started in the background may hold that open.
  private static let grace = 1.0

  /// Runs a command by `/bin/sh -c` with nothing on its standard input and our
  /// standard error, and takes what it prints. It is in our process group: it may ask a person
  /// at the terminal.
  static func run(
    _ command: String, source: String, deadline: Double = .infinity
  ) throws(Failure) -> Secret {
    let child: ChildProcess
    do throws(Failure) {
      child = try ChildProcess(["/bin/sh", "-c", command])
    } catch {
      throw Failure(source, error.message)
    }
    let printed = try output(of: child, source, deadline)
    while !child.reap() {
      if Clock.monotonic >= deadline { throw late(child, source) }
      _ = poll(nil, 0, 5)
    }
    if let signal = child.endSignal {
      throw Failure(source, "command ended by signal \(signal)", .denied)
    }
    if let status = child.exitStatus, status != 0 {
      throw Failure(source, "command failed with status \(status)", .denied)
    }
    return try Secret(bytes: printed, source: source)
  }

  private static func late(_ child: ChildProcess, _ source: String) -> Failure {
    child.kill(SIGKILL)
    return Failure(source, "took too long", .temporary)
  }

  private static func output(
    of child: ChildProcess, _ source: String, _ deadline: Double
  ) throws(Failure) -> [UInt8] {
    var printed: [UInt8] = []
    var end = Double.infinity
    while true {
      let now = Clock.monotonic
      if now >= end { return printed }
      if now >= deadline { throw late(child, source) }
      var entry = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
      let ready = poll(&entry, 1, Int32(min(min(end, deadline) - now, 0.1) * 1000 + 1))
      if end == .infinity, child.reap() { end = Clock.monotonic + grace }
      guard ready > 0 else { continue }
      let isOpen = ChildProcess.drain(child.output, into: &printed)
      if printed.count > TokenFile.limit {
        child.kill(SIGKILL)
        throw Failure(source, "output larger than \(TokenFile.limit) bytes")
      }
      if !isOpen { return printed }
    }
  }
}
