import Bus
import CLibc
import Core
import Records

/// What `--confirm` prints: a record for each line of input, in the order of the lines.
///
/// Standard output is never waited for: a reader that stands still must not keep us from the
/// server's questions.
struct PutReceipts: ~Copyable {
  let areWanted: Bool
  /// The lines that were not printed yet, from `head` on.
  private var lines: [(number: Int, receipt: [UInt8]?)] = []
  private var head = 0
  private var output = ByteQueue()
  private let isFile = FileIdentity(descriptor: 1) != nil

  /// So much is unwritten, bytes, or so many lines wait for one before them, and no more input is
  /// read.
  private static let mostBytes = 64 << 10
  private static let mostLines = 4096
  /// What a pipe takes when it says that it takes anything, bytes.
  private static let piece = 4096

  init(areWanted: Bool) { self.areWanted = areWanted }

  var isEmpty: Bool { output.isEmpty && head == lines.count }

  var hasRoom: Bool { output.count < Self.mostBytes && lines.count - head < Self.mostLines }

  /// What poll(2) is to look for; with nothing to write it tells when the reader goes.
  var entry: pollfd {
    pollfd(fd: areWanted ? 1 : -1, events: output.isEmpty ? 0 : Int16(POLLOUT), revents: 0)
  }

  mutating func expect(_ line: Int) {
    if areWanted { lines.append((line, nil)) }
  }

  mutating func store(_ line: Int, _ message: BusMessage) {
    guard areWanted else { return }
    let place = BusAnswer.place(ofPublished: message)
    settle(
      line,
      RecordText(.busAck).number("line", line).string("stream", place?.stream)
        .number("seq", place?.sequence).bool("duplicate", place?.isDuplicate ?? false))
  }

  mutating func refuse(_ line: Int, _ reason: String) {
    if areWanted {
      settle(line, RecordText(.busAck).number("line", line).string("reason", reason))
    }
  }

  private mutating func settle(_ line: Int, _ record: RecordText) {
    var (low, high) = (head, lines.count)
    while low < high {
      let middle = (low + high) / 2
      if lines[middle].number < line { low = middle + 1 } else { high = middle }
    }
    guard low < lines.count, lines[low].number == line else { return }
    lines[low].receipt = record.line
    while head < lines.count, let receipt = lines[head].receipt {
      output.append(receipt)
      lines[head].receipt = nil
      head += 1
    }
    if head > 1024, head * 2 > lines.count {
      lines.removeFirst(head)
      head = 0
    }
  }

  mutating func write() throws(WriteFailure) {
    while !output.isEmpty {
      if !isFile, !OutputEnd.isWritable { return }
      let count = isFile ? output.count : min(output.count, Self.piece)
      let sent = CLibc.write(1, output.bytes.baseAddress, count)
      if sent < 0 {
        if systemError == EINTR { continue }
        if systemError == EAGAIN { return }
        throw WriteFailure(code: systemError)
      }
      output.drop(sent)
    }
  }
}
