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
        try cutter.append(piece) { line, begin, end throws(WriteFailure) in
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
  func itBeginsWithTheLineThatIsNotWholeThere(_ size: Int) throws {
    #expect(try cut("one\ntwo\n", every: size, from: 4) == ["4-8:two", "8"])
    #expect(try cut("one\ntwo\n", every: size, from: 2) == ["0-4:one", "4-8:two", "8"])
    #expect(try cut("one\ntwo\n", every: size, from: 3) == ["0-4:one", "4-8:two", "8"])
    #expect(try cut("one\ntwo\nthree\n", every: size, from: 6) == ["4-8:two", "8-14:three", "14"])
    #expect(try cut("one\ntwo", every: size, from: 5) == ["4"])
  }

  @Test(arguments: [1000, 1 << 20])
  func theBeginningMayBeFarBack(_ size: Int) throws {
    let long = String(repeating: "x", count: 100_000)
    for before in ["", "one\n", "one\n\(long)\n"] {
      let (start, all) = (before.utf8.count, "\(before)\(long)y\nz\n")
      let end = start + 100_002
      #expect(
        try cut(all, every: size, from: Int64(end - 2), limit: 1 << 20)
          == ["\(start)-\(end):\(long)y", "\(end)-\(end + 2):z", "\(end + 2)"])
      #expect(
        try cut(all, every: size, from: Int64(end - 2))
          == ["\(start)-\(end) too long", "\(end)-\(end + 2):z", "\(end + 2)"])
    }
  }
}
