import CLibc
import Core

/// bus-put or bus-get at work for us: its lines, and what it says. Nothing here waits.
final class BusChild {
  private let process: ChildProcess
  private var input = ByteQueue()
  private var output = BusLines()
  private var errors = BusLines()
  private var isOutputOpen = true
  private var isErrorOpen = true

  /// How much is read at a time, bytes.
  private static let piece = 64 << 10
  /// The longest line of standard error, bytes.
  private static let longestWords = 2000

  init(_ words: [String]) throws(Failure) {
    // It ends with us, and not by the signals of our terminal: what is under way is told first.
    process = try ChildProcess(
      words, input: .pipe, output: .pipe, error: .pipe, leadsGroup: true)
  }

  var entries: [pollfd] {
    [
      pollfd(
        fd: input.isEmpty ? -1 : process.input, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: isOutputOpen ? process.output : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isErrorOpen ? process.error : -1, events: Int16(POLLIN), revents: 0),
    ]
  }

  var waiting: Int { input.count }

  var hasEnded: Bool { !isOutputOpen && process.hasEnded }

  /// The status with which it ended; nil for a signal. Only when it has ended.
  var status: Int32? {
    _ = process.waitForEnd()
    return process.exitStatus
  }

  func give(_ line: [UInt8]) { input.append(line) }

  func finish() {
    if input.isEmpty { process.closeInput() }
  }

  func pump(_ entries: ArraySlice<pollfd>) {
    let revents = entries.map(\.revents)
    if revents[0] != 0 {
      let sent = write(process.input, input.bytes.baseAddress, min(input.count, Self.piece))
      if sent > 0 { input.drop(sent) }
      if sent < 0, systemError != EAGAIN, systemError != EINTR {
        process.closeInput()
        input.removeAll()
      }
    }
    if revents[1] != 0 { isOutputOpen = output.read(process.output, Self.piece) }
    if revents[2] != 0 { isErrorOpen = errors.read(process.error, Self.piece) }
  }

  func line() -> [UInt8]? { output.next() }

  func words() -> String? {
    errors.next().map { String(decoding: $0.prefix(Self.longestWords), as: UTF8.self) }
  }

  func kill() { process.kill(SIGKILL) }
}

private struct BusLines: ~Copyable {
  private var bytes = ByteQueue()
  /// So many of them are known to hold no line feed.
  private var looked = 0

  /// Reads once. Returns whether there may be more.
  mutating func read(_ descriptor: Int32, _ most: Int) -> Bool {
    let room = bytes.room(most)
    let count = CLibc.read(descriptor, room.baseAddress, room.count)
    bytes.put(max(count, 0))
    return count > 0 || count < 0 && (systemError == EAGAIN || systemError == EINTR)
  }

  mutating func next() -> [UInt8]? {
    let rest = bytes.bytes.dropFirst(looked)
    guard let feed = rest.firstIndex(of: 10) else {
      looked = bytes.count
      return nil
    }
    let line = bytes.prefix(feed)
    bytes.drop(feed + 1)
    looked = 0
    return line
  }
}
