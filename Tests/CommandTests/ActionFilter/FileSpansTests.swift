import CLibc
import Core
import Testing

@testable import action_filter

/// A file with these bytes, open for reading and writing, that nobody else sees.
final class Scrap {
  let file: Int32
  let path: String

  init(_ bytes: [UInt8] = []) {
    var name = Array("/tmp/agentutils-pieces.XXXXXX".utf8CString)
    file = mkstemp(&name)
    path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      precondition(count > 0, "no room for a test")
      rest = rest.dropFirst(count)
    }
    lseek(file, 0, SEEK_SET)
  }

  deinit {
    close(file)
    unlink(path)
  }

  /// All that is in it.
  var bytes: [UInt8] {
    let size = Int(FileVersion(file)?.size ?? 0)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(pread(file, buffer.baseAddress, size, 0), 0)
    }
  }
}

@Suite struct FileSpansTests {
  /// The lines of all spans of this size, each with its LF if it has one, and how many
  /// lines each span has.
  func lines(
    of bytes: [UInt8], size: Int, from start: Int = 0, upTo end: Int? = nil
  ) throws -> [[UInt8]] {
    let scrap = Scrap(bytes)
    let range = Int64(start)..<Int64(end ?? bytes.count)
    let spans = FileSpans(of: scrap.file, range, path: "x", size: size)
    var found: [[UInt8]] = []
    var isFirst = true
    let buffer = PieceBuffer(capacity: size)
    while let piece = try spans.next(buffer) {
      #expect(piece.path == "x")
      #expect(piece.firstLine == (isFirst ? 1 : nil))
      isFirst = false
      try piece.fill?(buffer)
      found += split(Array(buffer.bytes))
      buffer.clear(keeping: size)
    }
    return found
  }

  func split(_ bytes: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var rest = bytes[...]
    while let first = rest.firstIndex(of: 10) {
      lines.append(Array(rest[...first]))
      rest = rest[(first + 1)...]
    }
    return rest.isEmpty ? lines : lines + [Array(rest)]
  }

  static let awkward = [
    "", "\n", "\n\n\n", "a", "a\n", "a\nb", "ab\ncd\n", "\r\n\r\n", "\na\n\nbcd\r\n\ne",
    "a\u{0}b\n\u{0}\n", "\u{feff}a\nb\n", "abcdefghijklmnopqrstuvwxyz0123456789\na\nb\n\n",
    "a\nb\nabcdefghijklmnopqrstuvwxyz0123456789", String(repeating: "\n", count: 40) + "x",
    String(repeating: "abc\n", count: 20), "1\n22\n333\n4444\n55555\n666666\n7777777\n88888888\n",
  ]

  @Test(arguments: awkward)
  func everyLineIsInOnePiece(text: String) throws {
    let bytes = Array(text.utf8)
    for size in 1...bytes.count + 2 {
      #expect(try lines(of: bytes, size: size) == split(bytes), "spans of \(size)")
    }
  }

  @Test func beginsWhereTheFileWasReadTo() throws {
    let bytes = Array("abc\nde\nf\n\nghi".utf8)
    for size in 1...9 {
      #expect(try lines(of: bytes, size: size, from: 4) == split(Array(bytes[4...])))
    }
  }

  /// A file that became longer or shorter since its size was asked for.
  @Test func endsWithALineOrTheFile() throws {
    let bytes = Array("abc\nde\nfgh\nij\n".utf8)
    for size in 1...9 {
      #expect(try lines(of: bytes, size: size, upTo: 9) == split(Array(bytes[..<11])))
      #expect(try lines(of: bytes, size: size, upTo: 40) == split(bytes))
    }
  }

  @Test func aLineMayBeLongerThanManySpans() throws {
    let long = [UInt8](repeating: 120, count: 3_000_000)
    let bytes = Array("a\n".utf8) + long + Array("\nb\n".utf8)
    #expect(try lines(of: bytes, size: 4096).map(\.count) == [2, 3_000_001, 2])
  }

  /// Nothing but the lines that could be read counts.
  @Test func aFolderCannotBeRead() throws {
    let folder = clibc_open("/tmp", O_RDONLY)
    defer { close(folder) }
    let spans = FileSpans(of: folder, 0..<100, path: "/tmp", size: 10)
    let buffer = PieceBuffer(capacity: 10)
    let piece = try #require(try spans.next(buffer))
    #expect(throws: Failure(code: EISDIR)) { try piece.fill?(buffer) }
    #expect(buffer.lines.isEmpty)
  }
}
