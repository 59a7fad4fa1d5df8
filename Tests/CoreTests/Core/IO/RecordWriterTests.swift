import CLibc
import TestSupport
import Testing

@testable import Core

@Suite struct RecordWriterTests {
  private func written(capacity: Int = 4096, _ body: (RecordWriter) throws -> Void) throws
    -> [UInt8]
  {
    try Captured { descriptor in
      let writer = RecordWriter(descriptor: descriptor, capacity: capacity)
      try body(writer)
      try writer.flush()
      #expect(writer.isEmpty)
    }.bytes
  }

  @Test func piecesOfEverySizeComeOutInOrder() throws {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<50 {
      var expected: [UInt8] = []
      let bytes = try written { writer in
        for _ in 0..<40 {
          let piece = [UInt8](
            repeating: UInt8.random(in: 0...255, using: &generator),
            count: [0, 1, 100, 4095, 4096, 4097, 9000].randomElement(using: &generator) ?? 0)
          expected += piece
          switch Int.random(in: 0..<3, using: &generator) {
          case 0: try writer.write(piece)
          case 1:
            try piece.withUnsafeBytes { try writer.writeLine($0) }
            expected.append(10)
          default:
            try writer.write(piece)
            try writer.newline()
            expected.append(10)
          }
        }
      }
      #expect(bytes == expected)
    }
  }

  @Test func textIsUtf8() throws {
    #expect(try written { try $0.write("grün 🎙️\u{0}") } == Array("grün 🎙️\u{0}".utf8))
  }

  @Test func nothingGoesOutBeforeTheFlush() throws {
    let pipe = try Pipe()
    let writer = RecordWriter(descriptor: pipe.writing)
    try writer.write("line")
    try writer.newline()
    var entry = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 0) == 0 && !writer.isEmpty)
    try writer.flush()
    #expect(poll(&entry, 1, 0) == 1 && writer.isEmpty)
    try writer.flush()
  }

  @Test func aClosedPipeIsAnError() throws {
    clibc_signal_ignore(SIGPIPE)
    let pipe = try Pipe()
    pipe.closeReading()
    let writer = RecordWriter(descriptor: pipe.writing)
    try writer.write("x")
    #expect(throws: WriteFailure(code: EPIPE)) { try writer.flush() }
    #expect(WriteFailure(code: EPIPE).isClosedPipe && !WriteFailure(code: ENOSPC).isClosedPipe)
  }

  @Test(.enabled(if: Scratch.run("test -c /dev/full") == 0))
  func aFullDiskIsAnError() throws {
    let descriptor = clibc_open("/dev/full", O_WRONLY)
    defer { close(descriptor) }
    let writer = RecordWriter(descriptor: descriptor, capacity: 4096)
    try writer.write("x")
    #expect(throws: WriteFailure(code: ENOSPC)) { try writer.flush() }
    #expect(throws: WriteFailure(code: ENOSPC)) {
      try writer.write([UInt8](repeating: 0, count: 5000))
    }
    #expect(WriteFailure(code: ENOSPC).reason == "no space left on device")
  }

  @Test func aClosedDescriptorIsAnError() throws {
    let writer = RecordWriter(descriptor: -1)
    try writer.write("x")
    #expect(throws: WriteFailure(code: EBADF)) { try writer.flush() }
  }

  @Test func aSlowReaderOfANonBlockingPipeGetsEverything() throws {
    let scratch = Scratch()
    let pipe = try Pipe(nonBlockingAt: scratch.file("fifo"))
    #expect(
      Scratch.run("(sleep 0.2; cksum) <'\(scratch.file("fifo"))' >'\(scratch.file("sum"))' &") == 0)
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 / 3) }
    let writer = RecordWriter(descriptor: pipe.writing)
    try writer.write(bytes)
    try writer.flush()
    // The reader sees the end when we are gone, and we must be the last reader but it.
    pipe.closeReading()
    pipe.closeWriting()
    let expected = scratch.write("bytes", bytes)
    #expect(
      Scratch.run(
        """
        for n in $(seq 100); do test -s '\(scratch.file("sum"))' && break; sleep 0.1; done
        test "$(cksum <'\(expected)')" = "$(cat '\(scratch.file("sum"))')"
        """) == 0)
  }

  @Test(.timeLimit(.minutes(1)))
  func aCommandThatIsToEndGivesUpAStalledReader() throws {
    let scratch = Scratch()
    let pipe = try Pipe(nonBlockingAt: scratch.file("fifo"))
    var asked = 0
    let writer = RecordWriter(
      descriptor: pipe.writing,
      interrupted: {
        asked += 1
        return asked == 2
      })
    #expect(throws: WriteFailure(code: EINTR)) {
      try writer.write([UInt8](repeating: 0, count: 1 << 20))
    }
    #expect(asked == 2)
  }
}
