import Core
import Testing

/// UTF-8 that comes in pieces, and base64.
@Suite struct UTF8PiecesTests {
  private static func check(_ pieces: [[UInt8]]) -> Bool {
    var text = UTF8Pieces()
    for piece in pieces where !piece.withUnsafeBytes({ text.receive($0) }) { return false }
    return text.isWhole
  }

  /// All that two or three bytes can say, and the ranges of four, in every cut.
  @Test func asInOnePiece() {
    let edges: [UInt8] = [
      0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
      0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
    ]
    var wrong: [[UInt8]] = []
    for a in edges {
      for b in edges {
        for c in edges {
          for d in [0x41, 0x80, 0x90, 0xbf, 0xc2] as [UInt8] {
            let bytes = [a, b, c, d]
            let want = bytes.withUnsafeBytes(UTF8Text.isValid)
            var found = [Self.check(bytes.map { [$0] })]
            for cut in 1..<4 {
              found.append(Self.check([Array(bytes[..<cut]), Array(bytes[cut...])]))
            }
            if found.contains(!want) { wrong.append(bytes) }
          }
        }
      }
    }
    #expect(wrong == [])
  }

  @Test func faultsAreSeenAtOnce() {
    for bytes: [UInt8] in [
      [0xc0], [0xf5], [0x80], [0xe0, 0x9f], [0xed, 0xa0], [0xf0, 0x8f], [0xf4, 0x90], [0xe5, 0x41],
    ] {
      var text = UTF8Pieces()
      let taken = bytes.map { byte in [byte].withUnsafeBytes { text.receive($0) } }
      #expect(taken.last == false)
      #expect(taken.dropLast().allSatisfy { $0 })
    }
  }
}
