import Core
import Records
import Testing

@testable import Turns

/// What the transcript of Claude Code tells of turns.
@Suite struct ClaudeTurnsTests {
  private func line(_ type: String, _ id: String, _ members: String, at second: Int = 1) -> String {
    """
    {"parentUuid":null,"type":"\(type)","sessionId":"s","uuid":"\(id)",\
    "timestamp":"2026-03-14T09:00:\(second < 10 ? "0" : "")\(second).000Z",\(members)}
    """
  }

  private func user(_ id: String, _ text: String, _ more: String = "") -> String {
    line("user", id, #""message":{"role":"user","content":"\#(text)"}\#(more)"#)
  }

  private func says(
    _ id: String, _ name: String, _ blocks: String, stop: String = "null", output: Int = 1,
    _ more: String = ""
  ) -> String {
    line(
      "assistant", id,
      """
      "message":{"id":"\(name)","role":"assistant","content":[\(blocks)],"stop_reason":\(stop),\
      "usage":{"input_tokens":2,"cache_read_input_tokens":10,"output_tokens":\(output)}}\(more)
      """)
  }

  private func text(_ words: String) -> String { #"{"type":"text","text":"\#(words)"}"# }

  private func fold(_ lines: String...) throws -> Folded {
    try Folded(lines, by: ClaudeTurns.self)
  }

  @Test func aPromptBeginsATurnAndAnEndEndsIt() throws {
    let folded = try fold(
      user("u", "tides?"), says("a", "m", #"{"type":"thinking","thinking":"hm"}"#),
      says("b", "m", text("six"), stop: #""end_turn""#, output: 7))
    #expect(folded.states("u").last == "completed")
    #expect(folded.last("turn")?["message"]?.string == "b")
    #expect(folded.last("turn")?["usage"]?["input_tokens"]?.integer == 12, "an answer counts once")
    #expect(folded.last("turn")?["usage"]?["output_tokens"]?.integer == 7)
    #expect(folded.last("message", "m/thinking")?["role"]?.string == "thinking")
    #expect(folded.last("message", "b")?["turn"]?.string == "u")
  }

  @Test func whatWasPastedHasNoMarks() throws {
    for (said, words) in [
      (#"\n\n<pasted_content id=\"3128\">\none\ntwo\n</pasted_content id=\"3128\">\n"#, "one\ntwo"),
      (
        #"look: <pasted_content id=\"1\">\na\n</pasted_content id=\"1\"> and <pasted_content id=\"2\">\nb\n</pasted_content id=\"2\">"#,
        "look: a and b"
      ), (#"<pasted_content id=\"3\" is what I see"#, #"<pasted_content id="3" is what I see"#),
    ] {
      let folded = try fold(user("u", said))
      #expect(folded.last("message", "u")?["text"]?.string == words)
    }
  }

  @Test func whatTheProgramSaysInPlaceOfAPerson() throws {
    let folded = try fold(
      user(
        "u", "<task-notification>done</task-notification>",
        #","origin":{"kind":"task-notification"}"#),
      says("a", "m", text("I see"), stop: #""end_turn""#))
    #expect(folded.last("message", "u")?["role"]?.string == "system")
    #expect(folded.last("turn")?["state"]?.string == "completed", "it begins a turn all the same")
  }

  @Test func anAnswerThatWasTooLongGoesOn() throws {
    let folded = try fold(
      user("u", "count"), says("a", "m1", text("1 2"), stop: #""max_tokens""#),
      says("b", "m2", text("3"), stop: #""end_turn""#))
    #expect(folded.states("u").last == "completed")
    #expect(folded.last("message", "b")?["turn"]?.string == "u", "it is one turn")
  }

  @Test func anAnswerThatWasCutOffIsAborted() throws {
    let folded = try fold(
      user("u", "tides?"), says("a", "m", text("six o"), #","isAbortedMidStream":true"#),
      user("i", "[Request interrupted by user]"))
    #expect(folded.last("message", "a")?["state"]?.string == "aborted")
    #expect(folded.last("turn")?["state"]?.string == "aborted")
  }

  @Test func whoSaidNo() throws {
    let words = "The user doesn't want to proceed with this tool use."
    for (members, state) in [
      ("", "rejected"),
      (#","toolDenialKind":"user-rejected","toolDenialBeforeRun":true"#, "rejected"),
      (#","toolDenialKind":"user-rejected""#, "rejected"),
      (#","toolDenialBeforeRun":true"#, "failed"),
    ] {
      let use = #"{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}"#
      let result =
        #""message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"\#(words)"}]}\#(members)"#
      let folded = try fold(user("u", "list"), says("a", "m", use), line("user", "r", result))
      #expect(folded.last("tool_call")?["state"]?.string == state, "\(members)")
    }
  }

  @Test func aPersonsTitleGoesBeforeTheOthers() throws {
    func title(_ type: String, _ member: String, _ words: String) -> String {
      #"{"type":"\#(type)","\#(member)":"\#(words)","sessionId":"s"}"#
    }
    let folded = try fold(
      title("agent-name", "agentName", "site-3f"), title("custom-title", "customTitle", "Tides"),
      title("agent-name", "agentName", "tide-tables"))
    #expect(folded.last("thread", "s")?["title"]?.string == "Tides")
  }

  @Test func anEndWithoutAWordIsNone() throws {
    let folded = try fold(
      user("u", "tides?"), says("a", "m", text(""), stop: #""end_turn""#))
    #expect(folded.last("turn")?["state"]?.string == "running")
  }

  @Test func theNextPromptEndsWhatNeverSaysItsEnd() throws {
    let folded = try fold(user("u", "one"), says("a", "m", text("1")), user("v", "two"))
    #expect(folded.last("turn", "u")?["state"]?.string == "completed")
    #expect(folded.last("turn", "v")?["state"]?.string == "running")
  }

  @Test func whatNobodyTypedIsNoPrompt() throws {
    let folded = try fold(
      user("u", "Caveat", #","isMeta":true"#), user("v", "<command-name>/clear</command-name>"))
    #expect(folded.told.isEmpty)
  }

  @Test func aToolRunsUntilItsResult() throws {
    let use = #"{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls","n":1.10}}"#
    let result =
      #""message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a\nb"}]}"#
    let folded = try fold(
      user("u", "list"), says("a", "m", text("so:") + "," + use), line("user", "r", result))
    #expect(folded.states("t") == ["running", "succeeded"])
    #expect(folded.last("tool_call")?["tool"]?.string == "Bash")
    #expect(folded.last("tool_call")?["label"]?.string == "ls")
    #expect(folded.last("tool_call")?["stdout"]?.string == "a\nb")
    #expect(folded.last("turn")?["state"]?.string == "running", "a result is no prompt")
  }

  @Test func aQuestionPausesTheTurn() throws {
    let use = #"{"type":"tool_use","id":"t","name":"AskUserQuestion","input":{}}"#
    let result =
      #""message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#
    let folded = try fold(
      user("u", "which?"), says("a", "m", use), line("user", "r", result))
    #expect(folded.states("u").suffix(3) == ["final", "paused", "running"])
  }

  @Test func anInterruptionAborts() throws {
    let folded = try fold(user("u", "go"), user("i", "[Request interrupted by user]"))
    #expect(folded.last("turn")?["state"]?.string == "aborted")
    #expect(folded.last("message", "i") == nil)
  }

  @Test func asidesAreTurnsOfTheirOwn() throws {
    let side = #","isSidechain":true"#
    let folded = try fold(
      user("u", "go"), user("x", "look", side),
      line(
        "assistant", "y",
        #""parentUuid":"x","isSidechain":true,"message":{"id":"n","content":[\#(text("done"))],"stop_reason":"end_turn"}"#
      ))
    #expect(folded.last("turn", "x")?["parent"]?.string == "u")
    #expect(folded.last("turn", "x")?["state"]?.string == "completed")
    #expect(folded.last("turn", "u")?["state"]?.string == "running")
  }

  @Test func aTitleIsOfTheFileThatItStandsIn() throws {
    let folded = try fold(
      #"{"event":"summary","id":"s/0","data":{"type":"summary","summary":"Tides","leafUuid":"z"}}"#,
      user("u", "go"))
    #expect(folded.last("thread", "s")?["title"]?.string == "Tides")
  }

  @Test func twiceIsOnce() throws {
    let lines = [
      user("u", "go"), says("a", "m", text("1"), stop: #""end_turn""#, output: 5),
      user("v", "on"), says("b", "o", text("2"), stop: #""end_turn""#, output: 5),
    ]
    let folded = try Folded(lines + lines, by: ClaudeTurns.self)
    #expect(folded.last("turn", "u")?["usage"]?["output_tokens"]?.integer == 5)
    #expect(folded.states("v").last == "completed")
  }

  @Test func aSubagentBelongsToTheTurnInWhichItBegan() throws {
    func at(_ second: Int, _ id: String, _ more: String = "") -> String {
      line(
        "user", id, #""message":{"role":"user","content":"\#(id)"}\#(more)"#, at: second)
    }
    let side = #","isSidechain":true,"agentId":"x"#
    let folded = try fold(
      at(10, "u"), at(30, "v"), at(20, "a", side + "1\""), at(40, "b", side + "2\""),
      at(5, "c", side + "3\""))
    #expect(folded.last("turn", "x1")?["parent"]?.string == "u", "its file may come later")
    #expect(folded.last("turn", "x2")?["parent"]?.string == "v")
    #expect(folded.last("turn", "x3")?["parent"]?.string == nil)
  }

  @Test(arguments: [
    ("/p/s/subagents/agent-x.jsonl", "/p/s.jsonl"), ("s/subagents/agent-x.jsonl", "s.jsonl"),
    ("/p/agent-x.jsonl", nil), ("/p/s/subagents/x.jsonl", nil), ("agent-x.jsonl", nil),
  ])
  func theFolderOfASubagentTellsItsSession(_ path: String, _ session: String?) {
    #expect(ClaudeTranscripts.sessionFile(ofSubagent: path) == session)
  }

  @Test func whatFollowsAnEndWithoutAPromptIsATurnOfItsOwn() throws {
    let use = #"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#
    let end = says("a", "m", text("One."), stop: #""end_turn""#)
    let lines = [
      user("u", "go"), end, end, user("h", "hook feedback", #","isMeta":true"#),
      says("b", "n", use), says("c", "o", text("Really done."), stop: #""end_turn""#, output: 3),
    ]
    let folded = try Folded(lines + lines, by: ClaudeTurns.self)
    let turns = Set(folded.told.filter { $0["type"]?.string == "turn" }.map { $0["id"]?.string })
    #expect(turns == ["u", "n"], "a line that is repeated begins none")
    #expect(folded.last("turn", "u")?["usage"]?["output_tokens"]?.integer == 1)
    #expect(folded.last("turn", "n")?["state"]?.string == "completed")
    #expect(folded.last("turn", "n")?["message"]?.string == "c")
    #expect(folded.last("turn", "n")?["usage"]?["output_tokens"]?.integer == 4)
    #expect(folded.last("turn", "n")?["usage"]?["input_tokens"]?.integer == 24)
    #expect(folded.last("tool_call", "t")?["turn"]?.string == "n")
  }

  @Test func aSubagentEndsWithTheAgent() throws {
    let side = #","isSidechain":true,"agentId":"w""#
    let begun = [
      user("u", "go"), user("x", "look", side), says("y", "n", text("hm"), stop: "null", side),
    ]
    let done = says("a", "m", text("Done."), stop: #""end_turn""#)
    for (line, state) in [
      (done, "completed"), (user("v", "on"), "completed"),
      (user("i", "[Request interrupted by user]"), "aborted"),
    ] {
      let folded = try Folded(begun + [line], by: ClaudeTurns.self)
      #expect(folded.last("turn", "w")?["state"]?.string == state)
    }
    // In the background it goes on.
    let more = says("z", "p", text("more"), stop: #""end_turn""#, output: 5, side)
    let lines = begun + [done, more]
    let folded = try Folded(lines + lines, by: ClaudeTurns.self)
    let turns = Set(folded.told.filter { $0["type"]?.string == "turn" }.map { $0["id"]?.string })
    #expect(turns == ["u", "w", "p"])
    #expect(folded.last("turn", "p")?["usage"]?["output_tokens"]?.integer == 5)
    #expect(folded.last("turn", "p")?["parent"]?.string == "u")
  }
}
