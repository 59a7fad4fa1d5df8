import Core
import Records
import Screen
import Testing

@testable import action_format

@Suite struct StatsLineTests {
  private let now = Timestamp(rfc3339: "2026-05-09T18:35:00Z") ?? Timestamp(seconds: 0)

  private func line(_ text: String, age: Int64 = 0) throws -> String {
    let stats = try #require(ActionStats(JSONValue.parse(text: text)))
    return stats.line(now: now, age: age).text
  }

  @Test func costThenCounts() throws {
    let text = """
      {"stats":{"last24h":{"sent_reply":41,"llm_call":128,"voice_error":2,"gif_call":0},
      "totalCostUsd":18.204411,"dailyCost":[{"day":"2026-05-09","usd":2.4719},{"day":"2026-05-08","usd":5}]},
      "runtime":{"isReady":true,"voice":{"activeCount":1},"replyQueue":{"pending":3}}}
      """
    #expect(
      try line(text)
        == "today $2.47 · total $18.20 █▄ · 1 in voice · 3 waiting")
    #expect(try line(text, age: 20).hasPrefix("20s old · "))
  }

  @Test func whatWasShownIsCounted() {
    var shown = ShownCounts()
    #expect(shown.line.text == "")
    for kind in ["b", "a", "llm_call", "llm_call", "voice_error", "\u{1b}[2J", ""] {
      shown.add(kind)
    }
    #expect(
      shown.line.text
        == "7 shown · voice_error 1 · llm_call 2 · (no kind) 1 · \\e[2J 1 · a 1 · b 1")
    for number in 0..<2000 { shown.add("\(number)") }
    #expect(shown.total == 2007 && shown.kinds.count == 1000)
  }

  @Test func whatIsMissingIsLeftOut() throws {
    #expect(try line(#"{"stats":{"last24h":{"x":1}}}"#) == "")
    #expect(
      try line(#"{"stats":{"totalCostUsd":0},"runtime":{"isReady":false}}"#)
        == "not connected · today $0.00 · total $0.00")
  }
}

@Suite struct NamesTests {
  @Test func namesComeFromVoiceStatesAndEvents() throws {
    let sessions =
      #"{"sessions":[{"participants":[{"userId":"1","displayName":"Ada"},{"userId":2},7]}]}"#
    for text in [
      sessions, #"{"event":"voice_state","data":\#(sessions)}"#,
      #"{"event":"stats_update","data":{"stats":{},"runtime":{"voice":\#(sessions)}}}"#,
      #"{"event":"activity_snapshot","data":{"actions":[],"stats":{"runtime":{"voice":\#(sessions)}}}}"#,
    ] {
      var names = Names()
      names.learn(from: try JSONValue.parse(text: text))
      #expect(names["1"] == "Ada")
      #expect(names["2"] == nil)
    }
    var names = Names()
    names.learn(
      from: try formatAction(
        #"{"kind":"voice_runtime","userId":"5","metadata":{"speakerName":"Mika"}}"#))
    names.learn(
      from: try formatAction(
        #"{"kind":"voice_runtime","userId":"6","metadata":{"speakerName":"Bot","transcriptSource":"output"}}"#
      ))
    #expect(names["5"] == "Mika")
    #expect(names["6"] == nil)
    let turn = try formatAction(#"{"kind":"voice_turn_in","userId":"5","content":"c"}"#)
    #expect(detailText(turn, Phrase(names: names)) == "Mika · c")
  }
}

@Suite struct FormatOptionsTests {
  private func options(_ words: String...) throws -> FormatOptions {
    try FormatOptions.table.parse(words, FormatOptions())
  }

  @Test func optionsAreRead() throws {
    let options = try options(
      "-tx", "--stats", "-n", "3", "-W80", "--color=always", "--key", "line,,id", "a", "-")
    #expect(options.keys == [.line, .id])
    #expect(options.isAbsolute && options.isExpanded && options.showsStats)
    #expect(options.count == 3 && options.look.width == 80)
    #expect(options.look.colour == .always)
    #expect(options.files == ["a", "-"])
    #expect(try self.options().files == ["-"])
  }

  @Test(arguments: [
    ["-n", "0"], ["-n", "-1"], ["-n", "+1"], ["-n", "x"], ["-W", "-1"], ["-W", "wide"],
    ["--color", "red"], ["--key", ""], ["--key", ","], ["--key", "id,x"],
    ["--nonsense"], ["-W", "9999999"],
  ])
  func mistakesAreUsageErrors(_ words: [String]) {
    #expect(throws: UsageError.self) { try FormatOptions.table.parse(words, FormatOptions()) }
  }
}
