import Core
import Records
import Testing

@testable import Turns

/// What the vectors of the contract leave open.
@Suite struct TurnFoldTests {
  private func folded(_ fill: (inout PincerLines) -> Void, keepsAll: Bool = true) throws -> Folded {
    var lines = PincerLines()
    fill(&lines)
    return try Folded(lines.lines, by: PincerTurns.self, keepsAll: keepsAll)
  }

  @Test func anEndNeverTurnsBack() throws {
    let folded = try folded {
      $0.add(#""turnStarted":{}"#)
      $0.add(#""turnCompleted":{}"#)
      $0.add(#""turnStarted":{}"#)
      $0.add(#""turnPaused":{}"#)
      $0.add(#""turnFailed":{"code":"C"}"#)
    }
    #expect(folded.states("u") == ["running", "completed"])
    #expect(folded.state?["turns"]?.element(0)?["status"]?.string == "completed")
    #expect(folded.state?["active_turn"]?.isNull == true)
  }

  @Test func aCompletedTurnThatIsResumedGoesOnInTheStateAlone() throws {
    let folded = try folded {
      $0.add(#""turnStarted":{}"#)
      $0.add(#""turnCompleted":{}"#)
      $0.add(#""turnResumed":{}"#)
    }
    #expect(folded.states("u") == ["running", "completed"])
    #expect(folded.state?["turns"]?.element(0)?["status"]?.string == "running")
    #expect(folded.state?["turns"]?.element(0)?["ended_at"]?.isNull == true)
    #expect(folded.state?["active_turn"]?.string == "u")
  }

  @Test func aTurnWhoseActionsAreOpenIsNotToldToBeComplete() throws {
    func fold(_ more: String...) throws -> [String] {
      let folded = try folded {
        $0.add(#""turnStarted":{}"#)
        $0.add(#""toolCallPlanned":{"toolCallId":"c","toolName":"bash","args":{}}"#)
        $0.add(#""proposedActionCreated":{"actionId":"c","tool":"bash"}"#)
        $0.add(#""proposedActionStatusChanged":{"actionId":"c","status":"APPROVED"}"#)
        $0.add(#""turnCompleted":{}"#)
        for each in more { $0.add(each) }
      }
      return folded.states("u")
    }
    let done = #""proposedActionStatusChanged":{"actionId":"c","status":"EXECUTED"}"#
    #expect(try fold() == ["running"])
    #expect(try fold(done) == ["running"])
    #expect(try fold(done, #""turnCompleted":{}"#) == ["running", "completed"])
    #expect(
      try fold(done, #""turnResumed":{}"#, #""turnCompleted":{}"#) == ["running", "completed"])
  }

  @Test func aCallThatRunsAgainTurnsBackInTheStateAlone() throws {
    let folded = try folded {
      $0.add(#""turnStarted":{}"#)
      $0.add(#""toolCallPlanned":{"toolCallId":"c","toolName":"bash","args":{}}"#)
      $0.add(#""toolExecutionStarted":{"executionId":"x1","toolCallId":"c"}"#)
      $0.add(#""toolExecutionFinished":{"executionId":"x1"}"#)
      $0.add(#""toolExecutionStarted":{"executionId":"x2","toolCallId":"c"}"#)
    }
    #expect(folded.states("c") == ["planned", "running", "succeeded"])
    let call = folded.state?["turns"]?.element(0)?["calls"]?.element(0)
    #expect(call?["state"]?.string == "running")
    #expect(call?["executions"]?.count == 2)
  }

  @Test func charactersThatAreCutAreOne() throws {
    // The euro sign in three chunks, and one byte of it at the end.
    let folded = try folded {
      $0.add(#""turnStarted":{}"#)
      $0.add(#""toolCallPlanned":{"toolCallId":"c","toolName":"bash","args":{}}"#)
      $0.add(#""toolExecutionStarted":{"executionId":"x","toolCallId":"c"}"#)
      for chunk in ["4g==", "gg==", "rOI=", "/w=="] {
        $0.add(#""toolExecutionOutputDelta":{"executionId":"x","utf8":true,"chunk":"\#(chunk)"}"#)
      }
      $0.add(#""toolExecutionOutputDelta":{"executionId":"x","stream":2,"chunk":"AAEC"}"#)
      $0.add(#""toolExecutionOutputDelta":{"executionId":"x","utf8":true,"chunk":"4g=="}"#)
      $0.add(#""toolExecutionFinished":{"executionId":"x","exitCode":1}"#)
    }
    let call = folded.last("tool_call")
    #expect(call?["stdout"]?.string == "\u{20ac}\u{fffd}\u{fffd}\u{fffd}")
    #expect(call?["stderr"]?.string == "[binary output: 3 bytes]")
    #expect(call?["exit_code"]?.integer == 1)
    #expect(
      folded.state?["messages"]?.element(0)?["content"]?.string
        == "$ \n\u{20ac}\u{fffd}\u{fffd}[binary output: 3 bytes]\u{fffd}\nresult: exit 1 (0ms)")
  }

  @Test func whatIsNoJSONIsNotPutIntoARecord() throws {
    for (arguments, json) in [
      (#"{"a":word}"#, nil), (#"{"a":1.10}"#, #"{"a":1.10}"#),
    ] {
      let folded = try folded {
        $0.add(#""turnStarted":{}"#)
        $0.add(#""toolCallPlanned":{"toolCallId":"c","toolName":"bash","args":\#(arguments)}"#)
      }
      let call = try #require(folded.last("tool_call"))
      #expect(call["arguments"]?.compact() == (json == nil ? nil : #"{"a":1.1}"#))
    }
  }

  @Test func anEventWithoutAThreadIsOfTheOneBefore() throws {
    var lines = PincerLines()
    lines.add(#""turnStarted":{}"#)
    let nameless = #"{"eventId":"n","sequence":9,"turnStarted":{},"turnId":"v"}"#
    let folded = try Folded(lines.lines + [nameless], by: PincerTurns.self)
    #expect(folded.state?["last_sequence"]?.integer == 9)
    #expect(folded.state?["gaps"]?.compact() == "[[2,8]]")
    #expect(folded.state?["turns"]?.count == 1, "but nobody can say what it is about")
  }

  @Test func eachThreadHasAStateOfItsOwn() throws {
    let lines = ["a", "b", "a"].enumerated().map { index, thread in
      #"{"threadId":"\#(thread)","turnId":"u\#(index)","sequence":\#(index + 1),"turnStarted":{}}"#
    }
    let states = try Folded(lines, by: PincerTurns.self).states
    #expect(states.map { $0["thread"]?.string } == ["a", "b"])
    #expect(states.map { $0["turns"]?.count } == [2, 1])
    #expect(states.map { $0["gaps"]?.count } == [1, 0])
  }

  @Test func aDraftIsTakenBackUnderTheIdThatWasTold() throws {
    let folded = try folded {
      $0.add(#""turnStarted":{}"#)
      $0.add(#""assistantTextDelta":{"delta":"Hel"}"#)
      $0.add(#""assistantMessageCommitted":{"messageId":"m","fullText":"Hello"}"#)
      $0.add(#""assistantTextDelta":{"delta":"!"}"#)
    }
    let draft = folded.last("message", "stream_assistant_u")
    #expect(draft?["state"]?.string == "aborted")
    #expect(draft?["reason"]?.string == "replaced by m")
    #expect(draft?["text"]?.string == "Hel")
    #expect(folded.last("message", "m")?["text"]?.string == "Hello!")
    #expect(folded.states("m") == ["final"])
  }

  /// A message, and after a pause the draft of another one.
  private func pause(_ steps: inout PincerLines) {
    steps.add(#""turnStarted":{}"#)
    steps.add(#""assistantTextDelta":{"delta":"a"}"#)
    steps.add(#""assistantMessageCommitted":{"messageId":"m1","fullText":"a"}"#)
    steps.add(#""turnResumed":{}"#)
    steps.add(#""assistantTextDelta":{"delta":"b"}"#)
  }

  @Test func aDraftAfterAPauseHasAnIdOfItsOwn() throws {
    let folded = try folded {
      pause(&$0)
    }
    #expect(folded.states("stream_assistant_u") == ["partial", "aborted"])
    #expect(folded.last("message", "stream_assistant_u_2")?["text"]?.string == "b")
    let ids = folded.state?["messages"]?.elements.map { $0["id"]?.string }
    #expect(ids == ["m1", "stream_assistant_u"])
  }

  @Test func aDraftWhoseIdAnotherMessageGetsIsTakenBack() throws {
    let folded = try folded {
      pause(&$0)
      $0.add(#""turnStarted":{}"#, turn: "v")
      $0.add(#""assistantTextDelta":{"delta":"c"}"#, turn: "v")
      $0.add(
        #""assistantMessageCommitted":{"messageId":"stream_assistant_u","fullText":"d"}"#,
        turn: "v")
      $0.add(#""turnCompleted":{}"#)
    }
    #expect(folded.states("stream_assistant_u_2") == ["partial", "aborted"])
    #expect(
      folded.last("message", "stream_assistant_u_2")?["reason"]?.string
        == "replaced by stream_assistant_u")
    #expect(folded.last("message", "stream_assistant_u")?["text"]?.string == "d")
    let texts = folded.state?["messages"]?.elements.map { $0["content"]?.string }
    #expect(texts == ["a", "d"])
  }

  @Test func charactersThatAreCutBetweenPiecesAreWhole() throws {
    let folded = try folded {
      $0.add(#""assistantTextDelta":{"delta":"a\ud83d"}"#)
      $0.add(#""assistantTextDelta":{"delta":"x\ud83c"}"#, turn: "v")
      $0.add(#""assistantThinkingDelta":{"delta":"\ude00 else"}"#)
      $0.add(#""assistantTextDelta":{"delta":"\ude00b\\ud83d"}"#)
      $0.add(#""assistantTextDelta":{"delta":"\udf08\ud83d"}"#, turn: "v")
      $0.add(#""assistantTextDelta":{"delta":"!"}"#, turn: "v")
    }
    func text(_ id: String) -> String? { folded.last("message", id)?["text"]?.string }
    #expect(text("stream_assistant_u") == "a\u{1f600}b\\ud83d")
    #expect(text("stream_assistant_v") == "x\u{1f308}\u{fffd}!")
    #expect(text("stream_thinking_u") == "\u{fffd} else")
  }

  @Test func whatNobodyEndedEndsWithItsTurn() throws {
    for (end, state) in [("turnCompleted", "final"), ("turnFailed", "failed")] {
      let folded = try folded {
        $0.add(#""assistantTextDelta":{"delta":"a"}"#)
        $0.add(#""assistantThinkingDelta":{"delta":"b"}"#)
        $0.add("\"\(end)\":{}")
      }
      #expect(folded.last("message", "stream_assistant_u")?["state"]?.string == state)
      #expect(folded.last("message", "stream_thinking_u")?["state"]?.string == state)
    }
  }

  @Test func anApprovalThatExpiresRejectsItsCall() throws {
    let folded = try folded {
      $0.add(#""turnStarted":{}"#)
      $0.add(#""toolCallPlanned":{"toolCallId":"c","toolName":"bash","args":{"a":"ls"}}"#)
      $0.add(
        #""proposedActionCreated":{"actionId":"c","tool":"bash","riskClass":5,"preview":{"tool":"x"}}"#
      )
      $0.add(
        #""proposedActionStatusChanged":{"actionId":"c","status":"REJECTED","reason":"expired"}"#,
        turn: "")
    }
    #expect(folded.states("c").contains("waiting_approval"))
    #expect(folded.last("tool_call")?["state"]?.string == "rejected")
    let approval = folded.last("approval")
    #expect(approval?["state"]?.string == "expired")
    #expect(approval?["tool_call"]?.string == "c")
    #expect(approval?["request"]?["riskClass"]?.string == "HIGH")
    #expect(approval?["request"]?["preview"]?["tool"]?.string == "x")
    #expect(
      folded.state?["turns"]?.element(0)?["calls"]?.element(0)?["reason"]?.string == "expired")
  }

  @Test func whatIsOverIsForgottenAndDoesNotBeginAnew() throws {
    let count = FoldBook.mostLeaving * 3
    let folded = try folded(
      { lines in
        for turn in 0..<count {
          lines.add(#""turnStarted":{}"#, turn: "u\(turn)")
          lines.add(#""turnCompleted":{}"#, turn: "u\(turn)")
        }
        for turn in 0..<count { lines.add(#""turnStarted":{}"#, turn: "u\(turn)") }
        lines.add(#""assistantTextDelta":{"delta":"late"}"#, turn: "u0")
      }, keepsAll: false)
    #expect(folded.told.count == count * 2)
  }

  @Test func threadsWithNothingLeftAreForgotten() throws {
    let fold = TurnFold()
    weak var first: ThreadFold?
    for thread in 0..<FoldBook.mostLeaving * 3 {
      for change in [TurnChange.started(message: ""), .completed(message: nil)] {
        var event = TurnEvent(RecordOrigin(.pincer), thread: "t\(thread)", time: nil, change)
        event.turn = "u"
        _ = fold.receive(event)
      }
      if thread == 0 { first = fold.current }
    }
    #expect(first == nil)
    #expect(fold.threads.count < FoldBook.mostLeaving * 3)
  }

  @Test func eventsAreKnownByTheirIdsUntilManyCame() throws {
    var lines = PincerLines()
    lines.add(#""turnStarted":{}"#)
    let text =
      #"{"eventId":"first","threadId":"t","turnId":"u","assistantTextDelta":{"delta":"x"}}"#
    let others = (0..<8190).map { #"{"eventId":"o\#($0)","threadId":"t","sequence":1}"# }
    let folded = try Folded(
      lines.lines + [text, text] + others.dropLast() + [text] + others.suffix(1) + [text],
      by: PincerTurns.self, keepsAll: false)
    #expect(folded.last("message")?["text"]?.string == "xx")
  }
}
