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
}
