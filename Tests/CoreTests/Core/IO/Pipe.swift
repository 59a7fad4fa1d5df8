import CLibc
import Testing

/// A pipe of the system; its ends are closed with it and passed to no child.
final class Pipe {
  let reading: Int32
  private(set) var writing: Int32
  private var isReadingOpen = true

  init() throws {
    var ends: [Int32] = [-1, -1]
    // Neither end is one that does not block.
    try #require(clibc_pipe(&ends, -1) == 0)
    (reading, writing) = (ends[0], ends[1])
  }

  /// A named pipe, made at the path: neither end ever waits.
  init(nonBlockingAt path: String) throws {
    try #require(mkfifo(path, 0o600) == 0)
    reading = clibc_open(path, O_RDONLY | O_NONBLOCK)
    writing = clibc_open(path, O_WRONLY | O_NONBLOCK)
    try #require(reading >= 0 && writing >= 0)
  }

  deinit {
    closeReading()
    closeWriting()
  }

  func write(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    let count = CLibc.write(writing, bytes, bytes.count)
    #expect(count == bytes.count)
  }

  func closeReading() {
    if isReadingOpen { close(reading) }
    isReadingOpen = false
  }

  func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }
}

/// Seconds of a clock that never goes back.
func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
