import CLibc
import Core
import Shell

protocol Handover: AnyObject {
  var name: String { get }

  /// Looks whether files can be taken now, before the first one is opened.
  func begin() throws(HostFailure)

  /// Hands one file over.
  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HostFailure) -> Receipt

  /// How many small files, of how many bytes together, go at once; 1 for one at a time.
  var batch: (count: Int, size: Int) { get }

  /// Hands small files over at once. Returns one for each; nil where each is to be handed over
  /// alone.
  func hand(_ items: [OpenItem]) throws(HostFailure) -> [Receipt]?
}

extension Handover {
  var batch: (count: Int, size: Int) { (1, 0) }

  func hand(_ items: [OpenItem]) throws(HostFailure) -> [Receipt]? { nil }
}

struct Receipt: Equatable {
  var session: String?
  var remotePath: String?
  /// One of this name with other content had been taken before; this one was not.
  var isOther = false
}

extension HostFailure {
  var stopsDrain: Bool {
    switch self {
    case .unfit, .noInbox, .refused, .duplicate, .noFolder, .noHarness, .endedAtOnce,
      .noWorktree:
      false
    default: true
    }
  }

  /// What is wrong with a file, with tmux or with the session may be right the next time.
  var drainStatus: Int32 {
    switch self {
    case .noSession, .stateUnknown, .noAgentPane, .noTmux: ExitStatus.temporary.rawValue
    default: stopsDrain ? exitStatus : ExitStatus.temporary.rawValue
    }
  }
}

/// Files go to a command of the user's, one at a time, on its standard input. It has
/// taken a file when it ends with 0; killed in between, it is given it again.
final class CommandHandover: Handover {
  private let command: String

  init(_ command: String) { self.command = command }

  let name = "--exec"

  func begin() throws(HostFailure) {
    if let signal = EndSignals.next() { throw .interrupted(signal: signal) }
  }

  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HostFailure) -> Receipt {
    try begin()
    guard let file = item.reopened() else { throw .unfit(why: "changed just now") }
    defer { close(file) }
    let child: ChildProcess
    do throws(Failure) {
      child = try ChildProcess(
        ["sh", "-c", command],
        environment: ["INBOX_ID": item.item.name.id, "INBOX_NAME": item.item.name.text],
        input: .given(file), output: .ours, error: .ours)
    } catch {
      throw .local(why: error.message)
    }
    let signal = Self.wait(for: child)
    guard child.exitStatus == 0 else {
      if let signal { throw .interrupted(signal: signal) }
      let how = child.endSignal.map { "ended by signal \($0)" }
      throw .unfit(why: how ?? "ended with status \(child.exitStatus ?? 0)")
    }
    // This file has been taken; whoever asks next finds the signal.
    if let signal { raise(signal) }
    progress(item.size)
    return Receipt()
  }

  /// Waits for its end, and hands on a signal that comes meanwhile.
  private static func wait(for child: ChildProcess) -> Int32? {
    var signal: Int32?
    var milliseconds: Int32 = 1
    while !child.reap() {
      // Its end makes no descriptor readable.
      var entry = pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&entry, 1, milliseconds)
      milliseconds = min(milliseconds * 2, 50)
      guard let number = EndSignals.next() else { continue }
      signal = number
      child.kill(number)
    }
    return signal
  }
}
