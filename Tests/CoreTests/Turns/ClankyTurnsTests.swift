import Core
import Records
import Testing
import Turns

/// What the actions of a dashboard tell of turns.
@Suite struct ClankyTurnsTests {
  @Test func anAnswerTakesTheCallsBeforeItIn() {
    let told = tell([
      llm(1, "10:00:01.000", names: "web_search"),
      llmTool(2, "10:00:02.000", call: #"{"name":"web_search","input":{"query":"x"}}"#),
      reply(3, "10:00:03.000", trigger: "t1", took: 2500),
    ])
    #expect(
      told == [
        "turn t1 running from 10:00:00.500", "turn 1 completed (tool_use: web_search) in t1?",
        "turn 2 completed in t1?", "call 2/1 web_search planned in t1?",
        "message m3 final in t1: said", "turn t1 completed message m3 20+4 $0.2 from 10:00:00.500",
      ])
  }

  @Test func eitherOrderOfTimeGivesTheSameTurn() {
    let lines = [
      llm(1, "10:00:01.000"), search(2, "10:00:02.000"), llm(3, "10:00:03.000"),
      reply(4, "10:00:04.000", trigger: "t1", took: 3500), llm(5, "10:10:00.000"),
      reply(6, "10:10:01.000", trigger: "t2", took: 1500),
    ]
    let forwards = last(of: tell(lines))
    #expect(forwards["turn t1"] == "completed message m4 20+4 $0.205 from 10:00:00.500")
    #expect(forwards["call 2"] == "search succeeded in t1?")
    #expect(forwards["turn 5"] == "completed in t2?")
    #expect(last(of: tell(lines.reversed())) == forwards)
    // A list is told oldest first, whatever its order.
    let list = #"{"event":"activity_snapshot","data":{"actions":["#
    let snapshot = list + lines.reversed().joined(separator: ",") + "]}}"
    #expect(tell([snapshot]) == tell(lines))
  }

  @Test func aNamedMessageIsNoGuess() {
    let told = tell([
      llm(1, "10:00:01.000", more: #","messageId":"t1""#, user: "person"),
      search(2, "10:00:02.000", user: "person"),
      reply(3, "10:00:03.000", trigger: "t1", took: 2500),
    ])
    #expect(
      told == [
        "turn t1 running from 10:00:01.000", "turn 1 completed in t1",
        "turn t1 running 10+2 $0.1 from 10:00:01.000", "call 2 search succeeded in t1?",
        "turn t1 running 10+2 $0.105 from 10:00:01.000", "message m3 final in t1: said",
        "turn t1 completed message m3 10+2 $0.105 from 10:00:00.500",
      ])
  }

  @Test func whatIsOfAnotherTurnStaysOut() {
    let told = last(
      of: tell([
        llm(1, "10:00:01.000", channel: "other"),
        llm(2, "10:00:01.500", source: "memory_reflection"),
        llm(3, "10:00:01.600", user: "another"), llm(4, "10:00:01.700", user: "person"),
        llm(5, "09:55:00.000"), reply(6, "10:00:03.000", trigger: "t1", took: 2500),
        llm(7, "10:00:04.000"),
      ]))
    #expect(told["turn t1"] == "completed message m6 10+2 $0.1 from 10:00:00.500")
    #expect(told["turn 4"] == "completed in t1?")
    for id in ["1", "2", "3", "5", "7"] { #expect(told["turn \(id)"] == "completed") }
  }

  @Test func whatWaitsTooLongHasNoAnswer() {
    let told = tell([llm(1, "10:00:00.000"), llm(2, "10:09:59.000"), llm(3, "10:10:01.000")])
    #expect(told == ["turn 1 completed", "turn 2 completed", "turn 3 completed"])
    var decoder = Decoded()
    decoder.receive(llm(1, "10:00:00.000"))
    decoder.receive(llm(2, "10:09:59.000"))
    #expect(decoder.told == [])
    decoder.receive(llm(3, "10:10:01.000"))
    #expect(decoder.told == ["turn 1 completed"])
  }

  @Test func twinsCountOnce() {
    let live =
      #"{"event":"action_event","id":"","data":{"kind":"llm_call","guildId":"g","channelId":"c","userId":"bot","#
      + #""content":"p:m","metadata":{"usage":{"inputTokens":10,"outputTokens":2}},"usdCost":0.1,"#
      + #""createdAt":"2026-03-01T10:00:01.000Z"}}"#
    let told = tell([
      live, llm(1, "10:00:01.000"), reply(2, "10:00:02.000", trigger: "t", took: 2000),
    ])
    #expect(told.filter { $0.hasPrefix("turn 2026-03-01T10:00:01.000Z/llm_call") }.count == 1)
    #expect(told.last == "turn t completed message m2 10+2 $0.1 from 10:00:00.000")
  }

  @Test func anAnswerAloneHasItsOwnAccount() {
    let account = #","llm":{"usage":{"inputTokens":7,"outputTokens":1},"costUsd":0.3}"#
    #expect(
      tell([reply(1, "10:00:03.000", trigger: "t", took: nil, more: account)]).last
        == "turn t completed message m1 7+1 $0.3")
    // What is said unasked is a message alone, unless something was done for it.
    #expect(
      tell([row(1, "10:00:00.000", "initiative_post", message: "m", "{}")])
        == ["message m final: said"])
    #expect(
      tell([
        llm(1, "10:00:00.000", source: "initiative_loop"), llm(2, "10:00:00.500"),
        row(3, "10:00:01.000", "initiative_post", message: "m", "{}"),
      ]).contains("turn m completed message m 10+2 $0.1 from 10:00:00.000"))
  }

  @Test func skippedAndFailed() {
    #expect(
      tell([
        row(
          1, "10:00:00.000", "llm_error", content: "overloaded", #"{"provider":"p","model":"m"}"#),
        row(2, "10:00:01.000", "reply_skipped", message: "t", content: "llm_skip", "{}"),
      ]) == [
        "turn t running from 10:00:00.000", "turn 1 failed (overloaded) in t?",
        "turn t completed (llm_skip) from 10:00:00.000",
      ])
  }

  @Test func profilesAndPlacesKeepApart() {
    func of(_ profile: String, _ line: String) -> String {
      #"{"profile":"\#(profile)","# + line.dropFirst()
    }
    let told = tell([
      of("a", llm(1, "10:00:01.000")), of("b", llm(1, "10:00:01.000")),
      of("a", reply(2, "10:00:02.000", trigger: "t", took: 2000)),
    ])
    #expect(told.filter { $0.hasPrefix("a turn 1 ") } == ["a turn 1 completed in t?"])
    #expect(told.filter { $0.hasPrefix("b ") } == ["b turn 1 completed"])
  }

  @Test func othersAreLeftAlone() {
    var decoder = Decoded()
    func takes(_ line: String) -> Bool { decoder.receive(line) }
    #expect(!takes(#"{"kind":"llm_call"}"#))
    #expect(!takes(#"{"type":"turn","id":"1"}"#))
    #expect(!takes(#"{"event":"chat","id":"","data":{"runId":"r"}}"#))
    #expect(takes(#"{"event":"stats_update","id":"","data":{"stats":{},"runtime":{}}}"#))
    #expect(takes(row(1, "10:00:00.000", "dashboard", "{}")))
    #expect(takes(#"{"kind":"llm_call","createdAt":"never","metadata":[1]}"#))
    #expect(decoder.told == ["turn never/llm_call completed"])
  }
}
