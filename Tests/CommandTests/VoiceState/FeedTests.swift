import Core
import Records
import Screen
import Testing

@testable import Agent
@testable import voice_state

@Suite struct FeedTests {
  private func state(_ sessions: String...) throws -> RawState {
    let text =
      "{\"activeCount\":\(sessions.count),\"sessions\":[\(sessions.joined(separator: ","))]}"
    return try Array(text.utf8).withUnsafeBytes { try RawState($0) }
  }

  private func action(
    _ kind: String, _ content: String, at second: Int = 0, session: String = "s",
    user: String? = nil,
    _ fields: String = ""
  ) throws -> VoiceNews {
    let more = fields.isEmpty ? "" : ",\(fields)"
    let who = user.map { ",\"userId\":\"\($0)\"" } ?? ""
    return VoiceNews(
      Action(
        try JSONValue.parse(
          text: """
            {"kind":"\(kind)","content":"\(content)","guildId":"g"\(who),
            "createdAt":"2026-06-15T21:00:\(second < 10 ? "0" : "")\(second).000Z",
            "metadata":{"sessionId":"\(session)"\(more)}}
            """)))
  }

  private let time = Timestamp(rfc3339: "2026-06-15T21:00:30.000Z")

  @Test func aStateTellsWhichSessionsThereAre() throws {
    var feed = VoiceFeed()
    #expect(!feed.isKnown)
    feed.receive(try state(#"{"sessionId":"a"}"#, #"{"sessionId":"b"}"#), at: time)
    #expect(feed.sessions().map(\.sessionId) == ["a", "b"])
    feed.receive(try state(#"{"sessionId":"b"}"#), at: time)
    #expect(feed.sessions().map(\.sessionId) == ["b"])
    feed.receive(try state(), at: time)
    #expect(feed.isEmpty && feed.isKnown)
  }

  @Test func theSessionsOwnBytesStay() throws {
    let text = #"{ "sessionId" : "a", "n": 1.10, "big": 123456789012345678901234567890 }"#
    var feed = VoiceFeed()
    feed.receive(try state(text), at: time)
    feed.receive(try action("voice_turn_out", "bot_audio_started", session: "a"))
    #expect(feed.raw.map { String(decoding: $0.bytes, as: UTF8.self) } == [text])
    #expect(feed.sessions().first?.botTurnOpen == true)
  }

  @Test func whoSaysASentenceIsNamedOnce() throws {
    let source = #""transcript":"low water at eight","transcriptSource":"output""#
    let said =
      #""recentTurns":[{"role":"assistant","speakerName":"clanky","text":"hello"}]"#
    var feed = VoiceFeed()
    feed.receive(try state(#"{"sessionId":"s",\#(said)}"#), at: time)
    feed.receive(try action("voice_runtime", "openai_realtime_transcript", user: "77", source))
    let session = try #require(feed.sessions().first)
    #expect(session.recentTurns.map(\.text) == ["hello", "low water at eight"])
    #expect(Untrusted.bot(in: session) == "clanky")
    let panel = try #require(TranscriptPanel(session, at: Now(time ?? .now())))
    let text = panel.lines(width: 80).map(\.text)
    #expect(text.allSatisfy { $0.contains("clanky") && !$0.contains("agent") })
  }

  @Test func aNameOnASentenceIsWhoSaidIt() throws {
    var feed = VoiceFeed()
    feed.receive(
      try action(
        "voice_runtime", "openai_realtime_transcript", user: "77",
        #""transcript":"when is the tide","speakerName":"Mika""#))
    feed.receive(
      try action(
        "voice_runtime", "file_asr_transcript", user: "300000000000000002",
        #""transcript":"play something""#))
    let turns = try #require(feed.sessions().first).recentTurns
    #expect(turns.map(\.role) == ["user", "user"])
    #expect(turns.map(\.speakerName) == ["Mika", "30000000"])
  }

  @Test func filters() throws {
    var feed = VoiceFeed(SessionFilter(guild: "1", session: "ab"))
    feed.receive(
      try state(
        #"{"sessionId":"abc","guildId":"1"}"#, #"{"sessionId":"abd","guildId":"2"}"#,
        #"{"sessionId":"x","guildId":"1"}"#), at: time)
    #expect(feed.sessions().map(\.sessionId) == ["abc"])
  }

  /// States never hold a running call: only events tell.
  @Test func aRunningCallOutlivesStatesUntilItsEnd() throws {
    let base =
      #"{"sessionId":"s","toolCalls":[{"callId":"old","toolName":"x","completedAt":"2026-06-15T20:00:00.000Z","success":true}]}"#
    var feed = VoiceFeed()
    feed.receive(try state(base), at: time)
    let start = try action(
      "voice_runtime", "realtime_tool_call_started", at: 6, #""callId":"c","toolName":"search""#)
    feed.receive(start)
    feed.receive(start)
    #expect(feed.sessions()[0].toolCalls.map(\.state) == [.ok, .running])
    feed.receive(try state(base), at: time)
    #expect(feed.sessions()[0].toolCalls.map(\.callId) == ["old", "c"])
    feed.receive(
      try action(
        "voice_error", "realtime_tool_call_failed", at: 9,
        #""callId":"c","runtimeMs":3000,"error":"no""#))
    let call = feed.sessions()[0].toolCalls[1]
    #expect(call.state == .failed && call.error == "no" && call.runtimeMs == 3000)
    feed.receive(try state(base), at: time)
    #expect(feed.sessions()[0].toolCalls.count == 1)
  }

  @Test func aCallWhoseEndWasMissedIsForgotten() throws {
    let base = #"{"sessionId":"s"}"#
    var feed = VoiceFeed()
    feed.receive(try state(base), at: time)
    let start = try action("voice_runtime", "realtime_tool_call_started", #""callId":"c""#)
    feed.receive(start)
    feed.linkLost()
    #expect(feed.sessions()[0].toolCalls.isEmpty)
    feed.receive(start)
    feed.receive(try state(base), at: time?.adding(.seconds(3600)))
    #expect(feed.sessions()[0].toolCalls.isEmpty)
    feed.receive(start)
    feed.receive(
      try state(#"{"sessionId":"s","toolCalls":[{"callId":"c","success":true}]}"#), at: time)
    #expect(feed.sessions()[0].toolCalls.count == 1)
  }

  @Test func wordsAndPeopleBetweenStates() throws {
    var feed = VoiceFeed()
    feed.receive(
      try state(
        #"{"sessionId":"s","participants":[{"userId":"1","displayName":"Kei"}],"recentTurns":[{"text":"a"}]}"#
      ),
      at: time)
    feed.receive(
      try action(
        "voice_runtime", "voice_membership_changed",
        #""eventType":"join","memberUserId":"2","displayName":"Zoe""#))
    feed.receive(
      try action(
        "voice_runtime", "openai_realtime_asr_partial_segment", user: "2",
        #""speakerName":"Zoe","transcript":"good","eventType":"x.delta""#))
    var session = feed.sessions()[0]
    #expect(session.participants.map(\.displayName) == ["Kei", "Zoe"])
    #expect(session.asrSessions.first?.utterance?.partialText == "good")
    #expect(session.recentTurns.map(\.text) == ["a"])
    for content in ["openai_realtime_asr_final_segment", "realtime_turn_finalized"] {
      feed.receive(
        try action(
          "voice_runtime", content, user: "2",
          #""speakerName":"Zoe","transcript":"good evening","eventType":"completed""#))
    }
    feed.receive(
      try action(
        "voice_runtime", "openai_realtime_transcript",
        #""transcript":"hello","transcriptSource":"output""#))
    feed.receive(
      try action("voice_runtime", "xai_transcript", user: "77", #""transcript":"welcome""#))
    session = feed.sessions()[0]
    #expect(session.recentTurns.map(\.text) == ["a", "good evening", "hello", "welcome"])
    #expect(session.recentTurns.map(\.role) == [nil, "user", "assistant", "assistant"])
    #expect(session.asrSessions.isEmpty)
    feed.receive(
      try action(
        "voice_runtime", "voice_membership_changed", #""eventType":"leave","memberUserId":"1""#))
    #expect(feed.sessions()[0].participants.map(\.displayName) == ["Zoe"])
  }

  @Test func eventsGoOnFromWhatTheStateSays() throws {
    var feed = VoiceFeed()
    feed.receive(
      try state(
        #"""
        {"sessionId":"s","participants":[{"userId":"1","displayName":"Kei"}],"soundboard":{
        "playCount":4},"recentTurns":[{"role":"user","text":"good evening","at":
        "2026-06-15T21:00:02.000Z"}],"activeCaptures":[{"userId":"1"}],"toolCalls":[{"callId":"c",
        "toolName":"x","completedAt":"2026-06-15T21:00:01.000Z","success":true}]}
        """#), at: time)
    feed.receive(try action("voice_soundboard_play", "x", at: 3))
    feed.receive(
      try action("voice_runtime", "realtime_tool_call_completed", at: 3, #""callId":"c""#))
    for words in ["good evening", "play something"] {
      feed.receive(
        try action(
          "voice_runtime", "file_asr_transcript", at: 4, user: "1", #""transcript":"\#(words)""#))
    }
    let session = feed.sessions()[0]
    #expect(session.soundboard?.playCount == 5)
    #expect(session.toolCalls.map(\.toolName) == ["x"])
    #expect(session.recentTurns.map(\.text) == ["good evening", "play something"])
    #expect(session.recentTurns.last?.speakerName == "Kei")
    // Only the next state knows when someone whom a state saw speak has ended.
    #expect(session.activeCaptures.count == 1 && session.activeInputStreams == 1)
  }

  @Test func sessionsAreRebuiltFromEvents() throws {
    var feed = VoiceFeed(keepsEnded: true)
    feed.receive(
      try action(
        "voice_session_start", "voice_joined:7", at: 1,
        #""mode":"openai_realtime","voiceChannelId":"7","maxSessionMinutes":30"#))
    for (stage, value) in [("finalizedToAsrStartMs", 100), ("replyRequestToAudioStartMs", 300)] {
      feed.receive(
        try action(
          "voice_runtime", "voice_latency_stage", at: 4, #""requestId":1,"\#(stage)":\#(value)"#))
    }
    feed.receive(try action("voice_session_end", "nl_leave", at: 9))
    let session = feed.sessions()[0]
    #expect(session.mode == "openai_realtime" && session.voiceChannelId == "7")
    #expect(session.startedAt?.rfc3339 == "2026-06-15T21:00:01.000Z")
    #expect(session.maxEndsAt?.rfc3339 == "2026-06-15T21:30:01.000Z")
    #expect(session.latency?.recentTurns.map(\.stages.totalMs) == [400])
    #expect(feed.reason(of: "s") == "nl_leave")
  }

  @Test func whatBeganBetweenStatesIsThereAndWhatEndedIsNot() throws {
    var feed = VoiceFeed()
    feed.receive(try state(), at: time)
    feed.receive(try action("voice_turn_in", "voice_activity_started", session: "late"))
    #expect(feed.isEmpty)
    feed.receive(try action("voice_session_start", "voice_joined:1", session: "new"))
    #expect(feed.sessions().map(\.sessionId) == ["new"])
    feed.receive(try action("voice_session_end", "x", session: "new"))
    #expect(feed.isEmpty)
    feed.receive(try action("voice_session_end", "x", session: "never"))
    #expect(feed.isEmpty)
  }

  @Test func eventsThatMeanNothingChangeNothing() throws {
    var feed = VoiceFeed()
    feed.receive(try state(#"{"sessionId":"s"}"#), at: time)
    for fields in ["", #""callId":null"#, #""transcript":7"#, #""eventType":{},"memberUserId":[]"#]
    {
      for content in [
        "realtime_tool_call_started", "realtime_tool_call_completed", "voice_membership_changed",
        "voice_latency_stage", "x_transcript", "voice_brain_tool_call", "\\u0000",
      ] {
        feed.receive(try action("voice_runtime", content, user: "1", fields))
      }
    }
    #expect(feed.sessions().count == 1)
  }
}
