import Core
import Testing

@testable import Agent
@testable import Web

/// Paging against a backend that knows no cursor: newest first, so many at most.
@Suite struct ActionPagesTests {
  /// A stored action.
  private struct Stored {
    var id: Int
    /// Milliseconds.
    var time: Int
    var kind: String
    var guild: String?

    var bytes: [UInt8] {
      let guild = guild.map { "\"\($0)\"" } ?? "null"
      let time = Timestamp(
        seconds: 1_000_000 + Int64(time / 1000), nanoseconds: Int32(time % 1000) * 1_000_000)
      return Array(
        "{\"id\":\(id),\"created_at\":\"\(time.rfc3339)\",\"kind\":\"\(kind)\",\"guild_id\":\(guild)}"
          .utf8)
    }
  }

  private struct Outcome {
    var rows: [[UInt8]] = []
    var requests = 0
    var pages: ActionPages
  }

  /// Asks as the command does, with answers of `limit` rows at most.
  private func read(
    _ stored: [Stored], limit: Int, kinds: [String]? = nil, guild: String? = nil,
    guilds: [String] = ["1", "2"], names: ActionNames = ActionNames()
  ) -> Outcome {
    var outcome = Outcome(pages: ActionPages(kinds: kinds, guild: guild, names: names))
    let newestFirst = stored.sorted { $0.time != $1.time ? $0.time > $1.time : $0.id < $1.id }
    while outcome.requests < 10_000 {
      switch outcome.pages.next() {
      case .done:
        outcome.rows += outcome.pages.certain()
        return outcome
      case .askGuilds: outcome.pages.receive(guilds: guilds)
      case .ask(let query):
        outcome.requests += 1
        let rows = newestFirst.filter { row in
          query.kinds.map { $0.contains(row.kind) } ?? true
            && (query.guild == nil || query.guild == row.guild)
        }
        outcome.pages.receive(
          rows.prefix(limit).map { ActionPages.Row($0.bytes) }, for: query,
          isFull: rows.count >= limit)
        outcome.rows += outcome.pages.certain()
      }
    }
    Issue.record("it does not end")
    return outcome
  }

  private static let kinds = ["llm_call", "sent_reply", "voice_runtime", "dashboard", "asr_call"]

  /// Actions of the known kinds, several in most milliseconds.
  private func stored(_ count: Int, seed: UInt64, span: Int) -> [Stored] {
    var random = Numbers(state: seed)
    return (1...count).map { id in
      Stored(
        id: id, time: Int(random.next() % UInt64(span)),
        kind: Self.kinds[Int(random.next() % 5)],
        guild: ["1", "2", nil][Int(random.next() % 2)])
    }
  }

  @Test(arguments: 1...20)
  func everyRowOnceNewestFirst(seed: UInt64) {
    let stored = stored(400, seed: seed, span: 150)
    let outcome = read(stored, limit: 120)
    #expect(Set(outcome.rows).count == stored.count)
    #expect(outcome.rows.count == stored.count)
    #expect(outcome.pages.unreached.isEmpty)
    #expect(outcome.pages.missingIDs == 0)
    let times = outcome.rows.compactMap { ActionPages.Row($0).time }
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 >= $1 })
    #expect(outcome.requests < 40)
  }

  @Test func oneAnswerThatIsNotFullIsAll() {
    let outcome = read(stored(99, seed: 1, span: 1000), limit: 100)
    #expect(outcome.requests == 1)
    #expect(outcome.rows.count == 99)
    #expect(outcome.pages.blindBefore == nil)
  }

  @Test func aSingleMillisecondIsSplitByKindAndGuild() {
    let stored = (1...300).map {
      Stored(id: $0, time: 5, kind: Self.kinds[$0 % 5], guild: ["1", "2"][$0 % 2])
    }
    let outcome = read(stored, limit: 50)
    #expect(outcome.rows.count == 300)
    #expect(Set(outcome.rows).count == 300)
    #expect(outcome.pages.unreached.isEmpty)
  }

  @Test func whatCannotBeReachedIsSaid() throws {
    let stored = (1...300).map { Stored(id: $0, time: $0, kind: "llm_call", guild: "1") }
    let outcome = read(stored, limit: 100)
    #expect(outcome.rows.count == 100)
    let gap = try #require(outcome.pages.unreached.first)
    #expect(outcome.pages.unreached.count == 1)
    #expect(gap.kind == "llm_call")
    #expect(gap.guild == "1")
    #expect(gap.before == Timestamp(seconds: 1_000_000, nanoseconds: 201_000_000))
    let one = read(stored, limit: 100, kinds: ["llm_call"], guild: "1")
    #expect(one.requests == 1)
    #expect(one.pages.unreached.count == 1)
  }

  @Test func unknownKindsAreMissedAndNoticed() {
    var stored = (1...200).map {
      Stored(id: $0, time: $0, kind: ["llm_call", "asr_call"][$0 % 2], guild: "1")
    }
    for id in [3, 5] { stored[id].kind = "invented_yesterday" }
    let outcome = read(stored, limit: 150)
    #expect(outcome.rows.count == 198)
    #expect(outcome.pages.missingIDs == 2)
    #expect(outcome.pages.blindBefore != nil)
    // One that was seen is known.
    stored[195].kind = "invented_yesterday"
    #expect(read(stored, limit: 150).rows.count == 200)
  }

  @Test func guildsThatWereSeenAreAskedFor() {
    let stored = (1...300).map {
      Stored(id: $0, time: $0, kind: "llm_call", guild: ["1", "2", "3", "4"][$0 % 4])
    }
    let outcome = read(stored, limit: 100, guilds: ["1"])
    #expect(outcome.rows.count == 300)
    #expect(outcome.pages.unreached.isEmpty)
  }

  /// Guild 9 stands only in rows that come when the others were asked for.
  @Test func aGuildThatIsSeenLateIsAskedForWhatTheOthersWere() {
    var stored = (1...400).map {
      Stored(id: $0, time: $0, kind: "llm_call", guild: ["1", "2", "2", "2"][$0 % 4])
    }
    for index in 0..<30 { stored[index].guild = "9" }
    for index in 100..<200 { stored[index].kind = "asr_call" }
    for index in 150..<160 { stored[index].guild = "9" }
    let outcome = read(stored, limit: 101, guilds: ["1", "2"])
    #expect(outcome.rows.count < 400)
    #expect(Set(outcome.rows).isSuperset(of: stored[0..<30].map(\.bytes)))
  }

  @Test func actionsOfNoGuildCannotBeAskedFor() throws {
    let stored = (1...300).map {
      Stored(id: $0, time: $0, kind: "llm_call", guild: $0 % 3 == 0 ? "1" : nil)
    }
    let outcome = read(stored, limit: 150, guilds: ["1"])
    #expect(outcome.rows.count == 200)
    #expect(outcome.pages.unreached.map(\.guild) == [""])
    #expect(outcome.pages.missingIDs == 0)
  }

  @Test func whatIsThereBackToTheFirstIsNotOutOfReach() {
    // Full answers, but nothing behind them.
    let stored = (1...200).map { Stored(id: $0, time: $0, kind: Self.kinds[$0 % 2], guild: nil) }
    let outcome = read(stored, limit: 100)
    #expect(outcome.rows.count == 200)
    #expect(outcome.pages.unreached.isEmpty)
  }

  @Test func idsOfOtherKindsAreNoHoles() {
    let stored = (1...300).map {
      Stored(id: $0, time: $0, kind: Self.kinds[$0 % 2], guild: ["1", "2"][$0 / 2 % 2])
    }
    let outcome = read(stored, limit: 100, kinds: [Self.kinds[0]])
    #expect(outcome.rows.count == 150)
    #expect(outcome.pages.missingIDs == nil)
    #expect(outcome.pages.blindBefore == nil)
  }

  @Test func namesThatCannotBeAskedForAreTold() {
    let stored = (1...300).map {
      Stored(id: $0, time: $0, kind: $0 % 3 == 0 ? "one,other" : "llm_call", guild: "1")
    }
    let outcome = read(stored, limit: 250)
    #expect(outcome.pages.unreached.map(\.kind) == ["one,other"])
  }

  @Test func kindsSeenElsewhereAreAskedFor() {
    var stored = (1...200).map { Stored(id: $0, time: $0, kind: "llm_call", guild: "1") }
    stored[3].kind = "invented_yesterday"
    for id in 50..<150 { stored[id].kind = "asr_call" }
    var names = ActionNames()
    names.note(kind: "invented_yesterday", guild: "")
    let outcome = read(stored, limit: 120, names: names)
    #expect(outcome.rows.count == 200)
    #expect(outcome.pages.missingIDs == 0)
  }

  @Test func stoppingTellsWhatIsNotInHand() throws {
    let stored = stored(400, seed: 5, span: 10_000).sorted { $0.time > $1.time }
    var pages = ActionPages(kinds: nil, guild: nil)
    guard case .ask(let query) = pages.next() else { return }
    let rows = stored.prefix(100).map { ActionPages.Row($0.bytes) }
    pages.receive(rows, for: query, isFull: true)
    // The answer to this one never comes.
    guard case .ask = pages.next() else { return }
    pages.stop()
    #expect(pages.next() == .done)
    #expect(pages.unreached == [ActionPages.Unreached(before: try #require(rows.last?.time))])
    #expect(pages.certain().count == 100)
  }

  @Test func aLongListOfKindsIsCut() {
    var names = ActionNames()
    for n in 0..<500 { names.note(kind: String(repeating: "k", count: 150) + "\(n)", guild: "") }
    let stored = (1...200).map { Stored(id: $0, time: $0, kind: "llm_call", guild: "1") }
    var pages = ActionPages(kinds: nil, guild: nil, names: names)
    var longest = 0
    while case .ask(let query) = pages.next() {
      longest = max(longest, query.path(limit: 1000).utf8.count)
      let isFirst = query.kinds == nil
      pages.receive(
        isFirst ? stored.map { ActionPages.Row($0.bytes) } : [], for: query, isFull: isFirst)
    }
    #expect((500...5000).contains(longest))
  }

  @Test func rowsWithoutIdsAreKeptApart() {
    let row = Array("{\"kind\":\"a\",\"created_at\":\"2026-01-01T00:00:00.000Z\"}".utf8)
    var pages = ActionPages(kinds: nil, guild: nil)
    guard case .ask(let query) = pages.next() else { return }
    let odd = [row, row, Array("7".utf8), Array("null".utf8)]
    pages.receive(odd.map { ActionPages.Row($0) }, for: query, isFull: false)
    #expect(pages.certain() == odd)
    pages.receive([row, row, row].map { ActionPages.Row($0) }, for: query, isFull: false)
    #expect(pages.certain() == [row])
    #expect(pages.next() == .done)
    #expect(pages.missingIDs == nil)
  }

  @Test func aBackendThatKnowsNoKindsIsGivenUp() {
    var pages = ActionPages(kinds: nil, guild: nil)
    // Without the first: else nothing could be behind them.
    let rows = stored(31, seed: 3, span: 9).dropFirst().map { ActionPages.Row($0.bytes) }
    var asked = 0
    while case .ask(let query) = pages.next(), asked < 100 {
      pages.receive(rows, for: query, isFull: true)
      asked += 1
    }
    #expect(asked <= 4)
    #expect(pages.certain().count == 30)
    #expect(pages.unreached.count == 1)
    #expect(pages.unreached.first?.kind == nil)
  }

  @Test func whatCameSinceIsLeftOut() throws {
    var pages = ActionPages(kinds: nil, guild: nil)
    guard case .ask(let query) = pages.next() else { return }
    let old = Stored(id: 1, time: 5, kind: "llm_call", guild: nil)
    let new = Stored(id: 2, time: 9, kind: "llm_call", guild: nil)
    let before = Stored(id: 0, time: 4, kind: "llm_call", guild: nil)
    pages.receive([ActionPages.Row(old.bytes)], for: query, isFull: true)
    #expect(pages.certain().isEmpty)
    guard case .ask(let next) = pages.next() else { return }
    pages.receive([new, old, before].map { ActionPages.Row($0.bytes) }, for: next, isFull: false)
    while case .ask(let next) = pages.next() { pages.receive([], for: next, isFull: false) }
    #expect(pages.certain() == [old.bytes, before.bytes])
  }
}

/// SplitMix64: the same numbers in every run.
private struct Numbers {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
