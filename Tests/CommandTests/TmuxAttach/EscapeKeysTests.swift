import Testing

@testable import tmux_attach

@Suite struct EscapeKeysTests {
  /// What a text typed in pieces comes to: keys joined, commands apart.
  private func typed(_ pieces: String...) -> [EscapeKeys.Part] {
    var escapes = EscapeKeys()
    var parts: [EscapeKeys.Part] = []
    for piece in pieces {
      for part in escapes.receive(piece.utf8) {
        if case .keys(let more) = part, case .keys(let keys) = parts.last {
          parts[parts.count - 1] = .keys(keys + more)
        } else {
          parts.append(part)
        }
      }
    }
    return parts
  }

  private func keys(_ text: String) -> EscapeKeys.Part { .keys(Array(text.utf8)) }

  @Test func escapesWhereALineBegins() {
    #expect(typed("~.") == [.end])
    #expect(typed("~", ".") == [.end])
    #expect(typed("ls\r~.") == [keys("ls\r"), .end])
    #expect(typed("ls\n~?x") == [keys("ls\n"), .list, keys("x")])
    #expect(typed("\r~\u{1a}~.") == [keys("\r"), .suspend, .end])
  }

  @Test func noEscapeWithinALine() {
    #expect(typed("a~.") == [keys("a~.")])
    #expect(typed("a", "~.") == [keys("a~.")])
    #expect(typed("~~.") == [keys("~.")])
    #expect(typed("\r~~") == [keys("\r~")])
  }

  @Test func aTildeIsHeldForOneByte() {
    #expect(typed("~") == [])
    #expect(typed("~", "x") == [keys("~x")])
    #expect(typed("~", "\r", "~.") == [keys("~\r"), .end])
    // An unknown one is not an escape.
    #expect(typed("~R", "~B") == [keys("~R~B")])
    #expect(typed("~\u{1b}[A") == [keys("~\u{1b}[A")])
  }

  @Test func noEscapeInPastedText() {
    let paste = "\u{1b}[200~one\r~.\r~?\u{1b}[201~"
    #expect(typed(paste) == [keys(paste)])
    #expect(typed(paste, "\r~.") == [keys(paste + "\r"), .end])
    #expect(
      typed("\u{1b}[20", "0~x\r~.", "\u{1b}[201", "~") == [keys("\u{1b}[200~x\r~.\u{1b}[201~")])
  }

  @Test(arguments: ["\u{1b}[I", "\u{1b}[O", "\u{1b}[<35;10;5M", "\u{1b}[<0;1;1m", "\u{1b}[?62;c"])
  func whatTheTerminalSendsIsNotTyped(_ sent: String) {
    #expect(typed("\r", sent, "~.") == [keys("\r" + sent), .end])
    #expect(typed("x", sent, "~.") == [keys("x" + sent + "~.")])
  }

  @Test(arguments: ["\u{1b}[A", "\u{1b}", "\u{1b}x", "\u{1b}[3~", "\u{1b}OP"])
  func otherKeysAreTyped(_ key: String) {
    #expect(typed("\r", key, "~.") == [keys("\r" + key + "~.")])
  }

  @Test func everyByteComesThrough() {
    let all = (0...255).map(UInt8.init) + (0...255).reversed().map(UInt8.init)
    var escapes = EscapeKeys()
    var out: [UInt8] = []
    for byte in [0x61] + all {
      for case .keys(let keys) in escapes.receive([byte]) { out += keys }
    }
    #expect(out == [0x61] + all)
  }
}
