import Core
import Testing

@testable import transcript_tail

@Suite struct LineCutterTests {
  /// What a cutter makes of pieces: `begin-end:text`.
  private func cut(_ text: String, every size: Int, from offset: Int64 = 0, limit: Int = 100)
    throws -> [String]
  {
    var cutter = LineCutter(offset: offset, limit: limit)
    let bytes = Array(text.utf8)
    var lines: [String] = []
    while cutter.position < bytes.count {
      let start = Int(cutter.position)
      try bytes[start..<min(bytes.count, start + size)].withUnsafeBytes { piece in
        try cutter.take(piece) { line, begin, end throws(WriteFailure) in
          switch line {
          case .whole(let bytes):
            lines.append("\(begin)-\(end):" + String(decoding: bytes, as: UTF8.self))
          case .tooLong: lines.append("\(begin)-\(end) too long")
          }
        }
      }
    }
    return lines + ["\(cutter.offset)"]
  }

  @Test(arguments: [1, 2, 3, 5, 100])
  func linesAreWholeWhereverPiecesEnd(_ size: Int) throws {
    #expect(try cut("one\n\nthree\nfo", every: size) == ["0-4:one", "4-5:", "5-11:three", "11"])
  }

  @Test(arguments: [1, 2, 100])
  func aLineThatIsTooLongIsPassedOver(_ size: Int) throws {
    #expect(
      try cut("one\nlonger\nfour\n", every: size, limit: 4)
        == ["0-4:one", "4-11 too long", "11-16:four", "16"])
  }

  @Test(arguments: [1, 2, 100])
  func itBeginsWithTheNextWholeLine(_ size: Int) throws {
    #expect(try cut("one\ntwo\n", every: size, from: 4) == ["4-8:two", "8"])
    #expect(try cut("one\ntwo\n", every: size, from: 2) == ["4-8:two", "8"])
    #expect(try cut("one\ntwo", every: size, from: 5) == ["5"])
  }
}
