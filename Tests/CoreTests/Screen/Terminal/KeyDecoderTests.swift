import Testing

@testable import Screen

@Suite struct KeyDecoderTests {
  private func keys(_ text: String) -> [Key] {
    var decoder = KeyDecoder()
    return decoder.receive(Array(text.utf8))
  }

  @Test func plainKeys() {
    #expect(
      keys("q \r\u{7f}\u{3}\t") == [
        .character("q"), .character(" "), .enter, .backspace, .control("c"), .tab,
      ])
  }

  @Test func arrowsOfEveryTerminal() {
    #expect(keys("\u{1b}[A\u{1b}OA\u{1b}[1;5A") == [.up, .up, .up])
    #expect(keys("\u{1b}[B\u{1b}OD\u{1b}[C") == [.down, .left, .right])
    #expect(keys("\u{1b}[5~\u{1b}[6~\u{1b}[5;2~") == [.pageUp, .pageDown, .pageUp])
    #expect(
      keys("\u{1b}[H\u{1b}[1~\u{1b}[7~\u{1b}OF\u{1b}[4~\u{1b}[8~") == [
        .home, .home, .home, .end, .end, .end,
      ])
    #expect(keys("\u{1b}[2~\u{1b}[3~") == [.insert, .delete])
  }

  @Test func bytesInAnyPieces() {
    var decoder = KeyDecoder()
    var found: [Key] = []
    for byte in "\u{1b}[6~é漢🌊\u{1b}[1;2Bx".utf8 { found += decoder.receive([byte]) }
    #expect(
      found == [
        .pageDown, .character("é"), .character("漢"), .character("🌊"), .down, .character("x"),
      ])
    #expect(!decoder.isPending)
  }

  @Test func escapeIsAKeyAfterAPauseOrBeforeAnother() {
    var decoder = KeyDecoder()
    #expect(decoder.receive([0x1b]) == [])
    #expect(decoder.isPending)
    #expect(decoder.pause() == [.escape])
    #expect(decoder.pause() == [])
    #expect(decoder.receive([0x1b, 0x1b]) == [.escape])
    #expect(decoder.receive(Array("[A".utf8)) == [.up])
  }

  @Test func reportsAndRubbishMeanNothing() {
    #expect(keys("\u{1b}[?2026;2$y") == [.other])
    #expect(keys("\u{1b}[12;40R\u{1b}[[A") == [.other, .other])
    #expect(keys("\u{1b}[<0;3;4M") == [.other])
    var decoder = KeyDecoder()
    #expect(decoder.receive([0xff, 0xc3, 0x28]) == [.other, .other, .character("(")])
    #expect(decoder.receive(Array("\u{1b}[".utf8) + [UInt8](repeating: 0x31, count: 500)).count > 0)
    #expect(decoder.receive([0xed, 0xa0, 0x80]) == [.other])
  }
}
