import Testing
import Turns

/// What the actions of a voice session tell of turns.
@Suite struct ClankyVoiceTests {
  /// An action of the session `s`.
  private func voice(
    _ id: Int, _ time: String, _ name: String, user: String = "bot", cost: Double = 0,
    kind: String = "voice_runtime", _ more: String = ""
  ) -> String {
    row(
      id, time, kind, user: user, content: name, cost: cost,
      #"{"sessionId":"s"\#(more.isEmpty ? "" : ",")\#(more)}"#)
  }

  private func words(_ id: Int, _ time: String, _ item: String, isFinal: Bool) -> String {
    voice(
      id, time, "openai_realtime_asr_\(isFinal ? "final" : "partial")_segment", user: "noor",
      #""speakerName":"Noor","itemId":"\#(item)","transcript":"hello\#(isFinal ? " fig" : "")""#)
  }

  @Test func aTurnGoesFromTheWordsToTheResponse() {
    let told = tell([
      voice(1, "10:00:00.000", "voice_joined:c", kind: "voice_session_start"),
      words(2, "10:00:01.000", "i1", isFinal: false), words(3, "10:00:02.000", "i1", isFinal: true),
      voice(4, "10:00:02.500", "voice_turn_addressing", #""allow":true"#),
      voice(
        5, "10:00:03.000", "realtime_tool_call_started",
        #""callId":"k","toolName":"web_search","arguments":{"query":"x"}"#),
      voice(
        6, "10:00:04.000", "realtime_tool_call_failed", kind: "voice_error",
        #""callId":"k","toolName":"web_search","runtimeMs":900,"error":"HTTP 403""#),
      llm(7, "10:00:05.000", source: "voice_realtime_generation"),
      voice(8, "10:00:05.500", "realtime_reply_requested", #""requestId":1"#),
      voice(9, "10:00:06.000", "openai_realtime_transcript", #""transcript":"hi""#),
      voice(
        10, "10:00:07.000", "openai_realtime_response_done", cost: 0.05,
        #""responseStatus":"completed","hadAudio":true,"responseUsage":{"inputTokens":5,"outputTokens":1}"#
      ),
      voice(11, "10:00:08.000", "nl_leave", kind: "voice_session_end"),
    ])
    #expect(
      told == [
        "thread s active", "message s/i1 partial: hello", "message s/i1 final: hello fig",
        "turn s/i1 running from 10:00:02.500",
        "call k web_search running in s/i1? from 10:00:03.000",
        "call k web_search failed (HTTP 403) in s/i1?", "turn 7 completed in s/i1?",
        "message 9 final in s/i1?: hi",
        "turn s/i1 completed message 9 15+3 $0.15 from 10:00:02.500", "thread s archived",
      ])
  }

  @Test func wordsThatGetAnotherIDAreTheSame() {
    #expect(
      tell([
        words(1, "10:00:01.000", "a", isFinal: false), words(2, "10:00:02.000", "b", isFinal: true),
        words(3, "10:00:03.000", "c", isFinal: true),
      ]) == [
        "message s/a partial: hello", "message s/a final: hello fig",
        "message s/c final: hello fig",
      ])
  }

  @Test func aResponseWithoutSoundGoesOn() {
    let told = tell([
      voice(1, "10:00:00.000", "realtime_reply_requested"),
      voice(2, "10:00:01.000", "gemini_realtime_response_done", cost: 0.5, #""hadAudio":false"#),
      voice(3, "10:00:02.000", "gemini_realtime_transcript", #""transcript":"hi""#),
      voice(
        4, "10:00:03.000", "gemini_realtime_response_done", cost: 0.25,
        #""responseStatus":"cancelled""#),
    ])
    #expect(
      told == [
        "turn 1 running from 10:00:00.000", "message 3 final in 1?: hi",
        "turn 1 aborted (cancelled) message 3 $0.75 from 10:00:00.000",
      ])
  }

  @Test func whatHasNoResponseEndsWhereTheNextBegins() {
    func tool(_ id: Int, _ time: String, _ end: String) -> String {
      voice(
        id, time, "realtime_tool_call_\(end)",
        #""callId":"k\#(id / 2)","toolName":"sound""#)
    }
    let told = last(
      of: tell([
        tool(2, "10:00:00.000", "started"), tool(3, "10:00:01.000", "completed"),
        tool(4, "10:00:30.000", "started"), tool(5, "10:00:31.000", "completed"),
        tool(6, "10:02:00.000", "started"), words(7, "10:02:01.000", "a", isFinal: true),
        voice(8, "10:02:02.000", "voice_turn_addressing", #""allow":true"#),
        tool(9, "10:02:03.000", "started"), words(10, "10:02:04.000", "b", isFinal: true),
      ]))
    #expect(told["call k2"] == "sound succeeded in 2?")
    #expect(told["turn 2"] == "completed (no response) from 10:00:00.000")
    #expect(told["turn 6"] == "running from 10:02:00.000")
    #expect(told["turn s/a"] == nil)
  }

  @Test func nobodyIsLeftRunning() {
    let told = last(
      of: tell([
        words(1, "10:00:00.000", "a", isFinal: true),
        voice(2, "10:00:01.000", "voice_turn_addressing", #""allow":true"#),
        words(3, "10:00:02.000", "b", isFinal: true),
        voice(4, "10:00:03.000", "voice_turn_addressing", #""allow":false"#),
        words(5, "10:00:04.000", "c", isFinal: true),
        voice(6, "10:00:05.000", "voice_turn_addressing", #""allow":true"#),
        voice(7, "10:00:06.000", "voice_brain_tool_call", #""toolName":"note","isError":false"#),
        voice(8, "10:00:07.000", "max_duration", kind: "voice_session_end"),
      ]))
    #expect(
      told["turn s/a"] == "aborted (somebody else was let through) from 10:00:01.000")
    #expect(told["turn s/c"] == "aborted (the voice session ended) from 10:00:05.000")
    #expect(told["call 7"] == "note succeeded in s/c?")
    #expect(told["turn s/b"] == nil)
  }

  // MARK: - Each rule alone

  private func allow(_ id: Int, _ time: String) -> String {
    voice(id, time, "voice_turn_addressing", #""allow":true"#)
  }

  private func done(_ id: Int, _ time: String, _ more: String = "") -> String {
    voice(id, time, "openai_realtime_response_done", cost: 0.25, more)
  }

  private func tool(_ id: Int, _ time: String, _ end: String) -> String {
    voice(id, time, "realtime_tool_call_\(end)", #""callId":"k","toolName":"sound""#)
  }

  private let start = row(1, "10:00:00.000", "voice_session_start", #"{"sessionId":"s"}"#)

  @Test func whoseSessionItIs() {
    // By its name, wherever it is said; by the channel; and not after its end.
    let named = llm(2, "10:00:01.000", source: "brain", more: #","sessionId":"s""#, channel: "text")
    #expect(tell([start, named]).last == "turn 2 completed in 2/turn?")
    let nameless = row(
      2, "10:00:01.000", "voice_runtime", content: "realtime_reply_requested", "{}")
    #expect(tell([start, nameless]).last == "turn 2 running from 10:00:01.000")
    let end = row(3, "10:00:02.000", "voice_session_end", #"{"sessionId":"s"}"#)
    let late = llm(4, "10:00:03.000", source: "voice_realtime_generation")
    #expect(tell([start, end, late]).last == "turn 4 completed")
    let told = tell([
      start, words(2, "10:00:01.000", "a", isFinal: true), end, allow(5, "10:00:04.000"),
    ])
    #expect(told.last == "turn 5 running from 10:00:04.000")
  }

  @Test func whatATurnIsCalledBy() {
    #expect(
      tell([words(1, "10:00:00.000", "a", isFinal: false), allow(2, "10:00:01.000")]).last
        == "turn 2 running from 10:00:01.000")
    let told = tell([
      words(1, "10:00:00.000", "a", isFinal: true), allow(2, "10:00:01.000"),
      allow(3, "10:00:01.500"), done(4, "10:00:02.000"),
      voice(5, "10:00:03.000", "realtime_reply_requested"), done(6, "10:00:04.000"),
    ])
    #expect(
      told.dropFirst() == [
        "turn s/a running from 10:00:01.000", "turn s/a completed $0.25 from 10:00:01.000",
        "turn 5 running from 10:00:03.000", "turn 5 completed $0.25 from 10:00:03.000",
      ])
  }

  @Test func whatWasWorkedOnIsDone() {
    // Somebody else is let through: nothing was done, or something.
    let next = [words(8, "10:00:20.000", "b", isFinal: true), allow(9, "10:00:21.000")]
    let works: [[String]] = [
      [voice(2, "10:00:01.000", "realtime_reply_requested")],
      [llm(2, "10:00:01.000", source: "voice_realtime_generation")],
      [
        allow(2, "10:00:01.000"), voice(3, "10:00:02.000", "xai_transcript", #""transcript":"hi""#),
      ],
    ]
    for work in works {
      let told = tell([start] + work + next)
      #expect(told.contains { $0.hasPrefix("turn 2") && $0.contains("completed (no response)") })
    }
    let nothing = tell(
      [
        tool(1, "10:00:00.000", "started"), done(2, "10:00:01.000"), allow(3, "10:00:02.000"),
      ] + next)
    #expect(
      nothing.contains("turn 3 aborted (somebody else was let through) from 10:00:02.000"))
  }

  @Test func aToolThatRunsIsWaitedFor() {
    let told = last(
      of: tell([
        tool(1, "10:00:00.000", "started"), voice(2, "10:05:00.000", "realtime_reply_requested"),
        tool(3, "10:05:01.000", "completed"), done(4, "10:05:02.000"),
      ]))
    #expect(told["turn 1"] == "completed $0.25 from 10:00:00.000")
    #expect(told["turn 2"] == nil && told["call k"] == "sound succeeded in 1?")
  }

  @Test func howAResponseEnds() {
    let begin = voice(1, "10:00:00.000", "realtime_reply_requested")
    let said = voice(2, "10:00:01.000", "xai_transcript", #""transcript":"hi""#)
    #expect(
      tell([begin, said, done(3, "10:00:02.000", #""hadAudio":false"#)]).last
        == "turn 1 completed message 2 $0.25 from 10:00:00.000")
    #expect(
      tell([begin, done(3, "10:00:02.000", #""responseStatus":"incomplete""#)]).last
        == "turn 1 failed (incomplete) $0.25 from 10:00:00.000")
    #expect(
      tell([begin, voice(3, "10:00:02.000", "realtime_reply_skipped", #""skipCause":"late""#)]).last
        == "turn 1 completed (late) from 10:00:00.000")
  }

  @Test func whoSpeaks() {
    let input = #""transcript":"hello","transcriptSource":"input""#
    for line in [
      voice(1, "10:00:00.000", "file_asr_transcript", user: "noor", #""transcript":"hello""#),
      voice(1, "10:00:00.000", "openai_realtime_transcript", user: "noor", input),
    ] {
      // A turn is called by what a person said.
      #expect(
        tell([line, allow(2, "10:00:01.000")]) == [
          "message 1 final: hello", "turn 1 running from 10:00:01.000",
        ])
    }
    #expect(
      tell([voice(1, "10:00:00.000", "voice_brain_tool_call", #""isError":true,"error":"no""#)])
        == ["call 1 tool failed (no)"])
  }
}
