import Testing
import Turns

@testable import Agent

/// How often a text that grows is told.
@Suite struct TextPaceTests {
  /// Which of these lengths are told.
  private func told(_ lengths: [Int]) -> [Int] {
    var pace = TextPace()
    return lengths.filter { pace.changed(to: $0) }
  }

  @Test func aShortTextIsToldEachTime() {
    #expect(told(Array(1...4097)) == Array(1...4096))
  }

  @Test func aLongOneWhenItHasGrownByAnEighthOrShrunk() {
    #expect(told([8000, 8999, 9000, 8999]) == [8000, 9000, 8999])
  }

  @Test func whatWasToldIsNotBehind() {
    var pace = TextPace()
    var isTold = pace.changed(to: 8000)
    #expect(isTold && !pace.isBehind)
    isTold = pace.changed(to: 8001)
    #expect(!isTold && pace.isBehind)
    pace.caughtUp(at: 8001)
    #expect(!pace.isBehind)
    #expect(TextPace.rest(after: 8001) < 0.001)
  }

  /// A million pieces cost the text a few times, not the square.
  @Test func allThatIsToldIsLinear() {
    let sum = told(Array(stride(from: 7, through: 7_000_000, by: 7))).reduce(0, +)
    #expect(sum < 10 * 7_000_000)
  }

  @Test func theEndOfATextCutsNoScalar() {
    #expect("aé€🪿".tail(bytes: 4) == "🪿")
    #expect("aé€🪿".tail(bytes: 6) == "🪿")
    #expect("aé€🪿".tail(bytes: 7) == "€🪿")
    #expect("aé".tail(bytes: 3) == "aé")
    #expect("é".tail(bytes: 1) == "")
  }
}
