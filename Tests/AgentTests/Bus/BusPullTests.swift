import Testing

@testable import Bus

@Suite struct BusPullTests {
  private let none = (count: 0, bytes: 0)

  @Test func moreIsAskedForWhenHalfIsGone() {
    var pull = BusPull(batch: 100)
    #expect(pull.ask(held: none, now: 0)?.count == 100)
    #expect(pull.ask(held: none, now: 0)?.count == nil)
    for _ in 0..<49 { pull.came(now: 0) }
    #expect(pull.ask(held: none, now: 0)?.count == nil)
    pull.came(now: 0)
    #expect(pull.ask(held: (1, 10), now: 0)?.count == nil)
    #expect(pull.ask(held: none, now: 0)?.count == 50)
    #expect(pull.outstanding == 100)
  }

  @Test func nothingIsAskedForWhileTooMuchIsInHand() {
    var pull = BusPull()
    #expect(pull.ask(held: (1, BusPull.mostHeld + 1), now: 0)?.count == nil)
    #expect(pull.ask(held: (65, 10), now: 0)?.count == nil)
    #expect(pull.ask(held: (64, BusPull.mostHeld), now: 0)?.count == 64)
  }

  @Test func noMoreThanIsWanted() {
    var pull = BusPull(batch: 100, wanted: 3)
    #expect(pull.ask(held: none, now: 0)?.count == 3)
    for _ in 0..<3 { pull.came(now: 0) }
    #expect(pull.hasAll && pull.ask(held: none, now: 0)?.count == nil)
    pull.wantsOneMore()
    #expect(pull.ask(held: none, now: 0)?.count == 1)
  }

  @Test func aRequestThatIsOverIsForgotten() {
    var pull = BusPull(batch: 10)
    let first = pull.ask(held: none, now: 0)!.token
    for _ in 0..<7 { pull.came(now: 1) }
    #expect(pull.ask(held: none, now: 1)?.count == 7)
    pull.end(first, now: 2)
    #expect(pull.outstanding == 7)
    pull.forget()
    #expect(pull.outstanding == 0 && pull.owed == nil)
  }

  @Test func silenceIsNoticed() {
    var pull = BusPull()
    #expect(!pull.isSilent(now: 1e9))
    _ = pull.ask(held: none, now: 10)
    #expect(!pull.isSilent(now: 17.9) && pull.isSilent(now: 18))
    pull.heard(now: 17)
    #expect(!pull.isSilent(now: 18) && pull.due == 25 && pull.owed == 17)
  }

  @Test func aLargeRecordIsAskedForAlone() {
    var pull = BusPull()
    let usual = BusPull.usualBytes
    let first = pull.ask(held: none, now: 0)!
    #expect(first.count == 128 && pull.bytes(maxPayload: 64 << 20) == usual)
    pull.end(first.token, now: 0, isCut: true)
    #expect(pull.ask(held: none, now: 0)?.count == 1)
    #expect(pull.bytes(maxPayload: 64 << 20) > 64 << 20)
    // One such is under way, and that is enough.
    #expect(pull.ask(held: none, now: 0)?.count == nil)
    pull.came(now: 0, bytes: usual * 2)
    #expect(pull.ask(held: none, now: 0)?.count == 1)
    pull.came(now: 0, bytes: 10)
    #expect(pull.ask(held: none, now: 0)?.count == 128)
    #expect(pull.bytes(maxPayload: 1 << 20) == usual)
  }

  @Test func aRequestThatBroughtSomethingWasLargeEnough() {
    var pull = BusPull()
    let first = pull.ask(held: none, now: 0)!
    pull.came(now: 0, bytes: 10)
    pull.end(first.token, now: 0, isCut: true)
    #expect(pull.ask(held: none, now: 0)?.count == 128)
  }
}
