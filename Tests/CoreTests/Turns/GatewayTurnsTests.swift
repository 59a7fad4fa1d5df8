import Core
import Records
import Testing

@testable import Turns

/// What OpenClaw and joelclaw gateways tell of turns.
@Suite struct GatewayTurnsTests {
  private func chat(_ members: String) -> String {
    #"{"event":"chat","id":"","data":{"runId":"r","sessionKey":"s",\#(members)}}"#
  }

  private func agent(_ stream: String, _ data: String) -> String {
    """
    {"event":"agent","id":"","profile":"p","data":{"runId":"r","stream":"\(stream)",\
    "ts":1789000000020,"data":\(data)}}
    """
  }

  @Test func aMessageReplacesAndADeltaIsAppended() throws {
    let message = #""state":"delta","deltaText":"x","message":{"content":"High"}"#
    let folded = try Folded(
      [
        chat(#""state":"status","phase":"starting_model""#), chat(message),
        chat(#""seq":4,"state":"delta","deltaText":" at""#),
        chat(#""seq":4,"state":"delta","deltaText":" at""#),
        chat(#""state":"final","usage":{"input":3,"output":5}"#),
        chat(#""seq":5,"state":"delta","deltaText":" more""#),
      ], by: OpenClawTurns.self)
    #expect(folded.last("message")?["text"]?.string == "High at", "a second copy is passed over")
    #expect(folded.states("r").last == "completed")
    #expect(folded.last("turn")?["message"]?.string == "r")
    #expect(folded.last("turn")?["usage"]?["output_tokens"]?.integer == 5)
    #expect(folded.last("turn")?["reason"] == nil)
  }

  @Test(arguments: ["final", "aborted", "error"])
  func whatComesBehindAnEndDoesNotCount(end: String) throws {
    func said(_ words: String) -> String {
      chat(
        #""state":"\#(end)","message":{"content":"\#(words)"},"errorMessage":"\#(words)","#
          + #""stopReason":"\#(words)""#)
    }
    let once = try Folded([said("one")], by: OpenClawTurns.self)
    let twice = try Folded([said("one"), said("two")], by: OpenClawTurns.self)
    for type in ["message", "turn"] {
      #expect(twice.last(type)?.text == once.last(type)?.text)
    }
  }

  @Test(arguments: [Int64.max, Int64.min, 253_402_300_800_000, -62_167_219_200_001])
  func aTimeThatNoCalendarHasIsNone(time: Int64) throws {
    let line = agent("lifecycle", #"{"phase":"start","startedAt":\#(time)}"#)
      .replacing("1789000000020", with: "\(time)")
    let folded = try Folded([line], by: OpenClawTurns.self)
    #expect(folded.last("turn")?["state"]?.string == "running")
    #expect(folded.last("turn")?["time"] == nil)
    #expect(folded.last("turn")?["started"] == nil)
  }

  @Test func silenceIsNoMessage() throws {
    let folded = try Folded([chat(#""state":"final""#)], by: OpenClawTurns.self)
    #expect(folded.last("message") == nil)
    #expect(folded.last("turn")?["state"]?.string == "completed")
    #expect(folded.last("turn")?["message"] == nil)
  }

  @Test func anErrorFailsTurnAndMessage() throws {
    let folded = try Folded(
      [
        chat(#""state":"delta","deltaText":"Hi""#),
        chat(#""state":"error","errorKind":"timeout","errorMessage":"too slow""#),
      ], by: OpenClawTurns.self)
    #expect(folded.last("message")?["state"]?.string == "failed")
    #expect(folded.last("message")?["text"]?.string == "Hi")
    #expect(folded.last("turn")?["reason"]?.string == "timeout: too slow")
  }

  @Test func aRunThatFailedMayBeTriedAgain() throws {
    let (start, error) = (#"{"phase":"start"}"#, #"{"phase":"error","error":"overloaded"}"#)
    func folded(_ lines: [String]) throws -> Folded {
      // All of one agent.
      try Folded(lines.map { $0.replacing(#""profile":"p","#, with: "") }, by: OpenClawTurns.self)
    }
    func states(_ lines: [String]) throws -> [String] { try folded(lines).states("r") }
    let status = chat(#""state":"status""#)
    let failed = [status, agent("lifecycle", start), agent("lifecycle", error)]
    #expect(try states(failed) == ["running", "failed"], "nobody says that it is")
    #expect(
      try states(failed + [agent("lifecycle", start), agent("lifecycle", #"{"phase":"end"}"#)])
        == ["running", "completed"])
    #expect(
      try states(failed + [chat(#""state":"final""#)]) == ["running", "completed"])
    let told = try folded(
      failed + [chat(#""state":"error","errorKind":"timeout","errorMessage":"too slow""#)])
    #expect(told.states("r") == ["running", "failed"])
    #expect(told.last("turn")?["reason"]?.string == "timeout: too slow")
    // Fifteen seconds later it is over, and an end never turns back.
    func another(_ milliseconds: Int) -> String {
      #"{"event":"agent","id":"","data":{"runId":"q","stream":"lifecycle","ts":\#(milliseconds),"data":{"phase":"start"}}}"#
    }
    let final = chat(#""state":"final""#)
    #expect(try states(failed + [another(1_789_000_015_000), final]) == ["running", "completed"])
    #expect(try states(failed + [another(1_789_000_015_021), final]) == ["running", "failed"])
  }

  @Test func aToolIsJoinedByItsCall() throws {
    let folded = try Folded(
      [
        chat(#""state":"delta","deltaText":"Hi""#),
        agent("tool", #"{"phase":"start","name":"exec","toolCallId":"c","args":{"n":1.10}}"#),
        agent("tool", #"{"phase":"update","toolCallId":"c","partialResult":"a"}"#),
        agent(
          "tool", #"{"phase":"result","toolCallId":"c","isError":true,"meta":"ls","result":"ab"}"#),
        agent("tool", #"{"phase":"update","toolCallId":"c","partialResult":"late"}"#),
        agent("thinking", #"{"delta":"hm"}"#),
        agent("lifecycle", #"{"phase":"end"}"#),
        agent("assistant", #"{"text":"Hi"}"#),
      ], by: OpenClawTurns.self)
    #expect(folded.states("c") == ["running", "failed"])
    let call = try #require(folded.last("tool_call"))
    #expect(call["tool"]?.string == "exec")
    #expect(call["label"]?.string == "ls")
    #expect(call["stdout"]?.string == "ab")
    #expect(call["profile"]?.string == "p")
    // Of a profile nothing is known that another one told.
    #expect(call["thread"]?.string == "s")
    #expect(folded.states("r/thinking") == ["partial", "final"])
  }

  @Test func anApprovalIsAnsweredOnce() throws {
    let request = #"{"command":"make","sessionKey":"s","allowedDecisions":["deny"]}"#
    let folded = try Folded(
      [
        #"{"event":"exec.approval.resolved","id":"","data":{"id":"never","decision":"deny"}}"#,
        #"{"event":"exec.approval.requested","id":"","data":{"id":"a","request":\#(request)}}"#,
        #"{"type":"event","event":"exec.approval.resolved","payload":{"id":"a","decision":"deny","resolvedBy":"ada"}}"#,
        #"{"data":{"type":"event","event":"exec.approval.resolved","payload":{"id":"a","decision":"allow-once"}}}"#,
      ], by: OpenClawTurns.self)
    #expect(folded.states("a") == ["pending", "rejected"])
    #expect(folded.last("approval")?["by"]?.string == "ada")
    #expect(folded.last("approval")?["request"]?["command"]?.string == "make")
    #expect(folded.told.count == 2)
  }

  @Test func framesWithoutNamesAreOfTheLastStatus() throws {
    let folded = try Folded(
      [
        #"{"type":"error","message":"somebody else's"}"#,
        #"{"type":"text_delta","delta":"ambient"}"#, #"{"type":"turn_end"}"#,
        #"{"event":"status","id":"","data":{"type":"status","data":{"sessionId":"s","supersession":{"activeRequest":{"id":"q"}}}}}"#,
        #"{"type":"text_delta","delta":"a"}"#,
        #"{"type":"tool_call","id":"c","name":"bash","input":{"x":1}}"#,
        #"{"type":"tool_result","id":"c","isError":true,"content":[{"type":"text","text":"no"}]}"#,
        #"{"type":"text_delta","delta":"b"}"#, #"{"type":"turn_end"}"#,
        #"{"type":"text_delta","delta":"c"}"#, #"{"type":"turn_end"}"#,
        #"{"type":"status","data":{"supersession":{"activeRequest":null}}}"#,
      ], by: JoelclawTurns.self)
    #expect(folded.last("message", "gateway/1")?["turn"] == nil)
    #expect(folded.last("message", "s/2")?["text"]?.string == "ab")
    #expect(folded.last("message", "s/3")?["turn"]?.string == "q")
    #expect(folded.last("tool_call")?["tool"]?.string == "bash")
    #expect(folded.states("c") == ["running", "failed"])
    #expect(folded.states("q") == ["running", "completed"])
  }

  private static let status =
    #"{"event":"status","id":"","data":{"type":"status","data":{"sessionId":"s","supersession":{"activeRequest":{"id":"q"}}}}}"#

  @Test func aLossEndsTheMessage() throws {
    let (first, second) = (
      #"{"event":"text_delta","id":"","data":{"type":"text_delta","delta":"Do not "}}"#,
      #"{"event":"text_delta","id":"","data":{"type":"text_delta","delta":"reboot"}}"#
    )
    for between in [
      [#"{"type":"lost","reason":"x","retry_in":3}"#, #"{"type":"open","url":"ws://x/"}"#], [],
    ] {
      let folded = try Folded(
        [Self.status, first] + between + [Self.status, second, #"{"type":"turn_end"}"#],
        by: JoelclawTurns.self)
      #expect(folded.last("message", "s/1")?["state"]?.string == "aborted")
      #expect(folded.last("message", "s/1")?["text"]?.string == "Do not ")
      #expect(folded.last("message", "s/2")?["text"]?.string == "reboot")
      #expect(folded.last("message", "s/2")?["state"]?.string == "final")
    }
  }

  @Test func anErrorThatTheAgentGetsOverIsNoEnd() throws {
    let (error, text) = (
      #"{"type":"error","message":"tool failed"}"#, #"{"type":"text_delta","delta":"on"}"#
    )
    let end = #"{"type":"status","data":{"supersession":{"activeRequest":null}}}"#
    let over = try Folded(
      [Self.status, error, text, #"{"type":"turn_end"}"#, end], by: JoelclawTurns.self)
    #expect(over.states("q") == ["running", "completed"])
    let failed = try Folded([Self.status, error, end], by: JoelclawTurns.self)
    #expect(failed.states("q") == ["running", "failed"])
    #expect(failed.last("turn")?["reason"]?.string == "tool failed")
  }
}
