import CLibc
import TestSupport
import Testing

@testable import Core

@Suite struct LineReaderTests {
  /// A line as it came: its bytes, and whether a LF ended it.
  struct Seen: Equatable {
    let text: [UInt8]
    let terminated: Bool
  }

  /// What the lines of these bytes are, told in the simplest way.
  private func expected(_ bytes: [UInt8]) -> [Seen] {
    var lines: [Seen] = []
    var line: [UInt8] = []
    for byte in bytes {
      if byte == 10 {
        lines.append(Seen(text: line, terminated: true))
        line = []
      } else {
        line.append(byte)
      }
    }
    if !line.isEmpty { lines.append(Seen(text: line, terminated: false)) }
    return lines
  }

  private func all(_ descriptor: Int32, capacity: Int = 4096) throws -> [Seen] {
    var reader = LineReader(descriptor: descriptor, capacity: capacity)
    var lines: [Seen] = []
    while let line = try reader.next() {
      lines.append(Seen(text: Array(line.bytes), terminated: line.terminated))
    }
    #expect(try reader.next() == nil)
    return lines
  }

  @Test(arguments: [
    "", "\n", "\n\n", "a", "a\n", "a\nb", "a\r\nb\r\n", "\r", "a\u{0}b\n\u{0}",
    "ü\u{2028}\n\u{85}\n",
  ])
  func everyCutOfAPipe(text: String) throws {
    let bytes = Array(text.utf8)
    for cut in 0...bytes.count {
      let pipe = try Pipe()
      var lines: [Seen] = []
      var reader = LineReader(descriptor: pipe.reading, capacity: 4096)
      pipe.write(Array(bytes[..<cut]))
      var rest: [UInt8]? = Array(bytes[cut...])
      // The rest is written only when the reader is about to wait.
      while let line = try reader.next(beforeBlocking: {
        guard let more = rest else { return }
        rest = nil
        pipe.write(more)
        pipe.closeWriting()
      }) { lines.append(Seen(text: Array(line.bytes), terminated: line.terminated)) }
      #expect(lines == expected(bytes))
    }
  }

  @Test func randomLinesInRandomPieces() throws {
    var generator = SeededGenerator(seed: 5)
    for round in 0..<60 {
      let longest = [3, 100, 5000, 20000][round % 4]
      var bytes: [UInt8] = []
      for _ in 0..<30 {
        let length = Int.random(in: 0...longest, using: &generator)
        bytes += (0..<length).map { _ in [0, 13, 0x61, 0xff].randomElement(using: &generator) ?? 0 }
        bytes.append(10)
      }
      if round % 3 == 0 { bytes.removeLast() }
      var pieces: [[UInt8]] = []
      var start = 0
      while start < bytes.count {
        let end = min(bytes.count, start + Int.random(in: 1...8000, using: &generator))
        pieces.append(Array(bytes[start..<end]))
        start = end
      }
      let pipe = try Pipe()
      var reader = LineReader(descriptor: pipe.reading, capacity: 4096)
      var next = 0
      var lines: [Seen] = []
      while let line = try reader.next(beforeBlocking: {
        if next < pieces.count { pipe.write(pieces[next]) } else { pipe.closeWriting() }
        next += 1
      }) { lines.append(Seen(text: Array(line.bytes), terminated: line.terminated)) }
      #expect(lines == expected(bytes))
    }
  }

  @Test func filesOfEverySizeAroundTheBuffer() throws {
    let scratch = Scratch()
    for size in [4094, 4095, 4096, 4097, 8191, 8192, 8193, 16384, 100_000] {
      for end in [[], [UInt8(10)], [10, 0x62]] {
        let bytes = [UInt8](repeating: 0x61, count: size) + end
        let descriptor = clibc_open(scratch.write("file", bytes), O_RDONLY)
        defer { close(descriptor) }
        #expect(try all(descriptor) == expected(bytes))
      }
    }
  }

  /// The heart of a live pipe: whatever was complete has been handed over, and
  /// the caller was told to write it out, before the reader waits.
  @Test(arguments: [1, 2, 4095, 4096, 8192, 65536])
  func theCallerIsToldBeforeEachWait(size: Int) throws {
    let pipe = try Pipe()
    var reader = LineReader(descriptor: pipe.reading, capacity: 4096)
    let lines = [[UInt8](repeating: 0x61, count: size - 1) + [10], [0x62, 10], [0x63, 10]]
    for line in lines {
      // Exactly the buffer's size too: a full read does not mean that more is there.
      pipe.write(line)
      var told = 0
      let seen = try reader.next(beforeBlocking: { told += 1 })
      #expect(seen.map { Array($0.bytes) } == Array(line.dropLast()))
      told = 0
      struct Told: Error {}
      // No more is there: the next read would wait.
      #expect(throws: Told.self) {
        _ = try reader.next(beforeBlocking: {
          told += 1
          throw Told()
        })
      }
      #expect(told == 1)
    }
  }

  @Test func aFileIsNeverABlockingRead() throws {
    let scratch = Scratch()
    let descriptor = clibc_open(
      scratch.write("file", String(repeating: "line\n", count: 5000)), O_RDONLY)
    defer { close(descriptor) }
    var reader = LineReader(descriptor: descriptor, capacity: 4096)
    var (lines, told) = (0, 0)
    while try reader.next(beforeBlocking: { told += 1 }) != nil { lines += 1 }
    #expect(lines == 5000 && told == 0)
  }

  @Test func linesOfOneReadAreGivenWithoutAsking() throws {
    let pipe = try Pipe()
    pipe.write(Array("a\nb\nc\n".utf8))
    var reader = LineReader(descriptor: pipe.reading)
    var told = 0
    for _ in 0..<3 { _ = try reader.next(beforeBlocking: { told += 1 }) }
    #expect(told == 0)
  }

  @Test func aNonBlockingPipeIsWaitedFor() throws {
    let scratch = Scratch()
    let pipe = try Pipe(nonBlockingAt: scratch.file("fifo"))
    var told = 0
    var reader = LineReader(descriptor: pipe.reading)
    let line = try reader.next(beforeBlocking: {
      told += 1
      // Written by another process, after the reader began to wait.
      #expect(Scratch.run("(sleep 0.1; echo late) >'\(scratch.file("fifo"))' &") == 0)
    })
    #expect(line.map { Array($0.bytes) } == Array("late".utf8) && told == 1)
  }

  @Test func aLongLineTakesLinearTime() throws {
    let scratch = Scratch()
    func seconds(_ size: Int) throws -> Double {
      let name = "fifo\(size)"
      let pipe = try Pipe(nonBlockingAt: scratch.file(name))
      let path = scratch.write("long", [UInt8](repeating: 0x61, count: size) + [10, 0x62])
      // Small writes, as a network brings them.
      #expect(
        Scratch.run("dd if='\(path)' of='\(scratch.file(name))' bs=4k status=none &") == 0)
      let start = monotonicSeconds()
      var reader = LineReader(descriptor: pipe.reading, capacity: 4096)
      #expect(try reader.next()?.bytes.count == size)
      return monotonicSeconds() - start
    }
    let small = try seconds(8 << 20)
    let large = try seconds(64 << 20)
    // Eight times the bytes: quadratic time would be 64 times as long, minutes.
    #expect(large < max(30 * small, 5))
  }

  @Test func aFolderIsAnError() {
    let descriptor = clibc_open("/", O_RDONLY)
    defer { close(descriptor) }
    #expect(throws: Failure(code: EISDIR)) { try all(descriptor) }
    #expect(throws: Failure(code: EBADF)) { try all(-1) }
  }
}
