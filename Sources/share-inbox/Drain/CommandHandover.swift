import Core
import Shell

/// Files go to a command of the user's, one at a time, on its standard input. It has
/// taken a file when it ends with 0; killed in between, it is given it again.
final class CommandHandover: Handover {
  private let command: String

  /// - Parameter command: for sh(1).
  init(_ command: String) { self.command = command }

  func begin() throws(HandoverFailure) {}

  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HandoverFailure) -> Receipt
  {
    let child: ChildProcess
    do throws(ChildProcess.Failure) {
      child = try ChildProcess(
        ["sh", "-c", command],
        environment: ["INBOX_ID": item.item.name.id, "INBOX_NAME": item.item.name.text],
        input: .given(item.descriptor), output: .ours, error: .ours)
    } catch {
      throw HandoverFailure(
        what: "--exec", reason: error.words, status: ExitStatus.failure.rawValue, isForAll: true)
    }
    _ = child.waitForEnd()
    if let signal = EndSignals.next() {
      throw HandoverFailure(
        what: "--exec", reason: "interrupted", status: 128 + signal, isForAll: true, signal: signal)
    }
    guard child.exitStatus == 0 else {
      let how = child.endSignal.map { "ended by signal \($0)" }
      throw HandoverFailure(
        what: "--exec", reason: how ?? "ended with status \(child.exitStatus ?? 0)",
        status: ExitStatus.temporary.rawValue, isForAll: false)
    }
    progress(item.size)
    return Receipt()
  }
}
