import Core
import Testing

@testable import agent_serve

@Suite struct RiffTests {
  /// The digest is Python's; those of RFC 4231 have other keys.
  @Test func signatures() throws {
    let secret = try #require(RiffSecret(String(repeating: "0b", count: 32)))
    let good = secret.signature(of: Array("Hi There".utf8))
    #expect(good == "198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7")
    #expect(secret.signs(Array("Hi There".utf8), as: good))
    #expect(!secret.signs(Array("Hi there".utf8), as: good))
    #expect(!secret.signs(Array("Hi There".utf8), as: good.uppercased()))
    #expect(!secret.signs(Array("Hi There".utf8), as: nil))
    #expect(!secret.signs([], as: ""))
    #expect(RiffSecret.isSignature(good))
    for wrong in ["", String(good.dropLast()), good + "0", good.uppercased(), good + ", " + good] {
      #expect(!RiffSecret.isSignature(wrong))
    }
  }

  @Test func secrets() {
    #expect(RiffSecret(String(repeating: "aF", count: 32)) != nil)
    for wrong in [
      "", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
      String(repeating: "g", count: 64), String(repeating: "é", count: 32),
      "0x" + String(repeating: "a", count: 62), String(repeating: "\u{ff11}", count: 64),
    ] {
      #expect(RiffSecret(wrong) == nil, "\(wrong)")
    }
  }

  @Test func conversations() {
    for good in ["a", "A-b_9", String(repeating: "x", count: 64)] {
      #expect((try? RiffMessage.Conversation(good))?.key == "agent:main:riff:" + good)
    }
    for wrong in [
      "", "a b", "a:b", "../a", "a\u{0}", "ä", String(repeating: "x", count: 65), "a\n",
    ] {
      #expect(throws: Refusal.self) { try RiffMessage.Conversation(wrong) }
    }
    #expect(throws: Refusal.self) { try RiffMessage.Conversation(nil) }
    #expect(RiffMessage.Conversation(key: "agent:main:riff:a-1")?.id == "a-1")
    for other in ["agent:main:riff:", "agent:main:riff:a b", "agent:main:a", "a", "riff:a"] {
      #expect(RiffMessage.Conversation(key: other) == nil, "\(other)")
    }
  }

  @Test func messages() throws {
    let message = try RiffMessage(Array(#"{"conversation_id":"a","text":" hi ","x":1}"#.utf8))
    #expect(message.text == " hi ")
    #expect(throws: Refusal(bad: "not a JSON object")) {
      try RiffMessage(Array("[".utf8))
    }
    #expect(throws: Refusal(bad: "no text")) {
      try RiffMessage(Array(#"{"conversation_id":"a","text":"\u2028 "}"#.utf8))
    }
    #expect(throws: Refusal(bad: "not a JSON object")) {
      try RiffMessage(Array("{\"conversation_id\":\"a\",\"text\":\"\u{1}".utf8) + [0xff])
    }
  }

  @Test func times() {
    #expect(QueryParameters("").epoch("after") == 0)
    #expect(QueryParameters("after=").epoch("after") == 0)
    #expect(QueryParameters("after=1763900000.25").epoch("after") == 1_763_900_000_250)
    #expect(QueryParameters("after=1.5e3").epoch("after") == 1_500_000)
    #expect(QueryParameters("after=-1").epoch("after") == -1000)
    for wrong in ["x", "1e13", "-1e300", "Infinity", "NaN", "1,5"] {
      #expect(QueryParameters("after=\(wrong)").epoch("after") == nil, "\(wrong)")
    }
  }

  @Test func slugs() {
    for good in ["-home-ada-site", "a", "A_b-9"] { #expect(TranscriptFolder.isSlug(good)) }
    for wrong in ["", ".", "..", "a/b", "a.b", "a\u{0}", "ä", String(repeating: "x", count: 256)] {
      #expect(!TranscriptFolder.isSlug(wrong))
    }
  }

  /// No content, no length of it (RFC 9110, 8.6).
  @Test func emptyAnswer() {
    func text(_ answer: WholeAnswer) -> String {
      String(decoding: answer.bytes(isHead: false), as: UTF8.self)
    }
    let empty = text(WholeAnswer(status: 204, type: "", body: []))
    #expect(!empty.contains("Content-"))
    #expect(empty.hasSuffix("\r\n\r\n"))
    #expect(text(.busy).contains("\r\nRetry-After: 2\r\n"))
  }
}

@Suite struct FinishedTurnTests {
  private func line(_ text: String, second: Int = 1) -> String {
    #"{"type":"assistant","timestamp":"1970-01-01T00:00:0\#(second).500Z","message":{"stop_reason":"#
      + #""end_turn","content":[{"type":"text","text":"\#(text)"}]}}"# + "\n"
  }

  private func last(_ text: String) -> (FinishedTurn?, Int) {
    let (turn, end) = Array(text.utf8).withUnsafeBytes { FinishedTurn.last(in: $0) }
    return (turn, end)
  }

  @Test func theLastOne() {
    let text = line("One.") + line("Two.", second: 2)
    let (turn, end) = last(text)
    #expect(turn?.prose == "Two." && turn?.time == 2500 && end == text.utf8.count)
  }

  @Test func halfALine() {
    let one = line("One.")
    let (turn, end) = last(one + line("Two.").dropLast())
    #expect(turn?.prose == "One." && end == one.utf8.count)
    let (none, begin) = last(String(one.dropLast()))
    #expect(none == nil && begin == 0)
  }

  @Test func fromWithinALine() {
    #expect(last("_turn\"}}\n" + line("One.")).0?.prose == "One.")
    #expect(last("\n\n\n").0 == nil)
    #expect(last("").1 == 0)
  }

  @Test func wrongClocks() throws {
    let turn = try #require(last(line("One.", second: 9)).0)
    #expect(turn.asWritten(9000).time == 9500)
    #expect(turn.asWritten(-50_500).time == 9500, "a minute is no matter")
    #expect(turn.asWritten(-50_501).time == -50_501)
  }

  @Test func nothingToSay() {
    #expect(last(line("One.") + line("```\\ncode\\n```", second: 2)).0?.prose == "One.")
    #expect(last(line("`code`")).0 == nil)
  }
}

@Suite struct KeptAnswerTests {
  private let calls = Guarded(0)

  private func call(_ kept: KeptAnswers<Int>, _ key: String, keeps: Bool = true) async -> Int {
    await kept.answer(key, keeps: keeps) {
      calls.withLock { count in
        count += 1
        return count
      }
    }
  }

  @Test func theSameIsKept() async {
    let kept = KeptAnswers<Int> { $0 == 2 ? nil : 1 }
    #expect(await call(kept, "a") == 1)
    #expect(await call(kept, "a") == 1)
    #expect(await call(kept, "b") == 2)
    #expect(await call(kept, "b") == 3, "an answer that is not good is made again")
    #expect(await call(kept, "c", keeps: false) == 4)
    #expect(await call(kept, "c", keeps: false) == 5)
  }

  @Test func forAWhile() async {
    let kept = KeptAnswers<Int> { _ in 1 }
    #expect(await call(kept, "a") == 1)
    let later = ContinuousClock.now + .seconds(601)
    #expect(await kept.answer("a", now: later) { 7 } == 7)
  }

  @Test func noMoreThanFits() async {
    let kept = KeptAnswers<Int>(bytes: 10) { _ in 4 }
    for key in ["a", "b", "c"] { _ = await call(kept, key) }
    #expect(await call(kept, "c") == 3)
    #expect(await call(kept, "a") == 4, "the oldest one goes")
  }
}

@Suite struct BudgetTests {
  @Test func whatComesCounts() {
    let budget = Budget(limit: 10)
    let (one, two) = (budget.share(), budget.share())
    #expect(one.take(6) && two.take(4))
    #expect(!one.take(1) && !two.take(1) && one.take(0))
  }

  @Test func whatIsGoneIsGivenBack() {
    let budget = Budget(limit: 10)
    var one: Budget.Share? = budget.share()
    #expect(one?.take(6) == true && one?.take(4) == true && one?.take(1) == false)
    one = nil
    #expect(budget.share().take(10))
  }
}
