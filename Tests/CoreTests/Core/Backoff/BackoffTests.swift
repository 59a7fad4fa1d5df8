import TestSupport
import Testing

@testable import Core

@Suite struct BackoffTests {
  @Test func theWaitsDoubleUpToTheCap() {
    var backoff = Backoff(base: 3, factor: 2, cap: 60, jitter: 0.3)
    #expect((0..<7).map { _ in backoff.next(random: 0) } == [3, 6, 12, 24, 48, 60, 60])
    #expect(backoff.count == 7)
  }

  @Test func aResetStartsOver() {
    var backoff = Backoff()
    _ = (0..<5).map { _ in backoff.next(random: 0) }
    backoff.reset()
    #expect(backoff.count == 0)
    #expect(backoff.next(random: 0) == 3)
  }

  @Test func jitterOnlyAdds() {
    var (low, high) = (Backoff(), Backoff())
    for _ in 0..<10 {
      let least = low.next(random: 0)
      let most = high.next(random: 0.999_999)
      #expect(most > least * 1.29 && most < least * 1.3)
    }
  }

  @Test func aBaseOverTheCapIsNeitherUndercutNorExceeded() {
    var backoff = Backoff(base: 3, cap: 60)
    _ = backoff.next(random: 0)
    backoff.setBase(300)
    #expect((0..<4).map { _ in backoff.next(random: 0) } == [300, 300, 300, 300])
    backoff.setBase(1)
    backoff.reset()
    #expect(backoff.next(random: 0) == 1)
  }

  @Test(arguments: [0, -1, -Double.infinity, Double.nan, 1e-9])
  func withoutABaseTheWaitsAreShortAndGrow(base: Double) {
    var backoff = Backoff()
    backoff.setBase(base)
    #expect(backoff.next(random: 0) == Backoff.shortest)
    #expect(backoff.next(random: 0) == Backoff.shortest * 2)
    var last = 0.0
    for _ in 0..<20 { last = backoff.next(random: 0) }
    #expect(last == 60)
  }

  @Test(arguments: [1e25, Double.infinity, Double.greatestFiniteMagnitude])
  func aHugeBaseFitsPoll(base: Double) {
    var backoff = Backoff(base: base, cap: base)
    for _ in 0..<70 {
      #expect(backoff.next(random: 0.999_999) * 1000 < Double(Int32.max))
    }
    backoff.setBase(base)
    #expect(backoff.next(random: 0) == Backoff.longest)
  }

  /// Any sequence of calls: within [d, d × (1 + jitter)] of the formula.
  @Test func everyWaitIsWithinItsBounds() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<300 {
      let factor = Double.random(in: 1...4, using: &generator)
      let cap = Double.random(in: 0.05...200, using: &generator)
      let jitter = Double.random(in: 0...1, using: &generator)
      var base = Double.random(in: 0.05...100, using: &generator)
      var backoff = Backoff(base: base, factor: factor, cap: cap, jitter: jitter)
      var failures = 0.0
      for _ in 0..<60 {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0:
          backoff.reset()
          failures = 0
        case 1:
          base = Double.random(in: 0.05...300, using: &generator)
          backoff.setBase(base)
        default:
          var wanted = base
          for _ in 0..<Int(failures) { wanted = min(wanted * factor, max(cap, base)) }
          let wait = backoff.next(random: Double.random(in: 0..<1, using: &generator))
          #expect(wait >= min(wanted, max(cap, base)) * 0.999_999)
          #expect(wait <= min(wanted, max(cap, base)) * (1 + jitter) * 1.000_001)
          #expect(wait >= base)
          failures += 1
        }
      }
    }
  }
}
