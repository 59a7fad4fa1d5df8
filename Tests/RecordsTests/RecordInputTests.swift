import CLibc
import Core
import Records
import TestSupport
import Testing

@Suite struct RecordInputTests {
  /// The lines of a file with these bytes, each with its number, or why it ended.
  private func read(_ bytes: [UInt8], writtenToItself: Bool = false) throws -> [String] {
    var name = Array("/tmp/records.XXXXXX".utf8CString)
    let file = mkstemp(&name)
    try #require(file >= 0)
    let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
      close(file)
      unlink(path)
    }
    #expect(write(file, bytes, bytes.count) == bytes.count)
    var found: [String] = []
    try RecordInput.each(
      [path, "/nonexistent", path],
      writtenTo: writtenToItself ? FileIdentity(path: path) : nil,
      until: { found.count > 10 },
      fault: { found.append("\($0 == path ? "file" : $0): \($1)") },
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

  private let missing = "/nonexistent: no such file or directory"

  @Test func linesAreCountedAndTheMarkIsCutOff() throws {
    let lines = ["1 a+", "2 \u{feff}b", "3 c…"]
    #expect(
      try read([0xef, 0xbb, 0xbf] + Array("a\n\u{feff}b\nc".utf8)) == lines + [missing] + lines)
  }

  @Test func aFileThatIsWrittenIsNotRead() throws {
    let refused = "file: is read and written at once"
    #expect(try read(Array("a\n".utf8), writtenToItself: true) == [refused, missing, refused])
  }

  @Test func aDamagedFileEndsWithAReasonAndNotWithHalfALine() throws {
    let damaged = try read([0x1f, 0x8b, 8, 0, 1, 2])
    #expect(damaged.count == 3)
    #expect(damaged.first?.hasPrefix("file: cut short or damaged: gzip: ") == true)
  }

  @Test func aFolderIsRefusedAtOnce() {
    #expect(throws: ReadFailure(code: EISDIR)) { _ = try RecordInput(path: "/tmp").path }
  }
}
