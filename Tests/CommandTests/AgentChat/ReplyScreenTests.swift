import Agent
import Core
import Records
import Screen
import Testing

@testable import agent_chat

/// What a terminal is shown of a turn.
@Suite struct ReplyScreenTests {
  private let origin = RecordOrigin(.openclaw)

  private func message(
    _ text: String, _ state: MessageRecord.State = .partial, id: String = "r1",
    role: MessageRecord.Role = .assistant
  ) -> ChatNews {
    .message(
      MessageRecord(
        origin, id: id, thread: "t", role: role, text: text, state: state, time: nil))
  }

  private func call(
    _ state: ToolCallRecord.State, id: String = "c1", label: String? = nil,
    arguments: String? = nil, tool: String = "exec"
  ) -> ChatNews {
    var call = ToolCallRecord(
      origin, id: id, thread: "t", tool: tool, state: state, time: nil)
    call.label = label
    call.arguments = arguments.map { Array($0.utf8) }
    return .toolCall(call)
  }

  private func shown(_ news: [ChatNews], width: Int? = nil) -> String {
    var screen = ReplyScreen(depth: .none)
    return news.map { screen.receive($0, width: width) }.joined() + screen.breakLine()
  }

  @Test func textGrowsAndEndsItsLine() {
    #expect(shown([message("a"), message("ab"), message("ab", .final)]) == "ab\n")
    #expect(shown([message("a\n", .final)]) == "a\n")
    #expect(shown([message("to myself", role: .thinking), message("a", .final)]) == "a\n")
    #expect(shown([message("", .final)]) == "")
  }

  @Test func anotherMessageIsOnItsOwnLine() {
    #expect(shown([message("one"), message("two", .final, id: "r2")]) == "one\ntwo\n")
    // The same words under their final id are not shown again.
    #expect(shown([message("one"), message("one more", .final, id: "r2")]) == "one more\n")
  }

  @Test func whatIsReplacedIsSaid() {
    #expect(shown([message("one"), message("two", .final)]) == "one\n· replaced by:\ntwo\n")
  }

  @Test func toolsAreNotes() {
    #expect(
      shown([message("a"), call(.running), call(.running), call(.succeeded, label: "ls")])
        == "a\n· exec\n· exec ls: ok\n")
    #expect(shown([call(.running, arguments: #"{"command":"ls -l"}"#)]) == "· exec ls -l\n")
    #expect(
      shown([call(.failed), call(.rejected, id: "c2")]) == "· exec: failed\n· exec: not allowed\n")
    #expect(shown([call(.waitingApproval)]) == "· exec: waits for an approval\n")
    // One line, whatever a label says.
    #expect(
      shown([call(.succeeded, label: "a\nb\u{1b}[2J", tool: "x\u{202e}")])
        == "· x\\u{202e} a ↵ b\\e[2J: ok\n")
    #expect(shown([call(.running, label: "0123456789")], width: 10) == "· exec 01…\n")
    let long = shown([call(.running, label: String(repeating: "x", count: 100_000))])
    #expect(long.utf8.count < 500)
  }

  @Test func approvalsAreNotes() {
    var approval = ApprovalRecord(
      origin, id: "a1", tool: "exec", request: Array("{}".utf8), decisions: [], state: .pending,
      time: nil)
    approval.summary = "rm"
    var done = approval
    done.state = .rejected
    #expect(
      shown([.approval(approval), .approval(approval), .approval(done)])
        == "· waits for an approval: exec rm\n· exec rm: rejected\n")
  }

  @Test func pausesAreNotes() {
    var turn = TurnRecord(origin, id: "r1", thread: "t", state: .paused, time: nil)
    turn.reason = "asks"
    #expect(shown([.turn(turn)]) == "· paused: asks\n")
  }
}
