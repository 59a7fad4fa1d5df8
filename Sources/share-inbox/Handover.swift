import CLibc
import Core
import Shell

/// Somebody who takes files.
protocol Handover: AnyObject {
  /// Looks whether files can be taken now, before the first one is opened.
  ///
  /// - Throws: `HandoverFailure`.
  func begin() throws(HandoverFailure)

  /// Hands one file over.
  ///
  /// - Parameter progress: told how many bytes have gone.
  /// - Throws: `HandoverFailure`; the file stays where it is.
  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HandoverFailure) -> Receipt

  /// How many small files, of how many bytes together, are handed over at once; 1 for
  /// one at a time.
  var batch: (count: Int, size: Int) { get }

  /// Hands small files over at once.
  ///
  /// - Throws: `HandoverFailure`. Where it is not for all, each is to be handed over by
  ///   itself, even if it has been taken: that does no harm.
  /// - Returns: one for each.
  func hand(_ items: [OpenItem]) throws(HandoverFailure) -> [Receipt]
}

extension Handover {
  var batch: (count: Int, size: Int) { (1, 0) }

  func hand(_ items: [OpenItem]) throws(HandoverFailure) -> [Receipt] { [] }
}

/// What is known of a file that was taken.
struct Receipt: Equatable {
  /// The tmux session, nil when there is none in it.
  var session: String?
  /// The path at the other end, nil when there is none.
  var remotePath: String?
  /// Whether one of this name with other content had been taken before, and this one
  /// was not.
  var isOther = false
}

/// Why a file was not taken.
struct HandoverFailure: Error {
  /// What is in the way: the host, the session, the command.
  var what: String
  /// One line, not escaped yet.
  var reason: String
  /// What a command returns that could not go on.
  var status: Int32
  /// Whether the next file would meet the same.
  var isForAll: Bool
  /// The warning about a host's key, line by line, else empty.
  var warning: [String] = []
  /// The signal that ends the command.
  var signal: Int32?
  /// Whether a new link may help.
  var isLinkLost = false
}

/// Files go to a command of the user's, one at a time, on its standard input. It has
/// taken a file when it ends with 0; killed in between, it is given it again.
final class CommandHandover: Handover {
  private let command: String

  /// - Parameter command: for sh(1).
  init(_ command: String) { self.command = command }

  func begin() throws(HandoverFailure) {
    if let signal = EndSignals.next() { throw Self.interrupted(signal) }
  }

  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HandoverFailure) -> Receipt
  {
    if let signal = EndSignals.next() { throw Self.interrupted(signal) }
    guard let file = item.reopened() else {
      throw HandoverFailure(
        what: "--exec", reason: "changed just now", status: ExitStatus.temporary.rawValue,
        isForAll: false)
    }
    defer { close(file) }
    let child: ChildProcess
    do throws(ChildProcess.Failure) {
      child = try ChildProcess(
        ["sh", "-c", command],
        environment: ["INBOX_ID": item.item.name.id, "INBOX_NAME": item.item.name.text],
        input: .given(file), output: .ours, error: .ours)
    } catch {
      throw HandoverFailure(
        what: "--exec", reason: error.words, status: ExitStatus.failure.rawValue, isForAll: true)
    }
    let signal = Self.wait(for: child)
    guard child.exitStatus == 0 else {
      if let signal { throw Self.interrupted(signal) }
      let how = child.endSignal.map { "ended by signal \($0)" }
      throw HandoverFailure(
        what: "--exec", reason: how ?? "ended with status \(child.exitStatus ?? 0)",
        status: ExitStatus.temporary.rawValue, isForAll: false)
    }
    // This file has been taken; whoever asks next finds the signal.
    if let signal { raise(signal) }
    progress(item.size)
    return Receipt()
  }

  /// Waits for its end, and hands on a signal that comes meanwhile.
  ///
  /// - Returns: the signal.
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

  private static func interrupted(_ signal: Int32) -> HandoverFailure {
    HandoverFailure(
      what: "--exec", reason: "interrupted", status: 128 + signal, isForAll: true, signal: signal)
  }
}
