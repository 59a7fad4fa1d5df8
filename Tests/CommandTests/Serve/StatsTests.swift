import Core
import Foundation
import Testing

@testable import agent_serve

@Suite("Stats")
struct StatsTests {
  private let now = Timestamp(rfc3339: "2026-03-10T12:00:00.000Z") ?? .now()
  private let actions = [
    Fixture.action("llm_call", at: "2026-03-10T11:00:00.000Z", guild: "1", cost: "0.0752"),
    Fixture.action("llm_call", at: "2026-03-09T11:59:59.999Z", guild: "2", cost: "0.0021"),
    Fixture.action("llm_call", at: "2026-03-09T12:00:00.000Z", guild: "1"),
    Fixture.action("voice_error", at: "2026-03-10T13:00:00.000Z", cost: "4e-7"),
    Fixture.action("unknown_kind", at: "2026-03-10T11:00:00.000Z"),
    Fixture.action(
      "sent_reply", at: "2026-03-10T10:00:00.000Z", guild: "1",
      metadata: #"{"performance":{"totalMs":4120,"queueMs":120,"llm1Ms":null}}"#),
    Fixture.action(
      "reply_skipped", at: "2026-03-10T10:00:01.000Z", guild: "1",
      metadata: #"{"performance":{"totalMs":310,"sendMs":-1}}"#),
    Fixture.action("sent_message", at: "2026-03-10T10:00:02.000Z", metadata: #"{"x":1}"#),
  ]

  private func json(_ book: StatsBook) async throws -> [String: Any] {
    let documents = try await Documents(ActionStore(path: ":memory:"))
    let text = book.json(runtime: book.runtime(documents), now: now)
    return try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  private func check(_ book: StatsBook) async throws {
    let payload = try await json(book)
    let stats = try #require(payload["stats"] as? [String: Any])
    let counts = try #require(stats["last24h"] as? [String: Int])
    #expect(counts.count == 17)
    #expect(counts["llm_call"] == 2)
    #expect(counts["voice_error"] == 1)
    #expect(counts["voice_intent_detected"] == 0)
    #expect(stats["totalCostUsd"] as? Double == 0.0773004)
    let days = try #require(stats["dailyCost"] as? [[String: Any]])
    #expect(days.map { $0["day"] as? String } == ["2026-03-10", "2026-03-09"])
    #expect(days.map { $0["usd"] as? Double } == [0.0752004, 0.0021])
    let performance = try #require(stats["performance"] as? [String: Any])
    #expect(performance["sampleCount"] as? Int == 2)
    #expect(
      performance["byKind"] as? [String: Int]
        == ["sent_reply": 1, "sent_message": 0, "reply_skipped": 1])
    let total = try #require(performance["totalMs"] as? [String: Double])
    #expect(
      total == [
        "count": 2, "minMs": 310, "p50Ms": 310, "p95Ms": 4120, "avgMs": 2215, "maxMs": 4120,
      ]
    )
    let phases = try #require(performance["phases"] as? [String: [String: Any]])
    #expect(phases["queueMs"]?["count"] as? Int == 1)
    #expect(phases["llm1Ms"]?["maxMs"] as? Int == 0)
    #expect(phases["followupMs"]?["count"] as? Int == 0)
    #expect(phases["sendMs"]?["maxMs"] is NSNull)
    let runtime = try #require(payload["runtime"] as? [String: Any])
    #expect(runtime["guildCount"] as? Int == 2)
    #expect(runtime["lastBotMessageAt"] as? String == "2026-03-10T10:00:02.000Z")
    #expect((runtime["voice"] as? [String: Any])?["activeCount"] as? Int == 0)
  }

  @Test("Counts, costs, days and durations, added one by one")
  func incremental() async throws {
    var book = StatsBook()
    for action in actions { book.add(action) }
    try await check(book)
    book.prune(since: now.before(hours: 24).rfc3339)
    try await check(book)
  }

  @Test("The same, read from the store")
  func loaded() async throws {
    let store = try ActionStore(path: ":memory:")
    _ = try await store.insert(actions)
    let now = now
    let all = try await store.read { try StatsBook.load($0, guild: nil, now: now) }
    try await check(all)
    let costs = try #require(all.guilds["2"])
    let one = try await store.read { try StatsBook.load($0, guild: ("2", costs), now: now) }
    #expect(one.totalCost == 0.0021)
    #expect(one.counts(since: now.before(hours: 24).rfc3339).reduce(0, +) == 0)
  }

  @Test("Without deleted actions it is the book of what is left")
  func deleted() async throws {
    let store = try ActionStore(path: ":memory:")
    let runs = [
      Fixture.action("memory_reflection_start", at: "2026-03-10T11:30:00.000Z", guild: "1"),
      Fixture.action(
        "memory_reflection_complete", at: "2026-03-11T01:00:00.000Z", guild: "3", cost: "0.3"),
      Fixture.action(
        "memory_reflection_start", at: "2026-03-01T01:00:00.000Z", guild: "3", cost: "1e-9"),
    ]
    let ids = try await store.insert(actions + runs).suffix(runs.count)
    var book = StatsBook()
    for action in actions + runs { book.add(action) }
    #expect(book.guilds.count == 3 && book.lastActionAt == "2026-03-11T01:00:00.000Z")
    // One that is not there is none.
    book.subtract(try await store.write { try StatsBook.delete(ids + [99], $0) })
    try await check(book)
    #expect(book.dailyCost(since: "2026-01-01").count == 2)
    let now = now
    let left = try await store.read { try StatsBook.load($0, guild: nil, now: now) }
    #expect(book.totalCost == left.totalCost && book.guilds.keys == left.guilds.keys)
    #expect(book.lastActionAt == left.lastActionAt)
    book.subtract(try await store.write { try StatsBook.delete(Array(1...8), $0) })
    #expect(book.lastActionAt == nil && book.guilds.isEmpty && abs(book.totalCost) < 1e-15)
  }

  @Test("Fourteen days at most, newest first")
  func days() {
    var book = StatsBook()
    for day in 1...20 {
      let day = (day < 10 ? "0" : "") + String(day)
      book.addCost(createdAt: "2026-03-\(day)T00:00:00.000Z", usd: 1, guild: nil)
    }
    let daily = book.dailyCost(since: "2026-03-01")
    #expect(daily.count == 14)
    #expect(daily.first?.day == "2026-03-20")
    #expect(book.dailyCost(since: "2026-03-15").count == 6)
  }

  @Test("A sum does not drift")
  func sum() {
    var sum = PreciseSum()
    for _ in 0..<1_000_000 { sum.add(0.1) }
    #expect(sum.value == 100_000)
  }

  @Test("Summaries use the nearest rank")
  func summary() {
    let summary = MetricSummary([3900, 310, 4120])
    #expect(
      summary.json
        == #"{"count":3,"minMs":310,"p50Ms":3900,"p95Ms":4120,"avgMs":2776.7,"maxMs":4120}"#)
    #expect(MetricSummary([]).json.contains(#""p95Ms":null"#))
    #expect(MetricSummary((1...100).map(Double.init)).figures?.p95 == 95)
    // As toFixed(1) rounds each of them.
    let tenths = [
      (2.25, 2.3), (2.35, 2.4), (0.05, 0.1), (0.15, 0.1), (0.25, 0.3), (1.45, 1.4), (8.345, 8.3),
      (1000.05, 1000), (12.449999, 12.4), (0, 0), (7, 7),
    ]
    for (value, rounded) in tenths { #expect(MetricSummary.tenths(value) == rounded) }
  }
}
