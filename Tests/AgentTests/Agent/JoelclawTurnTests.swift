import Core
import Records
import Testing
import Turns
import Web

@testable import Agent

/// What becomes of a prompt to a joelclaw gateway, of which nothing is confirmed.
@Suite struct JoelclawTurnTests {
  private let start = Timestamp(seconds: 1_789_000_000)

  private func status(
    _ id: String? = nil, _ source: String = "tui", at second: Int64 = 0, pid: Int = 1
  ) throws -> JoelclawStatus {
    let time = Timestamp(seconds: 1_789_000_000 + second).rfc3339
    let active = id.map { #"{"id":"\#($0)","source":"\#(source)","enqueuedAt":"\#(time)"}"# }
    let text = #"{"pid":\#(pid),"supersession":{"activeRequest":\#(active ?? "null")}}"#
    return try #require(JoelclawStatus(try JSONValue.parse(text: text)))
  }

  private func turn() -> JoelclawTurn {
    JoelclawTurn(
      ChatQuestion(thread: nil, agent: nil, text: "hello", key: "k"),
      RecordOrigin(.joelclaw), thread: "gateway", patience: nil, now: start, clock: 0)
  }

  /// One that was sent at the first second.
  private func sent(_ before: JoelclawStatus...) throws -> JoelclawTurn {
    var turn = turn()
    for each in try before + [status()] { _ = turn.receive(each, now: start, clock: 0) }
    #expect(turn.isFree)
    _ = turn.sent("hello", now: start, clock: 0)
    return turn
  }

  private func isTaken(_ turn: JoelclawTurn) -> Bool {
    if case .taken = turn.phase { true } else { false }
  }

  @Test func aBusyAgentIsWaitedFor() throws {
    var turn = turn()
    _ = turn.receive(try status("a", "telegram"), now: start, clock: 1)
    #expect(!turn.isFree)
    _ = turn.giveUp(now: start, clock: 299)
    #expect(turn.end == nil)
    _ = turn.giveUp(now: start, clock: 300)
    guard case .refused(let problem) = turn.end else { return #expect(Bool(false)) }
    #expect(problem.status == .temporary)
    #expect(problem.message.hasPrefix("the agent is busy with a request of telegram"))
  }

  @Test func aNewerRequestOfTheSocketIsOurs() throws {
    var turn = try sent()
    let news = turn.receive(try status("a"), now: start, clock: 0.1)
    #expect(isTaken(turn))
    #expect(news.count == 2)
    for (id, source, second): (String, String, Int64) in [
      ("b", "telegram", 0), ("c", "tui", -61), ("d", "tui", -3600),
    ] {
      var other = try sent()
      _ = other.receive(try status(id, source, at: second), now: start, clock: 0.1)
      #expect(!isTaken(other), "\(source) \(second)")
    }
    // A clock that is behind, but not behind what was seen before.
    var behind = try sent()
    _ = behind.receive(try status("e", at: -30), now: start, clock: 0.1)
    #expect(isTaken(behind))
    var older = try sent(try status("f", at: -20))
    _ = older.receive(try status("f", at: -20), now: start, clock: 0.1)
    #expect(!isTaken(older))
  }

  @Test func nothingActiveTwiceIsTheEnd() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    _ = turn.receive(.text("One."), now: start, clock: 0.2)
    _ = turn.receive(.turnEnd, now: start, clock: 0.3)
    _ = turn.receive(try status(), now: start, clock: 0.4)
    #expect(turn.end == nil)
    _ = turn.receive(.text("Two."), now: start, clock: 0.5)
    _ = turn.receive(try status(), now: start, clock: 0.7)
    _ = turn.receive(.turnEnd, now: start, clock: 0.8)
    _ = turn.receive(try status(), now: start, clock: 0.9)
    #expect(turn.end == nil)
    // Of several messages there may be one more.
    _ = turn.receive(try status(), now: start, clock: 1.8)
    #expect(turn.end == nil)
    let news = turn.receive(try status(), now: start, clock: 2)
    #expect(turn.end == .answered)
    guard case .turn(let record) = news.last else { return #expect(Bool(false)) }
    #expect(record.state == .completed)
    #expect(record.message == "k/2")
  }

  @Test func aCharacterThatIsCutBetweenPiecesIsWhole() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    for piece in [#"a\ud83d"#, #"\ude00b\ud83d"#, #"\ude00\ud83d"#] {
      let frame = Array(#"{"type":"text_delta","delta":"\#(piece)"}"#.utf8)
      let event = try frame.withUnsafeBytes { try JoelclawEvent($0) }
      _ = turn.receive(event, now: start, clock: 0.2)
    }
    let news = turn.receive(.turnEnd, now: start, clock: 0.3)
    #expect(texts(news) == [" final a😀b😀\u{fffd}"])
  }

  @Test func anotherRequestIsTheEndAtOnce() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    _ = turn.receive(.text("One."), now: start, clock: 0.2)
    _ = turn.receive(.turnEnd, now: start, clock: 0.3)
    _ = turn.receive(try status("b", "telegram"), now: start, clock: 0.4)
    #expect(turn.end == .answered)
  }

  /// The final messages of the turn, and those of nobody.
  private func texts(_ news: [ChatNews]) -> [String] {
    news.compactMap { each in
      switch each {
      case .message(let record) where record.role == .assistant:
        "\(record.turn == nil ? "?" : "") \(record.state) \(record.text)"
      case .ambient(let record): "- \(record.state) \(record.text)"
      default: nil
      }
    }
  }

  @Test func whatFollowsOurEndMayBeSomebodyElses() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    #expect(texts(turn.receive(.text("One."), now: start, clock: 0.2)) == [" partial One."])
    _ = turn.receive(.turnEnd, now: start, clock: 0.3)
    #expect(turn.pace.due <= 0.3, "it is asked at once whose the next one is")
    #expect(texts(turn.receive(.text("Theirs"), now: start, clock: 0.4)) == [], "is held")
    let news = turn.receive(try status("b", "telegram"), now: start, clock: 0.5)
    #expect(texts(news) == ["- aborted Theirs"])
    #expect(turn.end == .answered)
  }

  @Test func aStatusMayBeOlderThanTheEnd() throws {
    for isWhole in [true, false] {
      var turn = try sent()
      _ = turn.receive(try status("a"), now: start, clock: 0.1)
      _ = turn.receive(.text("One."), now: start, clock: 0.2)
      _ = turn.receive(.turnEnd, now: start, clock: 0.3)
      _ = turn.receive(try status("a"), now: start, clock: 0.31)
      #expect(texts(turn.receive(.text("Theirs"), now: start, clock: 0.4)) == [])
      if isWhole { _ = turn.receive(.turnEnd, now: start, clock: 0.4) }
      _ = turn.receive(try status("b", "telegram"), now: start, clock: 0.5)
      // Whole, it may as well be the last one of ours.
      if isWhole {
        guard case .lost = turn.end else { return #expect(Bool(false)) }
      } else {
        #expect(turn.end == .answered)
      }
    }
  }

  @Test func whatIsHeldIsOursWhileNothingElseIsActive() throws {
    for active in ["a", nil] {
      var turn = try sent()
      _ = turn.receive(try status("a"), now: start, clock: 0.1)
      _ = turn.receive(.text("One."), now: start, clock: 0.2)
      _ = turn.receive(.turnEnd, now: start, clock: 0.3)
      _ = turn.receive(.text("Two."), now: start, clock: 0.4)
      _ = turn.receive(.turnEnd, now: start, clock: 0.45)
      _ = turn.receive(.text("Th"), now: start, clock: 0.46)
      let news = turn.receive(try status(active), now: start, clock: 0.5)
      #expect(texts(news) == [" final Two.", " partial Th"])
      let rest = turn.receive(.text("ree"), now: start, clock: 0.6)
      #expect(texts(rest) == [" partial Three"])
    }
  }

  @Test func aMessageThatIsTakenOverIsTorn() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    _ = turn.receive(.text("Start"), now: start, clock: 0.2)
    _ = turn.receive(.text("THEIRS"), now: start, clock: 5)
    _ = turn.receive(.turnEnd, now: start, clock: 5.01)
    let news = turn.receive(try status("b", "telegram"), now: start, clock: 5.02)
    #expect(texts(news) == [" aborted Start"])
    guard case .lost = turn.end else { return #expect(Bool(false)) }
  }

  @Test func whatWasSaidToOthersIsNotOurs() throws {
    var turn = try sent()
    _ = turn.receive(try status("b", "telegram"), now: start, clock: 0.1)
    _ = turn.receive(.text("SECRET"), now: start, clock: 0.2)
    _ = turn.receive(try status("b", "telegram"), now: start, clock: 0.3)
    let news = turn.receive(try status("a"), now: start, clock: 0.4)
    #expect(texts(news) == ["- aborted SECRET"])
    #expect(texts(turn.receive(.text("Hi"), now: start, clock: 0.5)) == [" partial Hi"])
  }

  @Test func aWholeMessageThatMayBeOursIsAHole() throws {
    var turn = try sent()
    _ = turn.receive(try status("b", "telegram"), now: start, clock: 0.1)
    _ = turn.receive(.text("One."), now: start, clock: 0.2)
    _ = turn.receive(.turnEnd, now: start, clock: 0.2)
    _ = turn.receive(try status("a"), now: start, clock: 0.3)
    _ = turn.receive(.text("Two."), now: start, clock: 0.4)
    _ = turn.receive(.turnEnd, now: start, clock: 0.4)
    _ = turn.receive(try status("c", "telegram"), now: start, clock: 0.5)
    guard case .lost(let reason) = turn.end else { return #expect(Bool(false)) }
    #expect(reason.hasPrefix("it is not known of all"))
  }

  @Test func aToolWithoutAnEndIsNoWholeAnswer() throws {
    let call = JoelclawEvent.toolCall(id: "t", tool: "exec", arguments: nil)
    let result = JoelclawEvent.toolResult(id: "t", tool: nil, output: "ok", isError: false)
    for isOpen in [true, false] {
      var turn = try sent()
      // Before the request is seen, too.
      _ = turn.receive(call, now: start, clock: 0.05)
      let news = turn.receive(try status("a"), now: start, clock: 0.1)
      guard case .toolCall(let record) = news.last else { return #expect(Bool(false)) }
      #expect(record.turn == "k")
      if !isOpen { _ = turn.receive(result, now: start, clock: 0.2) }
      for clock in [0.3, 5.2, 5.4] { _ = turn.receive(try status(), now: start, clock: clock) }
      if isOpen {
        #expect(turn.end == .lost("the agent is done, but a tool of the answer has no end"))
      } else {
        #expect(turn.end == .answered)
      }
    }
  }

  @Test func aFailureIsNotOverBySomebodyElsesWords() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    _ = turn.receive(.error("overloaded"), now: start, clock: 0.2)
    _ = turn.receive(.text("THEIRS"), now: start, clock: 0.3)
    _ = turn.receive(try status("b", "telegram"), now: start, clock: 0.4)
    #expect(turn.end == .failed("overloaded"))
  }

  @Test func aLossLeavesAHole() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    _ = turn.lost(now: start, clock: 0.2)
    _ = turn.receive(try status("a"), now: start, clock: 1)
    _ = turn.receive(.text("rest"), now: start, clock: 1.1)
    _ = turn.receive(.turnEnd, now: start, clock: 1.2)
    _ = turn.receive(try status("b"), now: start, clock: 1.3)
    guard case .lost = turn.end else { return #expect(Bool(false)) }
  }

  @Test func aRestartedGatewayBeginsAgain() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    _ = turn.receive(.text("half"), now: start, clock: 0.2)
    _ = turn.lost(now: start, clock: 0.3)
    _ = turn.receive(try status(pid: 2), now: start, clock: 1)
    #expect(turn.end == nil)
    // It may speak before it is asked.
    _ = turn.receive(.text("who"), now: start, clock: 1.9)
    _ = turn.receive(try status("z", pid: 2), now: start, clock: 2)
    _ = turn.receive(.text("le"), now: start, clock: 2.1)
    _ = turn.receive(.turnEnd, now: start, clock: 2.2)
    _ = turn.receive(try status("b", at: 9, pid: 2), now: start, clock: 2.3)
    #expect(turn.end == .answered)
  }

  @Test func oneThatDoesNotBeginAgainHasLostTheAnswer() throws {
    var turn = try sent()
    _ = turn.receive(try status("a"), now: start, clock: 0.1)
    _ = turn.lost(now: start, clock: 0.3)
    _ = turn.receive(try status(pid: 2), now: start, clock: 1)
    _ = turn.receive(try status(pid: 2), now: start, clock: 10.9)
    #expect(turn.end == nil)
    _ = turn.receive(try status(pid: 2), now: start, clock: 11.1)
    guard case .lost = turn.end else { return #expect(Bool(false)) }
  }

  @Test func aStatusIsAskedForTwiceAsLateEachTime() {
    var pace = StatusPace()
    #expect(pace.due == .infinity)
    pace.begin(0)
    var times: [Double] = []
    for _ in 0..<7 {
      let now = pace.due
      times.append(now)
      pace.asked(now)
      pace.answered(now)
    }
    #expect(times == [0.25, 0.5, 1, 2, 4, 8, 12])
  }
}
