import Testing

@testable import reply_narrate

@Suite struct SpeechQueueTests {
  /// What is skipped of three, and what is spoken then.
  private func run(newestWins: Bool) -> (skipped: [Int?], spoken: [Int?]) {
    var queue = SpeechQueue<Int>(newestWins: newestWins)
    let skipped = (1...3).map { queue.add($0) }
    return (skipped, (1...4).map { _ in queue.next() })
  }

  @Test func whatIsNewestTakesThePlaceOfWhatWaits() {
    let (skipped, spoken) = run(newestWins: true)
    #expect(skipped == [nil, 1, 2])
    #expect(spoken == [3, nil, nil, nil])
  }

  @Test func orAllAreKeptInTheirOrder() {
    let (skipped, spoken) = run(newestWins: false)
    #expect(skipped == [nil, nil, nil])
    #expect(spoken == [1, 2, 3, nil])
  }
}

@Suite struct RecentIDsTests {
  @Test func anIDIsNewOnceAmongTheLast() {
    var ids = RecentIDs(most: 3)
    let isNew = [1, 2, 3, 4, 5, 6, 4, 5, 6, 1].map { ids.insert("\($0)") }
    #expect(isNew == [true, true, true, true, true, true, false, false, false, true])
  }
}
