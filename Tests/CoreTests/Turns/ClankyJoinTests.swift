import Testing
import Turns

/// What of a dashboard's actions belongs together: each rule alone.
@Suite struct ClankyJoinTests {
  @Test func stepsOfABrowserAreOneCall() {
    let step = #"{"sessionKey":"k","step":1,"tool":"open","input":{"url":"u"}}"#
    let result = #"{"sessionKey":"k","step":1,"tool":"open","isError":true,"fullLength":99}"#
    #expect(
      tell([
        row(1, "10:00:00.000", "browser_tool_step", content: "open", step),
        row(2, "10:00:01.000", "browser_tool_result", content: "no page", result),
      ]) == ["call k/1 open failed (no page) cut printed no page from 10:00:00.000"])
  }

  @Test func halvesOfAStepComeInEitherOrder() {
    func step(_ id: Int, _ time: String, _ more: String = "") -> String {
      row(
        id, time, "browser_tool_step", content: "open",
        #"{"sessionKey":"k","step":1,"input":{"url":"u"}\#(more)}"#)
    }
    func result(_ id: Int, _ time: String, isError: Bool = false) -> String {
      row(
        id, time, "browser_tool_result", content: "a page",
        #"{"sessionKey":"k","step":1,"isError":\#(isError)}"#)
    }
    let whole = "open succeeded printed a page from 10:00:01.000"
    let inTurn = "open succeeded in t? printed a page from 10:00:01.000"
    let (begin, end) = (step(1, "10:00:01.000"), result(2, "10:00:02.000"))
    let answer = reply(3, "10:00:03.000", trigger: "t", took: 2500)
    for lines in [
      [begin, end], [end, begin], [end, begin, result(4, "10:00:02.500", isError: true)],
    ] {
      #expect(last(of: tell(lines))["call k/1"] == whole)
      // Before the answer, after it, and on both sides of it.
      for place in 0...lines.count {
        var lines = lines
        lines.insert(answer, at: place)
        let told = tell(lines)
        #expect(last(of: told)["call k/1"] == inTurn, "\(place) of \(lines.count)")
        #expect(last(of: told)["turn t"] == "completed message m3 from 10:00:00.500")
        let first = told.firstIndex { $0.hasPrefix("call k/1 open succeeded") } ?? 0
        #expect(!told[first...].contains { $0.hasPrefix("call k/1 open running") })
      }
    }
    // What ended after the answer is of the turn in which it began.
    for lines in [
      [begin, answer, result(4, "10:00:05.000")], [result(4, "10:00:05.000"), answer, begin],
      [begin, result(4, "10:00:05.000"), answer],
    ] {
      #expect(last(of: tell(lines))["call k/1"] == inTurn)
    }
    // A half alone, and steps of other places.
    #expect(last(of: tell([end]))["call k/1"] == "browser succeeded printed a page")
    let other = row(
      5, "10:00:02.000", "browser_tool_result", channel: "d", content: "x",
      #"{"sessionKey":"k","step":1,"isError":true}"#)
    #expect(tell([begin, other]).count == 2)
    // What was told of no turn stays so.
    #expect(
      tellLive([result(2, "10:00:02.000"), llm(6, "10:20:00.000"), begin]).prefix(2) == [
        "call k/1 browser succeeded printed a page", "call k/1 \(whole)",
      ])
  }

  // MARK: - By the message that is named

  private func named(_ id: Int, _ time: String, _ message: String, user: String = "bot") -> String {
    llm(id, time, more: #","messageId":"\#(message)""#, user: user)
  }

  @Test func allThatNameAMessageAreOfItsTurn() {
    let told = tell([
      named(1, "10:00:01.000", "t1"), named(2, "10:00:02.000", "t1"),
      reply(3, "10:00:03.000", trigger: "t1", took: 100),
    ])
    #expect(told.last == "turn t1 completed message m3 20+4 $0.2 from 10:00:01.000")
    // Whatever it is made for, and said before the answer.
    let memory = #","messageId":"t1""#
    #expect(
      tell([
        llm(1, "10:00:01.000", source: "memory_slice", more: memory),
        reply(3, "10:00:03.000", trigger: "t1", took: 2500),
      ]).contains("turn 1 completed in t1"))
    #expect(
      tell([llm(1, "10:00:01.000", source: "memory_slice", more: memory)]) == ["turn 1 completed"])
  }

  @Test func whatNamesAnotherMessageStaysOut() {
    let other = llm(1, "10:00:01.000", source: "initiative_loop", more: #","messageId":"t9""#)
    let post = row(
      2, "10:00:02.000", "initiative_post", message: "m",
      #"{"llm":{"usage":{"inputTokens":7,"outputTokens":1}}}"#)
    #expect(tell([other, post]).contains("turn 1 completed"))
  }

  @Test func anAnswerInSeveralMessagesIsOneTurn() {
    let both = #","triggerMessageIds":["t1","t2"]"#
    let told = tellLive([
      reply(1, "10:00:03.000", trigger: "t1", took: 2500, more: both),
      reply(2, "10:00:04.000", trigger: "t1", took: 3500), named(3, "10:00:02.000", "t2"),
    ])
    #expect(told.contains("turn 3 completed in t1"))
    #expect(told.filter { $0.hasPrefix("turn t1 running") }.count == 1)
    let elsewhere = row(
      5, "10:00:05.000", "sent_reply", channel: "d", message: "m5", #"{"triggerMessageId":"t1"}"#)
    let two = tell([reply(1, "10:00:03.000", trigger: "t1", took: 2500), elsewhere])
    #expect(two.filter { $0.hasPrefix("turn t1 running") }.count == 2)
  }

  // MARK: - By place, time and person

  @Test func whenATurnBegan() {
    func joins(_ time: String, took: Int?) -> Bool {
      tell([llm(1, time), reply(2, "10:01:00.000", trigger: "t", took: took)])
        .contains("turn 1 completed in t?")
    }
    // 10:00:58, and two seconds for clocks.
    #expect(joins("10:00:56.100", took: 2000) && !joins("10:00:55.900", took: 2000))
    // A minute where it does not say.
    #expect(joins("09:59:58.100", took: nil) && !joins("09:59:57.900", took: nil))
  }

  @Test func aPartIsOfTheFirstAnswerAfterIt() {
    let answers = [
      reply(2, "10:00:10.000", trigger: "late", took: 9000),
      reply(3, "10:00:05.000", trigger: "early", took: 4000),
    ]
    for answers in [answers, answers.reversed()] {
      #expect(tell(answers + [llm(1, "10:00:03.000")]).contains("turn 1 completed in early?"))
    }
  }

  @Test func partsStandInTheirOrder() {
    let told = tell([
      llm(2, "10:00:02.000"), llm(1, "10:00:01.000"),
      reply(3, "10:00:03.000", trigger: "t", took: 2500),
    ])
    #expect(told[1...2] == ["turn 1 completed in t?", "turn 2 completed in t?"])
  }

  @Test func anAnswerElsewhereTellsTheTime() {
    var decoder = Decoded()
    decoder.receive(llm(1, "10:00:00.000", channel: "other"))
    decoder.receive(reply(2, "10:20:00.000", trigger: "t", took: 100))
    #expect(decoder.told.last == "turn 1 completed")
  }

  @Test func thePersonAndTheBotAreOfATurn() {
    let answer = reply(9, "10:00:05.000", trigger: "t", took: 4500)
    let nobody = llm(3, "10:00:03.000", user: "nobody").replacing("\"nobody\"", with: "null")
    let parts = [llm(1, "10:00:01.000", user: "noor"), llm(2, "10:00:02.000"), nobody]
    for lines in [parts + [answer], [answer] + parts] {
      #expect(last(of: tell(lines))["turn t"]?.hasPrefix("completed message m9 30+6") == true)
    }
    // Another one is not, whoever was there first.
    for first in [named(1, "10:00:01.000", "t", user: "noor"), answer] {
      let told = last(
        of: tellLive([
          first, search(2, "10:00:02.000", user: "noor"), search(3, "10:00:03.000", user: "else"),
          answer, search(4, "10:00:04.000", user: "else"),
        ]))
      #expect(told["call 2"] == "search succeeded in t?")
      #expect(told["call 3"] == "search succeeded" && told["call 4"] == "search succeeded")
    }
    // Where the bot is named first, the person comes after.
    let told = tell([
      named(1, "10:00:01.000", "t"), search(2, "10:00:02.000", user: "noor"), answer,
    ])
    #expect(told.contains("call 2 search succeeded in t?"))
  }

  @Test func whatAPartIsMadeFor() {
    func joins(_ source: String, _ kind: String, _ own: String = "") -> Bool {
      let end = row(
        2, "10:00:02.000", kind, message: "m", #"{"triggerMessageId":"t","source":"\#(own)"}"#)
      return tell([llm(1, "10:00:01.000", source: source), end]).contains("turn 1 completed in t?")
    }
    #expect(joins("automation_run", "automation_post") && !joins("automation_run", "sent_reply"))
    #expect(joins("initiative_x", "initiative_post") && !joins("reply_x", "initiative_post"))
    #expect(joins("", "initiative_post", "initiative_x") && joins("", "sent_reply", "reply_x"))
    for other in ["voice_x", "memory_x", "reflection_x", "discovery_x"] {
      #expect(!joins(other, "sent_reply"))
      #expect(joins(other, "sent_reply", other))
    }
  }

  // MARK: - What a turn is, and its account

  @Test func accounts() {
    let account = #","llm":{"usage":{"inputTokens":7,"outputTokens":1},"costUsd":0.3}"#
    let free = row(1, "10:00:01.000", "search_call", content: "q", #"{"source":"reply_tool"}"#)
    #expect(
      tell([free, reply(2, "10:00:02.000", trigger: "t", took: 1500, more: account)]).last
        == "turn t completed message m2 7+1 $0.3 from 10:00:00.500")
    #expect(
      tell([row(1, "10:00:00.000", "initiative_post", message: "m", "{\(account.dropFirst())}")])
        .last == "turn m completed message m 7+1 $0.3")
    #expect(
      tell([row(1, "10:00:00.000", "reply_skipped", content: "llm_skip", "{}")]).last
        == "turn 1 completed (llm_skip)")
    let call = #"{"name":"web_search","input":{"query":"x"}}"#
    #expect(
      tell([llmTool(2, "10:00:02.000", call: call)]).last == "call 2/1 web_search planned in 2")
  }

  @Test func rowsOfOneInstantStandByTheirIDs() {
    let lines = [llm(1, "10:00:01.000"), llm(2, "10:00:01.000")]
    for rows in [lines, lines.reversed()] {
      let list = #"{"event":"activity_snapshot","data":{"actions":["#
      #expect(
        tell([list + rows.joined(separator: ",") + "]}}"])
          == ["turn 1 completed", "turn 2 completed"])
    }
  }
}
