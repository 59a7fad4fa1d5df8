import CLibc
import Core

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

  var entry: pollfd { pollfd(fd: child.input, events: Int16(POLLOUT), revents: 0) }

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

  var verdict: GetVerdict? {
    guard child.reap() else { return nil }
    // Whoever ended it by a signal did not judge the record.
    return child.exitStatus.map { GetVerdict(status: $0) } ?? .later
  }

  func end() { child.kill(SIGTERM) }
}
