import CLibc
import Core
import Records
import TestSupport
import Testing

@Suite struct RecordInputTests {
  /// Calls the body with the path of a file with these bytes.
  private func withFile<Result>(
    _ bytes: [UInt8], _ body: (String) throws -> Result
  ) throws -> Result {
    var name = Array("/tmp/records.XXXXXX".utf8CString)
    let file = mkstemp(&name)
    try #require(file >= 0)
    let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
      close(file)
      unlink(path)
    }
    #expect(write(file, bytes, bytes.count) == bytes.count)
    return try body(path)
  }

  /// The lines of a file with these bytes, each with its number, or why it ended;
  /// then of one that is not there, and of the first again.
  ///
  /// - Parameter most: after so many, no other file is begun.
  private func read(
    _ bytes: [UInt8], writtenToItself: Bool = false, most: Int = 10
  ) throws -> [String] {
    try withFile(bytes) { path in
      var found: [String] = []
      try RecordInput.each(
        [path, path + ".none", path],
        writtenTo: writtenToItself ? FileIdentity(path: path) : nil,
        until: { found.count > most },
        fault: { found.append("\($0 == path ? "file" : "none"): \($1)") },
        lines: { input in
          while let line = try input.next() {
            let text = String(decoding: line.bytes, as: UTF8.self)
            let marks =
              (line.isTerminated ? "" : "…") + (line.whole.count > line.bytes.count ? "+" : "")
            found.append("\(line.number) \(text)\(marks)")
          }
        })
      return found
    }
  }

  private let missing = "none: no such file or directory"

  @Test func linesAreCountedAndTheMarkIsCutOff() throws {
    let lines = ["1 a+", "2 \u{feff}b", "3 c…"]
    #expect(
      try read([0xef, 0xbb, 0xbf] + Array("a\n\u{feff}b\nc".utf8)) == lines + [missing] + lines)
    // Three bytes are a mark; these are an Arabic letter and a tie.
    #expect(try read(Array("\u{fefe}\n".utf8)).first == "1 \u{fefe}")
  }

  @Test func noOtherFileIsBegunWhenItIsEnough() throws {
    #expect(try read(Array("a\nb\n".utf8), most: 1) == ["1 a", "2 b"])
    #expect(try read(Array("a\nb\n".utf8), most: 2) == ["1 a", "2 b", missing])
  }

  @Test func linesThatArePassedOverAreCounted() throws {
    try withFile(Array("a\nb\nc\nd\n".utf8)) { path in
      var input = try RecordInput(path: path)
      #expect(try input.next()?.number == 1)
      input.skipLines { lines in lines.firstIndex(of: UInt8(ascii: "d")) }
      let line = try input.next()
      #expect(line?.number == 4)
      #expect(line?.bytes.first == UInt8(ascii: "d"))
    }
  }

  @Test func onlyARegularFileIsOne() throws {
    let isFile = try withFile([]) { try RecordInput(path: $0).isFile }
    let isDevice = try !RecordInput(path: "/dev/null").isFile
    #expect(isFile && isDevice)
  }

  @Test func beforeAReadThatMayWaitTheCallerIsAsked() throws {
    try withFile(Array("a\nb\n".utf8)) { path in
      var (file, pipe) = (0, 0)
      var input = try RecordInput(path: path)
      while try input.next(beforeBlocking: { _ in file += 1 }) != nil {}
      #expect(file == 0)
      let writer = clibc_fifo(path + ".fifo")
      try #require(writer >= 0)
      defer {
        close(writer)
        unlink(path + ".fifo")
      }
      var slow = try RecordInput(path: path + ".fifo")
      // Only when it is asked there is something to read.
      let line = try slow.next(beforeBlocking: { source in
        pipe += 1
        #expect(source > 2)
        _ = write(writer, "a\n", 2)
      })
      #expect(line?.bytes.first == UInt8(ascii: "a"))
      #expect(pipe == 1)
    }
  }

  @Test func aFileThatIsWrittenIsNotRead() throws {
    let refused = "file: is read and written at once"
    #expect(try read(Array("a\n".utf8), writtenToItself: true) == [refused, missing, refused])
  }

  @Test func aDamagedFileEndsWithAReasonAndNotWithHalfALine() throws {
    let damaged = try read([0x1f, 0x8b, 8, 0, 1, 2])
    #expect(damaged.count == 3)
    #expect(damaged.first?.hasPrefix("file: cut short or damaged: gzip: ") == true)
    // All of it is there but the sum is wrong: one block, stored as it is.
    let start: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 6, 0, 0xf9, 0xff]
    let half = try read(start + Array("a\nhalf".utf8) + [UInt8](repeating: 0, count: 8))
    #expect(half.first == "1 a")
    #expect(half.dropFirst().first?.hasPrefix("file: cut short or damaged: gzip: ") == true)
  }

  @Test func aFolderIsRefusedAtOnce() {
    #expect(throws: Failure(code: EISDIR)) { _ = try RecordInput(path: "/tmp").path }
  }
}
