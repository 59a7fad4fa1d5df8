import Testing

@testable import Bus

@Suite struct BusWindowTests {
  private static func item(_ line: Int) -> BusWindow.Item {
    let label = BusLabel(subject: "s", id: "\(line)", event: "\(line)", created: nil)
    return BusWindow.Item(label, bytes: [1, 2, 3], line: line)
  }

  @Test func roomIsBoundedByCountAndBytes() {
    var window = BusWindow(records: 2, bytes: 100)
    window.add(Self.item(1))
    #expect(window.hasRoom)
    window.add(Self.item(2))
    #expect(!window.hasRoom)
    var small = BusWindow(records: 9, bytes: 3)
    small.add(Self.item(1))
    #expect(!small.hasRoom)
    small.store(small.next(now: 0)!.token)
    #expect(small.hasRoom && small.isEmpty)
  }

  @Test func allGoesAgainInOrderAfterALoss() {
    var window = BusWindow()
    for line in 1...4 { window.add(Self.item(line)) }
    var tokens: [Int] = []
    while let (token, _) = window.next(now: 0) { tokens.append(token) }
    window.store(tokens[1])
    window.lose()
    window.add(Self.item(5))
    var lines: [Int] = []
    while let (_, item) = window.next(now: 1) { lines.append(item.line) }
    #expect(lines == [1, 3, 4, 5])
  }

  @Test func theOldestAloneIsTriedWhileNothingIsTaken() {
    var window = BusWindow()
    for line in 1...3 { window.add(Self.item(line)) }
    var tokens: [Int] = []
    while let (token, _) = window.next(now: 0) { tokens.append(token) }
    window.fail(tokens[1], now: 0)
    #expect(window.next(now: 0.05) == nil)
    #expect(window.due == 0.1)
    // The others of the same burst do not put it off.
    window.fail(nil, now: 0.09)
    #expect(window.next(now: 0.1)?.item.line == 1)
    #expect(window.next(now: 0.1) == nil)
    var (wait, now) = (0.0, 0.1)
    for _ in 0..<9 {
      window.fail(tokens[0], now: now)
      wait = window.due - now
      now = window.due
      #expect(window.next(now: now)?.item.line == 1)
    }
    #expect(wait == 0.5)
    window.store(tokens[0])
    // What was refused in one burst goes one at a time: a stream may have room in between.
    for line in 4...5 { window.add(Self.item(line)) }
    #expect(window.next(now: now)?.item.line == 2)
    #expect(window.next(now: now) == nil)
    window.store(tokens[1])
    #expect(window.next(now: now)?.item.line == 3)
    #expect(window.next(now: now) == nil)
    window.store(tokens[2])
    #expect(window.next(now: now)?.item.line == 4)
    #expect(window.next(now: now)?.item.line == 5)
    #expect(window.next(now: now) == nil)
  }

  @Test func whatIsNotAnsweredGoesAgainBeforeAnythingNew() {
    var window = BusWindow()
    window.add(Self.item(1))
    _ = window.next(now: 0)
    window.add(Self.item(2))
    #expect(window.next(now: 0.4)?.item.line == 2)
    window.add(Self.item(3))
    #expect(window.next(now: 3) == nil)
    #expect(window.next(now: 4.9) == nil)
    #expect(window.due == 5)
    #expect(window.next(now: 5)?.item.line == 1)
    #expect(window.next(now: 5) == nil)
    #expect(window.due == 5.4)
    #expect(window.next(now: 5.4)?.item.line == 2)
    #expect(window.next(now: 5.4)?.item.line == 3)
  }

  @Test func whatIsAnsweredLateLetsTheNextOneGo() {
    var window = BusWindow()
    for line in 1...2 { window.add(Self.item(line)) }
    let first = window.next(now: 0)!.token
    #expect(window.next(now: 1) == nil)
    window.store(first)
    #expect(window.next(now: 1)?.item.line == 2)
  }

  @Test func whatNobodyDeniedIsInDoubt() {
    var window = BusWindow()
    for line in 1...2 { window.add(Self.item(line)) }
    let first = window.next(now: 0)!.token
    let second = window.next(now: 0.4)!.token
    window.lose()
    _ = window.next(now: 7)
    #expect(window.doubtedSince(first) == 0)
    #expect(window.doubtedSince(second) == 0.4)
    // A refusal says that it is not there; nobody knows what a lost answer said.
    window.fail(first, now: 8)
    window.fail(nil, now: 8)
    #expect(window.doubtedSince(first) == nil)
    #expect(window.doubtedSince(second) == 0.4)
    #expect(window.next(now: 9)?.token == first && window.doubtedSince(first) == 9)
    #expect(window.store(first) == 1 && window.store(first) == nil)
  }

  @Test func whatIsRefusedIsGone() {
    var window = BusWindow()
    for line in 1...2 { window.add(Self.item(line)) }
    let first = window.next(now: 0)!.token
    let second = window.next(now: 0)!.token
    #expect(window.refuse(second)?.line == 2)
    #expect(window.refuse(second)?.line == nil)
    #expect(window.settled.event == nil)
    window.store(first)
    #expect(window.settled.event == "2" && window.isEmpty)
  }

  @Test func timesAreComparedAsInstants() {
    let later = BusWindow.Mark.later
    let noon = "2026-11-22T12:00:00Z"
    #expect(later(nil, noon) == noon && later(noon, nil) == noon && later(nil, "t") == nil)
    #expect(later("t", noon) == noon && later(noon, "zzz") == noon)
    #expect(later(noon, "2026-11-22T12:30:00+01:00") == noon)
    #expect(later("2026-11-22T13:00:00+02:00", noon) == noon)
  }

  /// A server that loses links, has no leader, and forgets to answer: all is stored in the end,
  /// in order but for what was never answered, and nothing that was settled is sent again.
  @Test(arguments: 0..<60) func nothingIsLost(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var window = BusWindow(records: Int.random(in: 1...20, using: &random))
    let forgets = seed % 3 == 0
    var (now, line) = (0.0, 0)
    var flight: [(token: Int, line: Int)] = []
    var stored: [Int] = []
    var open: Set<Int> = []
    var rounds = 0
    while line < 300 || !window.isEmpty {
      rounds += 1
      #expect(rounds < 100_000)
      if rounds >= 100_000 { return }
      while line < 300, window.hasRoom {
        line += 1
        window.add(Self.item(line))
        open.insert(line)
      }
      let isLeading = Int.random(in: 0..<10, using: &random) > 0
      while let (token, item) = window.next(now: now) {
        #expect(open.contains(item.line))
        #expect(item.bytes.count == 3)
        flight.append((token, item.line))
      }
      if Int.random(in: 0..<40, using: &random) == 0 {
        // Some of it arrived before.
        let count = flight.isEmpty ? 0 : Int.random(in: 0...flight.count, using: &random)
        for (_, line) in flight.prefix(count) where !stored.contains(line) { stored.append(line) }
        flight = []
        window.lose()
      }
      // In the order in which it was sent; a server without a leader takes nothing of it.
      for (token, line) in flight {
        if !isLeading {
          window.fail(Bool.random(using: &random) ? token : nil, now: now)
          continue
        }
        if !stored.contains(line) { stored.append(line) }
        if forgets, Int.random(in: 0..<20, using: &random) == 0 { continue }
        window.store(token)
        open.remove(line)
      }
      flight = []
      now += Double.random(in: 0..<0.3, using: &random)
    }
    #expect(stored == Array(1...300))
    #expect(window.settled.event == "300")
  }
}

/// xorshift64*: the same numbers for the same seed.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_f491_4f6c_dd1d
  }
}
