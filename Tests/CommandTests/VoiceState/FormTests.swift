import Core
import Testing

@testable import Agent
@testable import voice_state

@Suite struct FormTests {
  private let now = Timestamp(rfc3339: "2026-06-15T21:10:00.000Z") ?? Timestamp(seconds: 0)

  private func session(_ members: String) throws -> VoiceSession {
    VoiceSession(
      try JSONValue.parse(
        text: "{\"sessionId\":\"abc\",\"startedAt\":\"2026-06-15T20:00:00.000Z\"\(members)}"))
  }

  private func speaking(_ name: String) throws -> VoiceSession {
    try session(
      ",\"activeCaptures\":[{\"userId\":\"1\",\"displayName\":\"\(name)\"}],\"activeInputStreams\":1"
    )
  }

  @Test func bars() throws {
    let one = try speaking("Kei #1 <b>")
    #expect(
      OutputForm.tmux.line([one], at: now, link: "live") == "listening 1h10m · Kei ##1 <b> talks")
    #expect(
      OutputForm.tmux.line([one, one], at: now, link: "stale")
        == "listening 1h10m · Kei ##1 <b> talks · 2 sessions (stale)")
    let waybar = try JSONValue.parse(text: OutputForm.waybar.line([one], at: now, link: "down"))
    #expect(waybar["text"]?.string == "listening 1h10m · Kei #1 &lt;b&gt; talks (down)")
    #expect(waybar["class"]?.elements.map(\.string) == ["listening", "down"])
    let i3 = try JSONValue.parse(text: OutputForm.i3.line([one], at: now, link: nil))
    #expect(i3["full_text"]?.string == "listening 1h10m · Kei #1 <b> talks")
    #expect(i3["color"]?.string == "#60a5fa")
    #expect(OutputForm.tmux.line([], at: now, link: nil) == "")
    let none = try JSONValue.parse(text: OutputForm.waybar.line([], at: now, link: nil))
    #expect(none["text"]?.string == "" && none["alt"]?.string == "none")
  }

  @Test func nothingOfOthersIsAControl() throws {
    let hostile = try speaking("\\u001b[31mx\\nfoo\\u202e")
    for form in [OutputForm.tmux, .waybar, .i3] {
      let line = form.line([hostile], at: now, link: nil)
      #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202e })
    }
  }

  @Test func signsUnderMarksAreSigns() throws {
    // To a bar a `<` is one, whatever stands over it.
    let marked = try speaking("<\u{301}&\u{20e3}#\u{fe0f}\u{20e3}")
    #expect(
      OutputForm.tmux.line([marked], at: now, link: nil)
        == "listening 1h10m · <\u{301}&\u{20e3}##\u{fe0f}\u{20e3} talks")
    let waybar = try JSONValue.parse(text: OutputForm.waybar.line([marked], at: now, link: nil))
    #expect(
      waybar["text"]?.string
        == "listening 1h10m · &lt;\u{301}&amp;\u{20e3}#\u{fe0f}\u{20e3} talks")
  }

  @Test func manyAreCounted() throws {
    let captures = (1...500).map { "{\"userId\":\"\($0)\"}" }.joined(separator: ",")
    let calls = (1...500).map { "{\"callId\":\"\($0)\",\"toolName\":\"t\"}" }.joined(
      separator: ",")
    let crowd = Summary(
      session: try session(",\"activeCaptures\":[\(captures)],\"toolCalls\":[\(calls)]"),
      now: now)
    #expect(crowd.doing.hasSuffix(" · 1, 2, 3, 4, 5, 495 more talk"))
    #expect(crowd.words.contains("; 500 tools run"))
    #expect(crowd.words.count < 300)
  }

  private func words(_ lines: [String]) -> [String] {
    lines.map { $0.split(separator: " ", maxSplits: 2).last.map(String.init) ?? "" }
  }

  @Test func changes() throws {
    var changes = Changes()
    #expect(words(changes.lines([], at: now)) == ["no voice session"])
    #expect(changes.lines([], at: now).isEmpty)
    let quiet = try session(
      #","recentTurns":[{"role":"user","speakerName":"Kei","text":"before"}]"#)
    let first = changes.lines([quiet], at: now)
    #expect(
      first.count == 1 && first[0].hasPrefix("2026-06-15T21:10:00.000Z abc begins: idle; 1h10m"))
    #expect(changes.lines([quiet], at: now).isEmpty)
    let said = try session(
      #","botTurnOpen":true,"recentTurns":[{"role":"user","speakerName":"Kei","text":"before"},{"role":"assistant","text":"yes","at":"2026-06-15T21:09:59.000Z"}]"#
    )
    #expect(words(changes.lines([said], at: now)) == ["agent: yes", "speaking"])
    // The state's time of a turn differs from its event's by a moment.
    let again = try session(
      #","recentTurns":[{"role":"assistant","text":"yes","at":"2026-06-15T21:10:01.000Z"}]"#)
    #expect(words(changes.lines([again], at: now)) == ["idle"])
    #expect(words(changes.lines([], at: now) { _ in "left" }) == ["ends: left"])
  }

  @Test func aRebuiltSessionTellsEverything() throws {
    var changes = Changes()
    let told = try session(#","participants":[{"userId":"1","displayName":"Kei"}]"#)
    #expect(
      words(changes.lines([told], at: now, tellsAll: true)).map { String($0.prefix(12)) } == [
        "begins: idle", "Kei is there",
      ])
  }

  @Test func optionsThatExcludeEachOther() {
    func problem(_ arguments: String...) -> String? {
      do {
        _ = try StateOptions.table.parse(arguments, StateOptions())
        return nil
      } catch {
        return error.problem
      }
    }
    #expect(problem("-w") == nil)
    #expect(problem("replay", "x", "--speed", "2.5") == nil)
    #expect(problem("history", "-n", "5", "--since", "2h") == nil)
    #expect(problem("-q", "-w") == "--quiet only asks for the sessions now")
    #expect(problem("--speed", "2") == "--speed is for replay and records")
    #expect(problem("replay") == "replay needs the id of a session; see voice-state history")
    #expect(problem("--panel", "session,nope")?.hasPrefix("--panel nope: no such panel") == true)
    #expect(problem("-W", "5") == "--width 5: not a whole number from 20 to 1000")
  }

  @Test func serverClock() throws {
    let session = try session(
      #","membershipEvents":[{"at":"2026-06-15T21:00:00.000Z","ageMs":61500}],"lastActivityAt":"2026-06-15T21:01:00.000Z""#
    )
    #expect(ServerClock.time(of: [session])?.rfc3339 == "2026-06-15T21:01:01.500Z")
    #expect(ServerClock.latest(in: [session])?.rfc3339 == "2026-06-15T21:01:00.000Z")
    #expect(ServerClock.time(of: []) == nil)
  }
}
