import Testing

@testable import tmux_attach

@Suite struct ScreenModesTests {
  private func after(_ pieces: String...) -> ScreenModes {
    var modes = ScreenModes()
    for piece in pieces { modes.receive(Array(piece.utf8)[...]) }
    return modes
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func theAlternateScreenIsLeftOnlyWhereItWasEntered() {
    #expect(!text(after("\u{1b}[m").undo).hasSuffix("\u{1b}[?1049l"))
    #expect(text(after("\u{1b}[?1049h").undo).hasSuffix("\u{1b}[?1049l"))
    #expect(!text(after("\u{1b}[?1049h\u{1b}[?1049l").undo).hasSuffix("\u{1b}[?1049l"))
  }

  @Test func modesAreSwitchedOffInAnyCase() {
    #expect(ScreenModes().undo == [])
    #expect(after("text").undo == [])
    let undo = text(after("\u{1b}[H").undo)
    for number in [1, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004, 2026] {
      #expect(undo.split(separator: "\u{1b}").contains("[?\(number)l"))
    }
    for code in ["[?7h", "[?25h", ">", "[0m"] {
      #expect(undo.split(separator: "\u{1b}").contains { $0.hasPrefix(code) })
    }
  }

  @Test func setUpAgainAfterAStop() {
    let modes = after(
      "\u{1b}[?1049h\u{1b}[?1h\u{1b}=", "text\u{1b}[?1000;1006h\u{1b}[?25", "l\u{1b}[>1u")
    #expect(
      text(modes.redo)
        == "\u{1b}[?1049h\u{1b}[?1h\u{1b}[?1000h\u{1b}[?1006h\u{1b}[?25l\u{1b}=\u{1b}[>1u")
    #expect(text(modes.undo).split(separator: "\u{1b}").contains("[<1u"))
    #expect(after(text(modes.redo)).changed == modes.changed)
    #expect(after(text(modes.redo), text(modes.undo)).changed == [])
  }

  @Test func kittyKeysAreTakenBackAsOftenAsPushed() {
    #expect(after("\u{1b}[>1u\u{1b}[>5u\u{1b}[<u").mark == after("\u{1b}[>1u").mark)
    #expect(after("\u{1b}[>1u\u{1b}[<9u").mark == after("\u{1b}[H").mark)
  }

  @Test func regionsCursorsAndOtherKeys() {
    #expect(text(after("\u{1b}[2;5r").undo).split(separator: "\u{1b}").contains("[r"))
    #expect(after("\u{1b}[2;5r\u{1b}[r").mark == after("\u{1b}[H").mark)
    #expect(text(after("\u{1b}[4 q").undo).split(separator: "\u{1b}").contains("[0 q"))
    #expect(text(after("\u{1b}[>4;2m").undo).split(separator: "\u{1b}").contains("[>4m"))
    #expect(after("\u{1b}[>4;2m\u{1b}[>4m").mark == after("\u{1b}[H").mark)
    #expect(after("\u{1b}[?1049h\u{1b}[?1000h\u{1b}c").changed == [])
  }

  @Test func titlesComeBack() {
    let modes = after("\u{1b}[22;0;0t")
    #expect(text(modes.undo).split(separator: "\u{1b}").contains("[23;0;0t"))
    #expect(text(modes.redo) == "\u{1b}[22;0;0t")
    #expect(after("\u{1b}[22;0;0t\u{1b}[23;0;0t").mark == after("\u{1b}[H").mark)
  }

  @Test func whatIsInAStringIsText() {
    let modes = after("\u{1b}]0;\u{7}\u{1b}]52;c;[?1049h\u{1b}\\\u{1b}P[?1000h\u{1b}\\\u{1b}(P")
    #expect(modes.changed == [])
    #expect(!modes.isInSequence)
    #expect(after("\u{1b}]52;c;abc").isInSequence)
    #expect(after("\u{1b}[?10").isInSequence)
    #expect(text(after("\u{1b}]52;c;abc").undo).hasPrefix("\u{18}"))
  }

  @Test func anyBytesAreTaken() {
    var modes = ScreenModes()
    var seed: UInt64 = 7
    var bytes: [UInt8] = []
    for _ in 0..<200_000 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let byte = UInt8(truncatingIfNeeded: seed >> 40)
      bytes.append(byte < 60 ? [0x1b, 0x5b, 0x3f, 0x68, 0x6c, 0x3b, 0x39][Int(byte) % 7] : byte)
    }
    modes.receive(bytes[...])
    #expect(modes.undo.count < 1024)
    #expect(modes.redo.count < 4096)
  }
}
