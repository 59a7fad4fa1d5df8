import Core
import Records
import Screen
import Testing

@testable import Agent
@testable import voice_state

@Suite struct PanelTests {
  private func panel<P: Panel>(_ type: P.Type, _ session: String) throws -> P? {
    P(try voiceSession(session), at: Now(voiceTestNow))
  }

  private func lines<P: Panel>(_ type: P.Type, _ session: String, _ width: Int = 60) throws
    -> [String]
  {
    try panel(type, session)?.lines(width: width).map(\.text) ?? []
  }

  @Test func headCountsDown() throws {
    let session = #"""
      {"mode":"openai_realtime","startedAt":"2026-05-09T18:30:02Z","participantCount":3,
      "inactivityEndsAt":"2026-05-09T18:31:20Z","maxEndsAt":"2026-05-09T18:30:00Z",
      "activeInputStreams":1,"pendingDeferredTurns":3,"voiceChannelId":"77","textChannelId":"78"}
      """#
    #expect(
      try lines(HeadPanel.self, session, 64) == [
        "━━ ● Listening · OpenAI RT ━━━━━━━━━━━━━━━━━━━━━━━━━━━ up 0:28 ━",
        "3 people · 1 speaking · 3 turns wait · leaves if quiet in 0:50", "ends now",
        "channel 77",
      ])
    let line = try panel(HeadPanel.self, session)?.lines(width: 100)[1]
    let warned = line?.spans.filter { $0.style.colour == Palette.warning }.map(\.text)
    #expect(warned == ["3 turns wait", "in 0:50", "now"])
  }

  static let activities: [(String, String, Colour?)] = [
    (#"{"botTurnOpen":true}"#, "● Speaking", Palette.positive),
    (#"{"batchAsr":{"pendingTurns":1}}"#, "● Processing", Palette.warning),
    (#"{"activeInputStreams":1}"#, "● Listening", Palette.colour(of: .asr)),
    (#"{"realtime":{"state":{"connected":false}}}"#, "✗ Disconnected", Palette.error),
    ("{}", "○ Idle", nil),
  ]

  @Test(arguments: activities)
  func headSaysWhatGoesOn(_ session: String, _ words: String, _ colour: Colour?) throws {
    let rule = try #require(try panel(HeadPanel.self, session)?.lines(width: 60).first)
    #expect(rule.text.hasPrefix("━━ \(words) ━"))
    #expect(rule.spans.first { words.hasSuffix($0.text) }?.style.colour == colour)
  }

  @Test func aLinkThatIsDownIsNeverHidden() throws {
    let session = #"{"botTurnOpen":true,"realtime":{"state":{"connected":false}}}"#
    #expect(
      try lines(HeadPanel.self, session).suffix(1) == ["0 people · provider's link is down"])
    let silent = #"{"realtime":{"state":{"connected":false}}}"#
    #expect(try lines(HeadPanel.self, silent).suffix(1) == ["0 people"])
  }

  @Test func whoSpeaks() throws {
    let session = #"""
      {"participantCount":5,"participants":[{"userId":"1","displayName":"Mika"},
      {"userId":"2","displayName":"Oren"},{"userId":"400118822734659584"}],
      "activeCaptures":[{"userId":"2","startedAt":"2026-05-09T18:30:26.800Z","ageMs":1},
      {"userId":"9","displayName":"Guest","ageMs":900}],
      "recentTurns":[{"role":"user","speakerName":"Mika","at":"2026-05-09T18:30:12Z","text":"x"},
      {"kind":"membership","speakerName":"Oren","at":"2026-05-09T18:30:20Z","text":"y"},
      {"role":"assistant","speakerName":"clanky","text":"z"},
      {"kind":"thought","role":"assistant","speakerName":"YOU","text":"z"}],
      "assistantOutput":{"phase":"awaiting_tool_outputs","phaseEnteredAt":"2026-05-09T18:30:20Z"},
      "playbackArm":{"armed":false},"focusedSpeaker":{"userId":"1"}}
      """#
    #expect(
      try lines(ParticipantsPanel.self, session) == [
        "◆ clanky   waits for tools 10s · not ready to play",
        "○ Mika     spoke 18s ago · in focus", "● Oren     speaking 3.2s", "○ 40011882 quiet",
        "● Guest    speaking 900ms", "  and 1 more",
      ])
    #expect(try panel(ParticipantsPanel.self, session)?.note.text == "5, 2 speaking")
    #expect(try lines(ParticipantsPanel.self, "{}") == ["◆ agent quiet"])
  }

  @Test func whoSpeaksIsNeverLeftOut() throws {
    let people = (0..<50).map { #"{"userId":"\#($0)","displayName":"p\#($0)"}"# }
    let session = #"""
      {"participants":[\#(people.joined(separator: ","))],"activeCaptures":[{"userId":"49"}]}
      """#
    let lines = try lines(ParticipantsPanel.self, session)
    #expect(lines.count == 14 && lines.last == "  and 38 more")
    #expect(lines.contains { $0.hasPrefix("● p49") })
  }

  @Test func attention() throws {
    let session = #"""
      {"participants":[{"userId":"1","displayName":"Mika"}],
      "focusedSpeaker":{"userId":"1","since":"2026-05-09T18:30:00Z"},
      "conversation":{"lastAssistantReplyAt":"2026-05-09T18:30:16.205Z",
      "lastDirectAddressAt":"2026-05-09T18:30:12Z","lastDirectAddressUserId":"1",
      "wake":{"attentionMode":"ACTIVE","active":true,"windowMs":35000},
      "addressing":{"recentAddressingGuesses":[{"speakerName":"Mika","talkingTo":"ME",
      "directedConfidence":0.95},{"talkingTo":null}]},
      "thoughtEngine":{"busy":false,"nextAttemptAt":"2026-05-09T18:31:15Z","pendingThought":{
      "text":"and the wind?","status":"queued","lastDecisionAction":"hold",
      "lastDecisionReason":"room still talking"}}}}
      """#
    #expect(
      try lines(AttentionPanel.self, session) == [
        "wake     ━━━━━━━━━━━━━─────── 22s of 35s", "reply    14s ago",
        "address  18s ago by Mika", "focus    Mika for 30s",
        "talk     Mika → the bot 95% · someone → ?",
        "thought  at rest · next in 45s · spoke never", "         “and the wind?”",
        "         queued · hold · room still talking",
      ])
    let note = try panel(AttentionPanel.self, session)?.note
    #expect(note == Line("ACTIVE", Style(Palette.positive, bold: true)))
    let quiet = #"{"conversation":{"wake":{"active":false,"attentionMode":"AMBIENT"}}}"#
    #expect(
      try lines(AttentionPanel.self, quiet) == [
        "wake     asleep", "reply    none yet", "address  none yet",
      ])
    #expect(try panel(AttentionPanel.self, "{}") == nil)
  }

  @Test func transcript() throws {
    let session = #"""
      {"recentTurns":[{"kind":"speech","role":"user","speakerName":"Mika",
      "text":"clanky when does the tide turn today","at":"2026-05-09T18:30:12.050Z"},
      {"kind":"thought","role":"assistant","speakerName":"YOU","text":"wind\u001b[2J?"},
      {"role":"assistant","speakerName":"","text":"at 19:42","at":"2026-05-09T17:30:12Z"}],
      "asrSessions":[{"displayName":"Oren","utterance":{"partialText":"so if we"}},
      {"utterance":{"partialText":""}},{"utterance":null}]}
      """#
    #expect(
      try lines(TranscriptPanel.self, session, 40) == [
        " 18s Mika    clanky when does the tide", "             turn today",
        "     thought wind\\e[2J?", "  1h agent   at 19:42", " now Oren    so if we …",
      ])
    let partial = try panel(TranscriptPanel.self, session)?.lines(width: 40).last
    #expect(partial?.spans.last?.style == .dim)
    #expect(try panel(TranscriptPanel.self, "{}") == nil)
    let many = (0..<220).map { #"{"speakerName":"a","text":"\#($0)"}"# }
    let long = try #require(
      try panel(TranscriptPanel.self, #"{"recentTurns":[\#(many.joined(separator: ","))]}"#))
    #expect(long.note.text == "last 10 of 220" && long.lines(width: 40).count == 10)
    #expect(long.lines(width: 40).last?.text == "     a 219")
  }

  @Test func toolCalls() throws {
    let session = #"""
      {"brainTools":[{"name":"slew","serverName":"dome"}],"toolCalls":[
      {"toolName":"web_search","toolType":"function","arguments":{"query":"tides"},"runtimeMs":1285,
      "completedAt":"2026-05-09T18:30:15Z","success":true,"outputSummary":{"ok":true,"n":4}},
      {"toolName":"slew","toolType":"mcp","arguments":{"to":"north","by":3},"runtimeMs":5400,
      "completedAt":"2026-05-09T18:30:15Z","success":false,"error":"closed"},
      {"toolName":"look","toolType":"mcp","startedAt":"2026-05-09T18:30:26Z","completedAt":null}]}
      """#
    #expect(
      try lines(ToolsPanel.self, session) == [
        "✓ web_search 1.3s         tides", "  → ok: true, n: 4",
        "✗ slew@dome  5.4s slow    to: north, by: 3", "  ! closed",
        "◌ look@mcp   4.0s running",
      ])
    #expect(
      try lines(ToolsPanel.self, session, 30) == [
        "✓ web_search 1.3s", "  tides → ok: true, n: 4", "✗ slew@dome  5.4s slow",
        "  to: north, by: 3 ! closed", "◌ look@mcp   4.0s running",
      ])
    #expect(
      try panel(ToolsPanel.self, session)?.note.text == "3, 1 running, 1 failed, 1 slow")
    #expect(try panel(ToolsPanel.self, #"{"toolCalls":null}"#) == nil)
  }

  @Test func aRunningCallIsNeverLeftOut() throws {
    let done = (0..<20).map { #"{"toolName":"t\#($0)","success":true}"# }
    let session = #"""
      {"toolCalls":[{"toolName":"slow one","success":false},\#(done.joined(separator: ","))]}
      """#
    let lines = try lines(ToolsPanel.self, session)
    #expect(lines.count == 6 && lines[0].hasPrefix("◌ slow one") && lines[5].hasPrefix("✓ t19"))
  }
}

@Suite struct PromptTextTests {
  @Test func aPromptIsPrintedWhole() throws {
    let text = try #require(
      try VoiceSamples.session("full").prompt(.generation)?.whole)
    #expect(
      text.hasPrefix("== system (312 B)\nYou are Lantern, the voice of the Rooftop Astronomers.\n"))
    #expect(text.contains("\n== user (105 B)\nIlse: Lantern, when do"))
    #expect(text.contains("\n== follow-up 2 ("))
    #expect(
      text.hasSuffix(
        "\n== tools (3)\nweb_search: Search the web\nsky_chart: Draw the sky for a place and a time\nmemory_search: Look something up in memory\n"
      ))
  }

  @Test func nothingIsCutOff() throws {
    let long = String(repeating: "漢字 and more\n", count: 50_000)
    let session = try voiceSession(
      #"{"promptState":{"bridge":{"replyPrompts":{"systemPrompt":"\#(long.replacing("\n", with: "\\n"))"}}}}"#
    )
    let text = try #require(session.prompt(.bridge)?.whole)
    #expect(text.utf8.count > long.utf8.count && text.hasSuffix(long))
  }

  @Test func whatASessionHasNotIsNil() throws {
    let session = try VoiceSamples.session("minimal")
    for name in PromptName.allCases { #expect(session.prompt(name) == nil) }
    let empty = try voiceSession(#"{"promptState":{"classifier":{}}}"#)
    #expect(empty.prompt(.classifier)?.whole == "")
  }
}
