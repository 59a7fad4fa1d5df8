import TestSupport
import Testing

@testable import Core
@testable import Records

@Suite struct ActionTests {
  private func action(_ text: String) throws -> Action { Action(try JSONValue.parse(text: text)) }

  private let row = """
    {"id":7,"created_at":"2026-01-02T03:04:05.006Z","guild_id":"1","channel_id":"2",
    "message_id":"3","user_id":"4","kind":"llm_call","content":"p:m","metadata":{"model":"m"},
    "usd_cost":0.25}
    """
  private let live = """
    {"kind":"llm_call","content":"p:m","createdAt":"2026-01-02T03:04:05.006Z","guildId":"1",
    "channelId":"2","messageId":"3","userId":"4","metadata":{"model":"m"},"usdCost":0.25,
    "level":"warn"}
    """

  @Test func bothSpellingsSayTheSame() throws {
    for text in [row, live] {
      let action = try action(text)
      #expect(action.kind == "llm_call")
      #expect(action.createdAt == "2026-01-02T03:04:05.006Z")
      #expect(action.guild == "1" && action.channel == "2")
      #expect(action.message == "3" && action.user == "4")
      #expect(action.content == "p:m")
      #expect(action.cost == 0.25)
      #expect(action.metadata?["model"]?.string == "m")
      #expect(action.domain == .llm)
    }
    #expect(try action(row).id == "7")
    #expect(try action(live).id == nil)
    #expect(try action(live).level == "warn" && action(live).isWarning)
  }

  @Test func nullGivesWayToTheOtherSpelling() throws {
    let action = try action(#"{"kind":"x","created_at":null,"createdAt":"t","usdCost":1}"#)
    #expect(action.createdAt == "t")
    #expect(action.cost == 1)
  }

  @Test func wrongTypesAreNoFault() throws {
    let action = try action(
      #"{"kind":5,"id":"a9","guildId":771204458812997633,"content":{"a":[1]},"metadata":null,"usd_cost":"0.5","level":3,"userId":{}}"#
    )
    #expect(action.kind == "5")
    #expect(action.id == "a9")
    #expect(action.guild == "771204458812997633")
    #expect(action.content == #"{"a":[1]}"#)
    #expect(action.metadata == nil)
    #expect(action.cost == 0.5)
    #expect(action.level == nil)
    #expect(action.user == nil)
    #expect(try self.action("{}").kind == "")
  }

  @Test func errorsAndWarnings() throws {
    #expect(try action(#"{"kind":"dashboard","level":"error"}"#).isError)
    #expect(try action(#"{"kind":"browser_browse_failed"}"#).isError)
    #expect(try action(#"{"kind":"voice_warn"}"#).isWarning)
    #expect(try action(#"{"kind":"bot_warning"}"#).isWarning)
    #expect(try !action(#"{"kind":"llm_call"}"#).isError)
  }
}

@Suite struct FeedRecordTests {
  private func record(_ text: String) throws -> FeedRecord {
    var scan = RecordScan()
    return try withBytes(text) { FeedRecord(try JSONValue.parse($0), line: $0, &scan) }
  }

  private func contents(_ text: String) throws -> [String?] {
    guard case .actions(let actions, _, _) = try record(text) else { return ["no actions"] }
    return actions.map(\.content)
  }

  @Test(arguments: [
    #"{"kind":"x","content":"a"}"#,
    #"{"event":"action_event","id":"","data":{"kind":"x","content":"a"}}"#,
    #"{"event":"voice_event","id":"3","data":{"kind":"voice_info","content":"a"}}"#,
    #"{"event":"anything","data":{"kind":"x","content":"a"},"received_at":"t"}"#,
    #"{"content":"a"}"#, #"{"actions":[{"kind":"x","content":"a"}]}"#,
    #"{"event":"actions_backfill","id":"","data":{"actions":[{"kind":"x","content":"a"}]}}"#,
    #"[{"kind":"x","content":"a"}]"#, #"{"kind":"x","type":"odd","content":"a"}"#,
    #"{"type":"odd","createdAt":"t","kind":"x","content":"a"}"#,
    #"{"event":"e","data":{"type":"odd","kind":"x","content":"a"}}"#,
  ])
  func everyFormOfAnAction(_ text: String) throws {
    #expect(try contents(text) == ["a"])
  }

  /// What one command takes for an action the others do, too.
  @Test(arguments: [
    (#"{"type":"t","kind":"k"}"#, false), (#"{"kind":"k","type":"t"}"#, true),
    (#"{"type":5,"kind":"k"}"#, true), (#"{"type":"t","kind":"k","createdAt":"x"}"#, true),
    (#"{"type":"t","kind":"k","created_at":null}"#, false),
    (#"{"type":"t","event":"e","data":{"kind":"k"}}"#, false),
    (#"{"type":"t","created_at":"x","event":"e","data":{"kind":"k"}}"#, true),
    (#"{"event":"e","data":{"kind":"k"},"type":"t"}"#, true),
    (#"{"type":"t","actions":[{}]}"#, false), (#"{"actions":[{}],"type":"t"}"#, true),
    (#"{"data":{"kind":"k"}}"#, true), (#"{"event":5,"data":{"kind":"k"}}"#, true),
    (#"{"event":5,"data":{"a":1}}"#, false), (#"{"data":{"actions":[{}]}}"#, true),
    (#"{"data":{"a":1}}"#, true), (#"{"time":"x","type":"lost"}"#, false), ("{}", true),
  ])
  func actionsAreToldByOneRule(line: String, isAction: Bool) throws {
    var record = RecordScan()
    let shape = try withBytes(line) { try record.read($0) }
    #expect([.action, .unmarked, .list].contains(shape) == isAction)
    let found = if case .actions = try self.record(line) { true } else { false }
    #expect(found == isAction)
  }

  @Test func listsAreTurnedOldestFirst() throws {
    func row(_ id: Int, _ time: String) -> String {
      #"{"id":\#(id),"created_at":"\#(time)","kind":"x","content":"\#(id)"}"#
    }
    let late = "2026-01-01T00:00:02.000Z"
    let early = "2026-01-01T00:00:01.000Z"
    // Newest first; rows of one millisecond in any order of their ids.
    #expect(
      try contents("[\(row(8, late)),\(row(9, late)),\(row(5, early))]") == ["5", "8", "9"])
    #expect(try contents("[\(row(5, early)),\(row(9, late))]") == ["5", "9"])
    #expect(
      try contents(#"[{"content":"b","createdAt":"?"},{"content":"a"}]"#) == ["a", "b"])
  }

  @Test func stats() throws {
    let payload = #"{"stats":{"last24h":{"llm_call":3},"totalCostUsd":1.5},"runtime":{}}"#
    for text in [payload, #"{"event":"stats_update","id":"","data":\#(payload)}"#] {
      guard case .stats(let stats) = try record(text) else {
        Issue.record("not stats: \(text)")
        continue
      }
      #expect(stats.count(of: "llm_call") == 3)
    }
    let snapshot = #"{"event":"activity_snapshot","data":{"actions":[],"stats":\#(payload)}}"#
    guard case .actions(let actions, let stats, _) = try record(snapshot) else {
      Issue.record("not actions")
      return
    }
    #expect(actions.isEmpty && stats?.totalCost == 1.5)
  }

  @Test func theRest() throws {
    for text in [
      #"{"event":"voice_state","id":"","data":{"activeCount":0,"sessions":[]}}"#,
      #"{"activeCount":0,"sessions":[]}"#, #"{"event":"message","data":"words"}"#,
      #"{"event":"message","data":{"a":1}}"#, #"{"event":"x","data":null}"#,
    ] {
      guard case .other = try record(text) else {
        Issue.record("\(text)")
        continue
      }
    }
    // What a command of the suite made is no action, though it names a kind.
    guard case .lifecycle("count", _) = try record(#"{"type":"count","kind":"x","count":2}"#) else {
      Issue.record("a count taken for an action")
      return
    }
    guard case .lifecycle("gap", _) = try record(#"{"type":"gap","after":"a"}"#) else {
      Issue.record("no lifecycle")
      return
    }
    for text in ["1", "\"x\"", "null", "true"] {
      guard case .unreadable = try record(text) else {
        Issue.record("\(text)")
        continue
      }
    }
    guard case .actions(let actions, _, 2) = try record(#"{"actions":[1,{"kind":"x"},null]}"#)
    else {
      Issue.record("faulty rows not counted")
      return
    }
    #expect(actions.count == 1)
  }
}

@Suite struct ActionStatsTests {
  @Test func costOfADay() throws {
    let stats = try #require(
      ActionStats(
        JSONValue.parse(
          text: """
            {"stats":{"last24h":{"llm_call":128,"odd":"x"},"totalCostUsd":18.2,
            "dailyCost":[{"day":"2026-05-09","usd":2.47},{"day":1},{"day":"2026-05-08","usd":3}],
            "performance":{"totalMs":{"p50Ms":2290}}},
            "runtime":{"isReady":false,"voice":{"activeCount":1},"replyQueue":{"pending":2}}}
            """)))
    #expect(stats.counts.map(\.kind) == ["llm_call"])
    #expect(stats.cost(of: "2026-05-09") == 2.47)
    #expect(stats.cost(of: "2026-05-10") == 0)
    #expect(stats.dailyCosts.count == 2)
    #expect(stats.isReady == false)
    #expect(stats.voiceSessions == 1 && stats.pendingReplies == 2)
    #expect(stats.medianReply == 2290)
  }

  @Test(arguments: [#"{}"#, #"{"stats":1}"#, #"{"stats":{}}"#, #"[]"#, #"{"stats":{"a":1}}"#])
  func anythingElseIsNone(_ text: String) throws {
    #expect(try ActionStats(JSONValue.parse(text: text)) == nil)
  }
}
