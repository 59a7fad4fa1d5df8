import Core
import Testing

@testable import Shell

@Suite struct SessionRowsTests {
  private func parse(_ text: String) -> [TmuxSession]? { SessionRows.parse(Array(text.utf8)) }

  @Test func rows() throws {
    let sessions = try #require(
      parse("S|$0|riff|1|2|10|20|/home/a|claude||.\nS|$12|we\\ ird\\|x|3|0|11|21||sh||.\n"))
    #expect(sessions.map(\.name) == ["riff", "we ird|x"])
    #expect(sessions.map(\.id) == ["$0", "$12"])
    #expect(sessions[0].windows == 1 && sessions[0].attached == 2)
    #expect(sessions[0].created.seconds == 10 && sessions[0].activity.seconds == 20)
    #expect(sessions[1].directory.isEmpty)
  }

  @Test func nothing() {
    #expect(parse("") == [])
    #expect(parse("\n") == [])
    #expect(parse("some warning\n") == [])
  }

  @Test func lineEndsInAPath() throws {
    // tmux 3.3 writes them as they are, tmux 3.4 escaped.
    for path in ["/a\nS\\|\\$1\\|x\n.", "/a\\nS\\|\\$1\\|x\\012."] {
      let sessions = try #require(
        parse("warning\nS|$0|n|1|0|1|1|\(path)|c||.\nS|$1|m|1|0|1|1|/|c||.\n"))
      #expect(sessions.map(\.name) == ["n", "m"])
      #expect(sessions[0].directory == Array("/a\nS|$1|x\n.".utf8))
    }
  }

  @Test func bytesThatAreNoText() throws {
    let row = Array("S|$0|n|1|0|1|1|/\\377".utf8) + [0xfe] + Array("\\\\n|c||.".utf8)
    let session = try #require(SessionRows.parse(row)?.first)
    #expect(session.directory == [0x2f, 0xff, 0xfe, 0x5c, 0x6e])
    #expect(
      String(decoding: session.record, as: UTF8.self).holds(
        #""directory":"/\u{fffd}\u{fffd}\\n""#.exchanging(text: "\\u{fffd}", for: "\u{fffd}")))
  }

  /// The state in a row of panes, each as its fields stand in it.
  private func state(_ panes: String...) -> AgentState? {
    let groups = panes.map { "P|%1|1|0|\($0)|4|0|" }.joined()
    return parse("S|$0|n|1|0|1|1|/|c||\(groups).\n")?.first?.state
  }

  @Test func states() throws {
    #expect(state() == .unknown)
    #expect(state("0|claude||||") == .unknown)
    let waiting = try #require(
      state("0|claude|claude|waiting|2026-11-23T05:00:00Z|P\\|0\\|\n.\\ #{x}"))
    #expect(waiting.kind == .waiting && waiting.reason == "P|0|\n. #{x}")
    #expect(waiting.since?.rfc3339 == "2026-11-23T05:00:00.000Z")
    #expect(state("0|claude|claude|WAITING||") == .unknown)
    #expect(state("0|claude|claude|unknown||x") == .unknown)
    #expect(state("0|claude|claude|idle|yesterday|") == AgentState(.idle))
  }

  @Test func theMostUrgentPane() {
    let idle = "0|c|c|idle||first"
    let working = "0|c|c|working||second"
    #expect(state(idle, working, "0|c|c|||")?.reason == "second")
    #expect(state(working, idle, "0|c|c|waiting||third")?.reason == "third")
    #expect(state(idle, "1|c|c|waiting||dead")?.reason == "first")
  }

  @Test func whoHasGoneSaysNothing() {
    for (now, then, isGone) in [
      ("claude", "claude", false), ("node", "claude", false), ("bash", "claude", true),
      ("-zsh", "node", true), ("sh", "", true), ("sh", "sh", false), ("bash", "dash", false),
      ("bash", "agent-state", false), ("claude", "", false),
    ] {
      #expect((state("0|\(now)|\(then)|working||")?.kind == .unknown) == isGone, "\(now) \(then)")
    }
    #expect(state("1|claude|claude|working||") == .unknown)
  }

  @Test func aReasonIsCut() {
    let reason = state("0|c|c|idle||" + String(repeating: "ü", count: 9000))?.reason
    #expect(reason?.unicodeScalars.count == 500)
  }

  @Test func agentsKnownByTheirProcesses() throws {
    let sessions = try #require(
      parse(
        "A|codex|1|44 40 1|/home/a\nA|rm -r|1|50|/\nA|gemini|1|60 1|/g\nA|aider|1|70 44 40|/\n"
          + "O|mine|$0|w|1|0|10|0|/home/a|node||P|%0|1|0|0|node|||||40|0|\n"
          + "S|$3|here|1|0|1|1|/|sh||.\n"))
    #expect(sessions.map(\.name) == ["here", "w", "gemini"])
    #expect(sessions.map(\.harness) == [nil, "codex", "gemini"])
    #expect(sessions.map(\.place) == [.here, .server("mine"), .process(60)])
    #expect(sessions.allSatisfy { $0.state == .unknown && $0.conversation == nil })
  }

  @Test func whatIsNoList() {
    for text in [
      "S|$0|riff|1|2|10|20|/home/a|claude|", "S|$0|riff|1|2|10|20|/home/a|claude||.x",
      "S|$0|riff|one|2|10|20|/|c||.", "S|0|riff|1|2|10|20|/|c||.", "S|$0||1|2|10|20|/|c||.",
      "S|$0|a\\", "S|$0|n|1|0|1|1|/|c||P|%1|1|0|0|c|.",
      "S|$0|n|1|0|1|1|/|c||P|%1|1|0|0|c|c|idle||x|P|.",
    ] {
      #expect(parse(text) == nil, "\(text)")
    }
  }

  @Test func everyCutIsNoticedOrWhole() {
    // The frame notices first; this is the second wall.
    let text = "S|$0|riff|1|2|10|20|/home/a|claude||.\nS|$1|b|1|2|10|20|/home/a|claude||.\n"
    for length in 0..<text.utf8.count {
      let sessions = parse(String(text.utf8.prefix(length))!)
      #expect(sessions == nil || sessions!.allSatisfy { $0.command == Array("claude".utf8) })
    }
  }
}
