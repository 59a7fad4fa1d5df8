import CLibc
import Core

/// The command of `--exec` at work on a record, which is its standard input.
final class GetJob {
  var record: GetRecord
  private let child: ChildProcess
  private var input: ByteQueue

  init(
    _ command: String, _ record: GetRecord, isWrapped: Bool
  ) throws(Failure) {
    self.record = record
    input = ByteQueue()
    record.add(to: &input, isWrapped: isWrapped, isRecord: true, isShown: false)
    child = try ChildProcess(["/bin/sh", "-c", command], input: .pipe, output: .ours)
  }

  /// What poll(2) is to look for.
  var entry: pollfd { pollfd(fd: child.input, events: Int16(POLLOUT), revents: 0) }

  /// Feeds it, without waiting.
  func feed() {
    while child.input >= 0, !input.isEmpty {
      let count = write(child.input, input.bytes.baseAddress, input.count)
      if count < 0 {
        if systemError == EINTR { continue }
        // One that does not read is no worse for that.
        if systemError != EAGAIN { child.closeInput() }
        return
      }
      input.drop(count)
    }
    child.closeInput()
  }

  /// What its end says of the record; nil while it runs.
  var verdict: GetVerdict? {
    guard child.reap() else { return nil }
    // Whoever ended it by a signal did not judge the record.
    return child.exitStatus.map { GetVerdict(status: $0) } ?? .later
  }

  /// Ends it.
  func end() { child.kill(SIGTERM) }
}
