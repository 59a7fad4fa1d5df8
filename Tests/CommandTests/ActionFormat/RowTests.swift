import Core
import Records
import Screen
import Testing

@testable import action_format

@Suite struct RowTests {
  private let now = Timestamp(rfc3339: "2026-05-09T18:35:00.000Z") ?? Timestamp(seconds: 0)

  private func row(_ text: String, _ width: Int? = nil, depth: ColourDepth = .none) throws -> String
  {
    let layout = Layout(width: width, now: now)
    return layout.row(try formatAction(text)).render(width: width, depth: depth)
  }

  @Test func columnsStandBelowEachOther() throws {
    let rows = try [
      row(
        #"{"kind":"llm_call","createdAt":"2026-05-09T18:34:18Z","content":"p:m","usdCost":0.0094}"#),
      row(
        #"{"kind":"memory_reflection_complete","created_at":"2026-05-09T17:00:00Z","content":"m","usd_cost":12.5}"#
      ),
      row(#"{"kind":"bot_error","content":"m"}"#),
    ]
    #expect(rows[0] == "42s ago  ◆ llm_call                    $0.0094  m")
    #expect(rows[1] == " 1h ago  ■ memory_reflection_complete   $12.50  m")
    #expect(rows[2] == "      -  ✗ bot_error                            m")
  }

  @Test func narrowRowsAreCutAndHaveNarrowerColumns() throws {
    let text = #"{"kind":"sent_reply","createdAt":"x","content":"漢字漢字漢字"}"#
    #expect(try row(text, 40) == "  ?  » sent_reply      6 chars · 漢字漢…")
    #expect(try row(text, 10) == "  ?  » se…")
    let costly =
      #"{"kind":"llm_call","createdAt":"2026-05-09T17:00:00Z","content":"p:m","usd_cost":2}"#
    #expect(try row(costly, 89) == " 1h  ◆ llm_call        $2.00 · m")
    #expect(
      try row(#"{"kind":"llm_call","createdAt":"2026-05-09T18:40:00Z"}"#, 89) == "in 5m  ◆ llm_call"
    )
  }

  @Test func bothSpellingsGiveTheSameRow() throws {
    #expect(
      try row(
        #"{"kind":"llm_call","created_at":"2026-05-09T18:34:18Z","content":"p:m","usd_cost":0.1}"#)
        == row(
          #"{"kind":"llm_call","createdAt":"2026-05-09T18:34:18Z","content":"p:m","usdCost":0.1}"#))
  }

  @Test func blanksAtTheEndAreLeftOut() throws {
    #expect(try row(#"{"kind":"daily"}"#) == "      -  · daily")
    #expect(try row("{}") == "      -  ? (no kind)")
  }

  @Test func failuresAreInTheErrorColour() throws {
    let red = "\u{1b}[1;38;2;220;38;38m"
    let failed = try row(#"{"kind":"bot_error","content":"m"}"#, depth: .truecolor)
    #expect(failed.contains(red + "✗\u{1b}[0m") && failed.contains(red + "bot_error\u{1b}[0m"))
    #expect(failed.contains("\u{1b}[38;2;220;38;38mm\u{1b}[0m"))
    let level = try row(#"{"kind":"dashboard","level":"error"}"#, depth: .truecolor)
    #expect(level.contains(red))
    #expect(try !row(#"{"kind":"dashboard"}"#, depth: .truecolor).contains(red))
  }

  @Test func everyDomainHasAMarkOfOneCell() {
    for domain in ActionDomain.allCases {
      #expect(CellWidth.of(Palette.mark(of: domain)) == 1)
    }
    #expect(
      Set(ActionDomain.allCases.map { Palette.mark(of: $0) }).count == ActionDomain.allCases.count)
  }
}

@Suite struct ExpandedTests {
  private func lines(_ text: String, _ width: Int? = nil) throws -> [String] {
    Expanded.lines(try formatAction(text), Layout(width: width, zone: { _ in nil })).map(\.text)
  }

  @Test func everyMemberIsThere() throws {
    let text = try lines(
      #"{"id":9,"kind":"llm_call","content":"p:m","guild_id":"1","usd_cost":4e-7,"extra":[1],"metadata":{"provider":"p","model":"m","usage":{"inputTokens":5,"outputTokens":6,"cacheReadTokens":7,"cacheWriteTokens":8},"stopReason":"end_turn","toolNames":"a, b","durationMs":1500,"systemPrompt":"be kind\nbe brief","userPrompt":"","toolCalls":[{"name":"t","input":{"q":1,"z":null}}],"deep":{"er":{"est":true}},"gone":null,"list":[]}}"#
    ).joined(separator: "\n")
    for part in [
      "id             9", "tokens         5 in, 6 out, 7 cache read, 8 cache write",
      "cost           $0.0000004", "stop reason    end_turn", "tools          a, b",
      "duration       1.5s", "system prompt  16 chars", "│ be kind\n    │ be brief",
      "user prompt    0 chars", "tool call      t(1)", "deep           er: {est: true}",
      "null           gone", "list           []", "extra          [1]",
    ] {
      #expect(text.contains(part), "\(part)")
    }
    #expect(text.hasSuffix("\n"))
  }

  @Test func longTextIsWrappedToTheWidth() throws {
    let words = String(repeating: "tide ", count: 40)
    for line in try lines(
      #"{"kind":"x","content":"\#(words)","metadata":{"systemPrompt":"\#(words)"}}"#, 50)
    {
      #expect(CellWidth.of(line) <= 50)
    }
  }

  @Test func metadataThatIsNoObjectIsShown() throws {
    #expect(try lines(#"{"kind":"x","metadata":[1,"a"]}"#).contains("    metadata  [1,\"a\"]"))
  }
}

@Suite struct NoticeTests {
  private func notice(_ text: String) throws -> String? {
    let record = try JSONValue.parse(text: text)
    let now = Timestamp(rfc3339: "2026-05-09T18:35:00Z") ?? Timestamp(seconds: 0)
    return Layout(now: now, zone: { _ in nil }).notice(record["type"]?.string ?? "", record)?.text
  }

  @Test func whatAReaderShouldKnow() throws {
    #expect(
      try notice(
        #"{"type":"lost","reason":"reset\u001b","retry_in":3.25,"time":"2026-05-09T18:34:50Z"}"#)
        == "10s ago  ! stream lost                          reset\\e · next try in 3.3s")
    #expect(
      try notice(#"{"type":"gap","after":"x","before":"2026-05-09T18:34:50Z"}"#)?
        .hasSuffix("actions between x and ? may be missing") == true)
    #expect(
      try notice(#"{"type":"gap","after":null,"before":null}"#)?
        .hasSuffix("between the start and now may be missing") == true)
    #expect(try notice(#"{"type":"resumed"}"#)?.hasSuffix("─ stream resumed") == true)
    #expect(try notice(#"{"type":"resumed","down":12.4}"#)?.hasSuffix("  after 12s") == true)
    #expect(try notice(#"{"type":"open"}"#) == nil)
    #expect(try notice(#"{"type":"comment","text":"x"}"#) == nil)
  }
}
