import CLibc
import Core

/// A run of agent-call, and what it printed.
final class AskedCall {
  private let child: ChildProcess
  private var output: [UInt8] = []
  private var error: [UInt8] = []

  /// - Parameters:
  ///   - words: of agent-call.
  ///   - isOfSeveral: whether it is one of several agents: what the environment says about one
  ///     does not hold for all.
  init(_ words: [String], isOfSeveral: Bool) throws(SettingsError) {
    var environment: [String: String?] = ["AGENTUTILS_PROGRAM": "agent-status"]
    if isOfSeveral {
      for name in ["AGENT_URL", "AGENT_TOKEN_FILE", "CREDENTIALS_DIRECTORY"] {
        environment.updateValue(nil, forKey: name)
      }
    }
    do throws(ChildProcess.Failure) {
      child = try ChildProcess(
        ["agent-call"] + words, environment: environment, error: .pipe, leadsGroup: true)
    } catch {
      throw SettingsError(error.program, systemReason(error.code))
    }
  }

  /// Waits until all have ended; a signal ends them, and us.
  static func wait(for calls: [AskedCall]) {
    EndSignals.watch(withQuit: true)
    var isOpen = calls.map { _ in (output: true, error: true) }
    while isOpen.contains(where: { $0.output || $0.error }) {
      var files = [pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0)]
      for (call, open) in zip(calls, isOpen) {
        let ends = [open.output ? call.child.output : -1, open.error ? call.child.error : -1]
        files += ends.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      }
      _ = poll(&files, nfds_t(files.count), -1)
      if let signal = EndSignals.next() {
        for call in calls { call.child.kill(signal) }
        Process.die(by: signal)
      }
      for (index, call) in calls.enumerated() {
        if files[index * 2 + 1].revents != 0 {
          isOpen[index].output = append(call.child.output, to: &call.output)
        }
        if files[index * 2 + 2].revents != 0 {
          isOpen[index].error = append(call.child.error, to: &call.error)
        }
      }
    }
    for call in calls { _ = call.child.waitForEnd() }
  }

  /// False at the end.
  private static func append(_ descriptor: Int32, to bytes: inout [UInt8]) -> Bool {
    var piece = [UInt8](repeating: 0, count: 65536)
    let count = read(descriptor, &piece, piece.count)
    if count > 0 { bytes += piece[..<count] }
    return count > 0 || count < 0 && (systemError == EINTR || systemError == EAGAIN)
  }

  /// Its status; a signal's is 2.
  var status: Int32 { child.exitStatus ?? 2 }

  /// The lines of its output, each with its cells.
  var rows: [[String]] {
    Self.lines(output).map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
  }

  /// What it said, without its name.
  var faults: [String] {
    Self.lines(error).map { line in
      let start = "agent-status: "
      return line.hasPrefix(start) ? String(line.dropFirst(start.count)) : line
    }
  }

  /// Whether the agent is a system of several parts, which has no stats.
  var hasParts: Bool {
    status == 2 && faults.contains { $0.holds("a joelclaw gateway has no stats") }
  }

  private static func lines(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
}
