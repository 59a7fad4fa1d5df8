import Core
import Records
import Testing

@testable import Agent

/// What voice actions mean.
@Suite struct VoiceNewsTests {
  private func news(
    _ content: String, _ fields: String, kind: String = "voice_runtime"
  ) throws -> VoiceNews {
    VoiceNews(
      Action(
        try JSONValue.parse(
          text: """
            {"kind":"\(kind)","content":"\(content)","guildId":"g","channelId":"c","userId":"7",
            "createdAt":"2026-06-15T21:00:09.000Z","metadata":{"sessionId":"s",\(fields)}}
            """)))
  }

  private func ended(_ news: VoiceNews) throws -> VoiceToolCall {
    guard case .callEnds(let call) = news.event else { throw Failure("", "", .failure) }
    return call
  }

  /// One reader for a call in a state, in its event, and on the other path, where three
  /// members have other names and nothing has an id.
  @Test func callsOfBothPaths() throws {
    let one = try ended(
      try news(
        "realtime_tool_call_completed",
        #""callId":"c","toolName":"search","runtimeMs":1500,"outputSummary":"two hits""#))
    let other = try ended(
      try news(
        "voice_brain_tool_call",
        #""toolCallIndex":3,"toolName":"search","durationMs":1500,"toolInput":{"q":"tide"},"#
          + #""toolResultSummary":"two hits""#))
    for call in [one, other] {
      #expect(call.toolName == "search" && call.runtimeMs == 1500 && call.state == .ok)
      #expect(call.outputSummary?.string == "two hits" && call.isHeard)
      #expect(call.startedAt?.rfc3339 == "2026-06-15T21:00:07.500Z")
      #expect(call.completedAt?.rfc3339 == "2026-06-15T21:00:09.000Z")
    }
    #expect(one.callId == "c" && other.callId == "brain_tool_3_2026-06-15T21:00:09.000Z")
    #expect(other.arguments?["q"]?.string == "tide")
    let failed = try ended(
      try news("voice_brain_tool_call", #""toolName":"search","isError":true"#))
    #expect(failed.state == .failed && failed.error == "failed" && failed.callId == nil)
  }

  @Test func aCallThatBeginsHasNotEnded() throws {
    let began = try news(
      "realtime_tool_call_started", #""callId":"c","success":true,"completedAt":1,"error":"x""#)
    guard case .callBegins(let call) = began.event else {
      Issue.record("nothing begins")
      return
    }
    #expect(call.state == .running && call.startedAt == began.at)
  }

  @Test func whoComesAndGoes() throws {
    for (told, meant) in [("join", "join"), ("kicked", "leave")] {
      let news = try news(
        "voice_membership_changed",
        #""eventType":"\#(told)","memberUserId":"9","userId":"7","displayName":"Zoe""#)
      guard case .membership(let event) = news.event else {
        Issue.record("nobody comes")
        return
      }
      #expect(event.eventType == meant && event.userId == "9" && event.displayName == "Zoe")
      #expect(event.at == news.at)
    }
  }

  @Test func whatASessionWithoutAStateIsMadeOf() throws {
    let news = try news(
      "voice_joined:5", #""voiceChannelId":5,"mode":"voice_agent","maxSessionMinutes":1.5"#,
      kind: "voice_session_start")
    #expect(news.session == "s" && news.guild == "g" && news.textChannel == "c")
    #expect(news.voiceChannel == "5" && news.mode == "voice_agent" && news.mostSeconds == 90)
    let endless = try self.news("", #""maxSessionMinutes":1e300"#, kind: "voice_session_start")
    #expect(endless.mostSeconds == nil)
  }
}
