import Testing

@testable import Agent

/// How often a text that grows is told.
@Suite struct TextPaceTests {
  @Test func aShortTextIsToldEachTime() {
    var pace = TextPace()
    for bytes in 1...4096 { #expect(pace.changed(to: bytes)) }
    #expect(!pace.changed(to: 4097) && pace.isBehind)
  }

  @Test func aLongOneWhenItHasGrownByAnEighthOrShrunk() {
    var pace = TextPace()
    #expect(pace.changed(to: 8000))
    #expect(!pace.changed(to: 8999))
    #expect(pace.changed(to: 9000) && !pace.isBehind)
    #expect(pace.changed(to: 8999))
  }

  @Test func whatWasToldIsNotBehind() {
    var pace = TextPace()
    #expect(pace.changed(to: 8000))
    #expect(!pace.changed(to: 8001) && pace.isBehind)
    pace.caughtUp(at: 8001)
    #expect(!pace.isBehind)
    #expect(TextPace.rest(after: 8001) < 0.001)
  }

  /// A million pieces cost the text a few times, not the square.
  @Test func allThatIsToldIsLinear() {
    var pace = TextPace()
    var told = 0
    for bytes in stride(from: 7, through: 7_000_000, by: 7) where pace.changed(to: bytes) {
      told += bytes
    }
    #expect(told < 10 * 7_000_000)
  }

  @Test func theEndOfATextCutsNoScalar() {
    #expect("aé€🪿".tail(bytes: 4) == "🪿")
    #expect("aé€🪿".tail(bytes: 6) == "🪿")
    #expect("aé€🪿".tail(bytes: 7) == "€🪿")
    #expect("aé".tail(bytes: 3) == "aé")
    #expect("é".tail(bytes: 1) == "")
  }
}
