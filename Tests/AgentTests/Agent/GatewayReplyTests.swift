import Core
import Records
import Testing
import Turns

@testable import Agent

/// The text of a run (Agent/OpenClaw/CONTRACT.md 7).
@Suite struct ReplyTextTests {
  private let now = Timestamp(seconds: 100)

  private func reply() -> GatewayTurn {
    GatewayTurn(
      ChatQuestion(thread: nil, agent: nil, text: "tide?", key: "k"), thread: "agent:heron:main",
      origin: RecordOrigin(.openclaw), asked: 100_000, since: 40_000)
  }

  /// An event of chat, of this run.
  private func chat(_ turn: inout GatewayTurn, _ payload: String) {
    Array((#"{"runId":"k","# + payload.dropFirst()).utf8).withUnsafeBytes {
      let event = GatewayEvent(name: "chat", payload: ScanValue($0), seq: nil, bytes: $0)
      _ = turn.receive(event, now: now)
    }
  }

  /// The history says what the run has said so far.
  private func reseat(_ turn: inout GatewayTurn, _ text: String) throws {
    let history = try JSONValue.parse(text: #"{"inFlightRun":{"runId":"k","text":"\#(text)"}}"#)
    _ = turn.receive(GatewayHistory(history, key: "agent:heron:main"), now: now)
  }

  private func texts(_ payloads: [String]) -> ([String], GatewayTurn) {
    var turn = reply()
    let texts = payloads.map { payload in
      chat(&turn, payload)
      return turn.text
    }
    return (texts, turn)
  }

  private func message(_ text: String) -> String {
    "\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"\(text)\"}]}"
  }

  @Test func onProtocolThreeEveryDeltaIsTheWholeText() throws {
    let (texts, reply) = texts([
      "{\"state\":\"delta\",\(message("High"))}", "{\"state\":\"delta\",\(message("High at 06"))}",
      "{\"state\":\"final\",\(message("High at 06:12."))}",
    ])
    #expect(texts == ["High", "High at 06", "High at 06:12."])
    #expect(reply.end == .answered)
  }

  @Test func onProtocolFourAMessageWinsAndTheRestIsAppended() throws {
    let (texts, _) = texts([
      "{\"state\":\"status\",\"phase\":\"starting_model\"}",
      "{\"state\":\"delta\",\"deltaText\":\"High\",\(message("High"))}",
      "{\"state\":\"delta\",\"deltaText\":\" at 06\"}",
      // One who comes late gets all, in a frame whose delta is but the end of it.
      "{\"state\":\"delta\",\"deltaText\":\":12.\",\(message("High at 06:12."))}",
      "{\"state\":\"final\"}", "{\"state\":\"delta\",\"deltaText\":\"!\"}",
    ])
    #expect(
      texts == ["", "High", "High at 06", "High at 06:12.", "High at 06:12.", "High at 06:12."])
  }

  @Test func aCharacterThatIsCutBetweenPiecesIsWhole() throws {
    let (texts, _) = texts([
      #"{"state":"delta","deltaText":"a\ud83d"}"#, #"{"state":"delta","deltaText":"\ude00"}"#,
      #"{"state":"delta","deltaText":"b\ud83d"}"#,
      #"{"state":"delta","deltaText":"c\ud83d","replace":true}"#,
      #"{"state":"delta","deltaText":"\ude00\ud83d"}"#, #"{"state":"final"}"#,
    ])
    #expect(texts == ["a", "a😀", "a😀b", "c", "c😀", "c😀\u{fffd}"])
  }

  @Test func whatReplacesIsTheWholeTextAlsoWhenItIsEmpty() throws {
    let (texts, _) = texts([
      "{\"state\":\"delta\",\(message("Draft one"))}",
      "{\"state\":\"delta\",\"deltaText\":\"\",\"replace\":true}",
      "{\"state\":\"delta\",\"deltaText\":\"Better\"}",
      "{\"state\":\"delta\",\"deltaText\":\"Best\",\"replace\":true}",
    ])
    #expect(texts == ["Draft one", "", "Better", "Best"])
  }

  @Test func blocksAreJoinedAndThoughtsLeftOut() throws {
    let value = try JSONValue.parse(
      text:
        #"{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#
    )
    #expect(OpenClawMessage.text(of: value) == "ab")
    #expect(OpenClawMessage.text(of: try JSONValue.parse(text: #"{"content":"plain"}"#)) == "plain")
    #expect(OpenClawMessage.text(of: try JSONValue.parse(text: #"{"content":[]}"#)) == nil)
  }

  @Test(arguments: [#"[]"#, #""""#, #"[{"type":"text","text":""}]"#])
  func anEmptyFinalKeepsTheText(content: String) throws {
    let (texts, _) = texts([
      "{\"state\":\"delta\",\(message("kept"))}",
      #"{"state":"final","message":{"role":"assistant","content":\#(content)}}"#,
    ])
    #expect(texts == ["kept", "kept"])
  }

  @Test func aHoleIsNotAppendedTo() throws {
    var turn = reply()
    chat(&turn, #"{"state":"delta","deltaText":"one "}"#)
    turn.tear()
    chat(&turn, #"{"state":"delta","deltaText":"three"}"#)
    #expect(turn.text == "one " && turn.isTorn)
    try reseat(&turn, "one two three")
    #expect(turn.text == "one two three")
    // It may be in the history already.
    chat(&turn, #"{"state":"delta","deltaText":" three"}"#)
    #expect(turn.text == "one two three" && turn.isTorn)
    chat(&turn, "{\"state\":\"delta\",\"deltaText\":\"r\",\(message("one two three four"))}")
    #expect(turn.text == "one two three four" && !turn.isTorn)
  }

  /// The answer to a question about the past may come behind what streamed since.
  @Test func anOldTextTakesNothingBack() throws {
    var turn = reply()
    turn.tear()
    chat(&turn, "{\"state\":\"delta\",\"deltaText\":\"b\",\(message("ab"))}")
    try reseat(&turn, "a")
    chat(&turn, #"{"state":"delta","deltaText":"c"}"#)
    #expect(turn.text == "abc")
    turn.tear()
    try reseat(&turn, "ab")
    #expect(turn.text == "abc" && turn.isTorn)
  }

  @Test func anErrorSaysItsKind() throws {
    let (_, reply) = texts([
      #"{"state":"error","errorKind":"rate_limit","errorMessage":"slow down"}"#
    ])
    #expect(reply.end == .failed("rate_limit: slow down"))
  }
}

/// What is left in a conversation (Agent/OpenClaw/CONTRACT.md 6).
@Suite struct GatewayHistoryTests {
  private func history(_ text: String) throws -> GatewayHistory {
    GatewayHistory(try JSONValue.parse(text: text), key: "agent:heron:main")
  }

  private let rows = #"""
    {"messages":[{"role":"user","content":"tide?","timestamp":5000},
     {"role":"assistant","content":[{"type":"thinking","thinking":"look"},{"type":"text","text":"High at "},{"type":"text","text":"06:12."}],"timestamp":6000},
     {"role":"toolResult","content":[],"timestamp":6100},
     {"role":"user","content":"and low?","timestamp":7000}]}
    """#

  @Test func rowsWithoutWordsAreLeftOut() throws {
    let records = try history(rows).records(RecordOrigin(.openclaw))
    #expect(records.map(\.text) == ["tide?", "High at 06:12.", "and low?"])
    #expect(records.map(\.role) == [.user, .assistant, .user])
    #expect(Set(records.map(\.id)).count == 3)
  }

  @Test func aTimeThatNoCalendarHasIsNone() throws {
    let odd = try history(
      #"{"messages":[{"role":"user","content":"x","timestamp":1e300},{"role":"user","content":"y","timestamp":"z"}]}"#
    )
    #expect(odd.records(RecordOrigin(.openclaw)).map(\.time) == [nil, nil])
  }

  @Test func anAnswerIsFoundBehindItsQuestion() throws {
    let history = try history(rows)
    func trace(_ text: String, since: Int64 = 0) -> GatewayHistory.Trace {
      history.trace(of: ChatQuestion(thread: nil, agent: nil, text: text, key: "k"), since: since)
    }
    #expect(trace("tide?\n") == .answered("High at 06:12.", cut: []))
    #expect(trace("and low?") == .said)
    #expect(trace("what?") == .absent)
    // The same words of an earlier day are another question.
    #expect(trace("tide?", since: 5001) == .absent)
  }
}

/// A question and its reply (Agent/OpenClaw/CONTRACT.md 6 and 7).
@Suite struct GatewayTurnTests {
  private let now = Timestamp(seconds: 100)

  private func turn() -> GatewayTurn {
    GatewayTurn(
      ChatQuestion(thread: nil, agent: nil, text: "tide?", key: "k"), thread: "agent:heron:main",
      origin: RecordOrigin(.openclaw), asked: 100_000, since: 40_000)
  }

  private func feed(_ turn: inout GatewayTurn, _ name: String, _ payload: String) -> [ChatNews] {
    Array(payload.utf8).withUnsafeBytes {
      turn.receive(GatewayEvent(name: name, payload: ScanValue($0), seq: nil, bytes: $0), now: now)
    }
  }

  private func text(_ news: [ChatNews]) -> String {
    news.map { each in
      switch each {
      case .message(let message), .ambient(let message): "\(message.state):\(message.text)"
      case .turn(let turn): "turn \(turn.state)"
      case .toolCall(let call): "\(call.tool) \(call.state) \(call.label ?? "")"
      case .approval: "approval"
      case .thread: "thread"
      }
    }.joined(separator: "|")
  }

  @Test func anotherRunIsNotOurs() {
    var turn = turn()
    #expect(feed(&turn, "chat", #"{"runId":"x","state":"final"}"#).isEmpty)
    #expect(turn.end == nil)
  }

  @Test func aReplyIsToldWholeEachTime() {
    var turn = turn()
    #expect(
      text(feed(&turn, "chat", #"{"runId":"k","state":"delta","deltaText":"a"}"#))
        == "turn running|partial:a")
    #expect(
      text(feed(&turn, "chat", #"{"runId":"k","state":"delta","deltaText":"b"}"#)) == "partial:ab")
    #expect(
      text(feed(&turn, "chat", #"{"runId":"k","state":"final"}"#)) == "final:ab|turn completed")
    #expect(turn.end == .answered)
    #expect(feed(&turn, "chat", #"{"runId":"k","state":"error","errorMessage":"late"}"#).isEmpty)
  }

  @Test func toolsAreJoinedByTheirCalls() {
    var turn = turn()
    let start =
      #"{"runId":"k","stream":"tool","ts":1,"data":{"phase":"start","name":"exec","toolCallId":"c","args":{"a":1}}}"#
    let result =
      #"{"runId":"k","stream":"tool","ts":2,"data":{"phase":"result","toolCallId":"c","isError":true,"meta":"ls"}}"#
    #expect(text(feed(&turn, "agent", start)) == "turn running|exec running ")
    #expect(text(feed(&turn, "agent", result)) == "exec failed ls")
    #expect(feed(&turn, "agent", start).isEmpty)
  }

  @Test func whatIsTooDeepLeavesAHole() {
    var turn = turn()
    let deep = String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000)
    _ = feed(&turn, "chat", #"{"runId":"k","state":"delta","deltaText":"one ","x":\#(deep)}"#)
    #expect(turn.isTorn && turn.isTaken)
  }

  @Test func aTornEndIsNotToldBeforeItIsWhole() throws {
    var turn = turn()
    _ = feed(&turn, "chat", #"{"runId":"k","state":"delta","deltaText":"one "}"#)
    turn.tear()
    #expect(feed(&turn, "chat", #"{"runId":"k","state":"final"}"#).isEmpty)
    #expect(turn.isTorn)
    let history = GatewayHistory(
      try JSONValue.parse(
        text:
          #"{"messages":[{"role":"user","content":"tide?"},{"role":"assistant","content":"one two"}]}"#
      ), key: "agent:heron:main")
    let (news, _) = turn.receive(history, now: now)
    #expect(text(news) == "final:one two|turn completed")
    #expect(turn.end == .answered)
  }

  @Test func aRunThatGoesOnIsTakenUp() throws {
    var turn = turn()
    _ = feed(&turn, "chat", #"{"runId":"k","state":"delta","deltaText":"one "}"#)
    turn.tear()
    let history = GatewayHistory(
      try JSONValue.parse(
        text:
          #"{"messages":[{"role":"user","content":"tide?"}],"inFlightRun":{"runId":"k","text":"one two "}}"#
      ), key: "agent:heron:main")
    #expect(text(turn.receive(history, now: now).news) == "partial:one two ")
    #expect(feed(&turn, "chat", #"{"runId":"k","state":"delta","deltaText":"three"}"#).isEmpty)
    let whole =
      #"{"runId":"k","state":"delta","deltaText":"!","message":{"content":"one two three!"}}"#
    #expect(text(feed(&turn, "chat", whole)) == "partial:one two three!")
  }
}
