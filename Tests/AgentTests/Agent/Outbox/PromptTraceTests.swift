import Core
import Records
import Testing
import Web

@testable import Agent

/// What the end of a prompt means for what waits in the outbox.
struct PromptTraceTests {
  private let temporary = Failure("away", .temporary)
  private let denied = Failure("not let in", .denied)
  private let refusal = Failure("not these words", .failure)

  private func message(_ role: MessageRecord.Role, _ state: MessageRecord.State) -> ChatNews {
    .message(
      MessageRecord(
        RecordOrigin(.openclaw), id: "m", thread: "t", role: role, text: "hello", state: state,
        time: nil))
  }

  /// `done`, `dropped: reason` or `waits: reason`.
  private func outcome(
    _ end: ChatEnd, knowsKeys: Bool = false, _ happened: (inout PromptTrace) -> Void = { _ in }
  ) -> String {
    var trace = PromptTrace()
    happened(&trace)
    switch trace.outcome(end, knowsKeys: knowsKeys) {
    case .ack(let ack): return ack.state.rawValue + (ack.reason.map { ": \($0)" } ?? "")
    case .waits(let problem): return "waits: \(problem.message)"
    }
  }

  @Test func anAnswerIsKept() {
    var trace = PromptTrace()
    trace.begin()
    trace.receive(message(.assistant, .final))
    guard case .ack(let ack) = trace.outcome(.answered, knowsKeys: false) else {
      Issue.record("no answer")
      return
    }
    #expect(ack.state == .done && ack.answer == "hello" && ack.reason == nil)
  }

  @Test func whatTheAgentMakesOfItIsAnAnswer() {
    #expect(outcome(.failed("why")) { $0.begin() } == "done: the agent failed: why")
    #expect(outcome(.aborted(nil)) { $0.begin() } == "done: aborted")
    #expect(
      outcome(.paused("make")) { $0.begin() } == "done: the agent waits for a person: make")
  }

  @Test func whatNeverWentOutWaits() {
    #expect(outcome(.lost("gone")) == "waits: gone")
    #expect(outcome(.aborted("^C")) == "waits: aborted: ^C")
    #expect(outcome(.refused(temporary)) == "waits: away")
    #expect(outcome(.refused(denied)) == "waits: not let in")
    // Nobody was there who could have meant the words.
    #expect(outcome(.refused(refusal)) == "waits: not these words")
  }

  @Test func whatWasSentAndNotAnsweredIsNotKnown() {
    for knowsKeys in [true, false] {
      #expect(outcome(.lost("gone"), knowsKeys: knowsKeys) { $0.begin() } == "waits: gone")
    }
    let states: [MessageRecord.State] = [.queued, .sent, .unconfirmed]
    for state in states {
      #expect(
        outcome(.lost("gone")) {
          $0.begin()
          $0.receive(message(.user, state))
        } == "waits: gone")
    }
  }

  @Test func whatIsKnownToHaveArrivedIsSaid() {
    for news in [message(.user, .final), message(.assistant, .partial)] {
      #expect(
        outcome(.lost("gone")) {
          $0.begin()
          $0.receive(news)
        } == "done: no answer was seen: gone")
      // With a key it is asked for again.
      #expect(
        outcome(.lost("gone"), knowsKeys: true) {
          $0.begin()
          $0.receive(news)
        } == "waits: gone")
    }
  }

  @Test func aServerMayRefuseWords() {
    let open = LinkNews.open(place: "ws://a", isFirst: true, down: nil)
    #expect(outcome(.refused(refusal)) { $0.receive(open) } == "dropped: not these words")
    #expect(outcome(.refused(refusal)) { $0.begin() } == "dropped: not these words")
    #expect(outcome(.refused(temporary)) { $0.receive(open) } == "waits: away")
  }

  @Test func whatGoesWrongHereIsNoRefusal() {
    let full = Failure("disk full", .failure)
    #expect(
      outcome(.refused(full)) {
        $0.receive(.open(place: "ws://a", isFirst: true, down: nil))
        $0.fail(full)
      } == "waits: disk full")
    let end = Failure("not a WebSocket", .failure)
    #expect(outcome(.refused(end)) { $0.receive(.ended(end)) } == "waits: not a WebSocket")
  }
}
