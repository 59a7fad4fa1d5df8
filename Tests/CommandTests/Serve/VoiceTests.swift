import Core
import Foundation
import Records
import Testing

@testable import agent_serve

@Suite("Voice")
struct VoiceTests {
  private func panels(_ session: String) -> VoicePanels {
    VoicePanels(Array(#"{"activeCount":1,"sessions":[\#(session)]}"#.utf8))
  }

  @Test("A recogniser's timer ends after what is left of its time to live")
  func timers() throws {
    let now = try #require(Timestamp(rfc3339: "2026-03-01T12:00:00.000Z"))
    func ends(_ row: String) -> String? {
      let text = panels(#"{"sessionId":"s","asrSessions":[\#(row)]}"#).asrSessions(now: now).text
      return Array(text.utf8).withUnsafeBytes { bytes in
        ScanObject(bytes)?.objects("sessions").first?.text("idleTimerEndsAt")
      }
    }
    #expect(ends(#"{"idleMs":250,"idleTtlMs":60000}"#) == "2026-03-01T12:00:59.750Z")
    #expect(ends(#"{"idleMs":null,"idleTtlMs":60000}"#) == "2026-03-01T12:01:00.000Z")
    #expect(ends(#"{"idleMs":90000,"idleTtlMs":60000}"#) == "2026-03-01T12:00:00.000Z")
    #expect(ends(#"{"idleTtlMs":60000}"#) == nil)
    #expect(ends(#"{"idleMs":"x","idleTtlMs":60000}"#) == nil)
    #expect(ends(#"{"idleMs":-1e308,"idleTtlMs":1e308}"#) != nil)
  }

  @Test("A tool call is what is left of it when its types are wrong")
  func tools() {
    let calls = #"""
      {"callId":7,"runtimeMs":1.5,"success":"yes","outputSummary":["a"],"arguments":"x","error":""},
      "no call",{"runtimeMs":null,"arguments":[1, 2]},{"runtimeMs":{}}
      """#
    let row = #","toolName":"","toolType":"function","arguments":"#
    let none = #","startedAt":null,"completedAt":null,"runtimeMs":"#
    let end = #""outputSummary":null,"error":null}"#
    #expect(
      panels(#"{"toolCalls":[\#(calls)]}"#).toolEvents.text
        == #"{"events":[{"sessionId":"","callId":"7"\#(row){}\#(none)2,"success":true,\#(end),"#
        + #"{"sessionId":"","callId":""\#(row)[1, 2]\#(none)0,"success":false,\#(end),"#
        + #"{"sessionId":"","callId":""\#(row){}\#(none)null,"success":false,\#(end)]}"#)
  }

  @Test("A wish to join is answered with what is known")
  func joining() {
    func join(_ body: String, _ ids: [String], _ sessions: String) -> String {
      let rows = ids.map { #"{"id":"\#($0)","channels":[{"id":"c","type":"text"}]}"# }
      let guilds = Guilds(Array("[\(rows.joined(separator: ","))]".utf8)).all
      let state = Array(#"{"sessions":[\#(sessions)]}"#.utf8)
      return Array(body.utf8).withUnsafeBytes { body in
        state.withUnsafeBytes { state in
          let outcome = VoiceJoin(
            VoiceJoin.Request(ScanObject(body) ?? ScanObject()), guilds: guilds,
            sessions: ScanObject(state)?.objects("sessions") ?? [])
          return "\(outcome.status) \(outcome.reason) \(outcome.guild ?? "-")"
            + " \(outcome.textChannel ?? "-") \(outcome.requester ?? "-")"
        }
      }
    }
    let session = #"{"guildId":"2","textChannelId":"t","participants":[{"userId":"u"}]}"#
    #expect(join("{}", [], "") == "503 voice_join_unavailable - - -")
    #expect(join("{}", ["1"], "") == "200 no_voice_members_found 1 - -")
    #expect(join("{}", ["1", "2"], session) == "200 already_in_channel 2 t u")
    #expect(join(#"{"guildId":"1"}"#, ["1"], session) == "200 no_voice_members_found 1 - -")
    #expect(join(#"{"guildId":"3"}"#, ["1"], session) == "200 guild_not_found 3 - -")
    #expect(
      join(#"{"guildId":2,"textChannelId":"x"}"#, [], session) == "200 already_in_channel 2 t u")
    #expect(
      join(#"{"guildId":2,"textChannelId":"c"}"#, ["2"], session)
        == "200 already_in_channel 2 c u")
    let two = #"{"guildId":"1","textChannelId":"s","participants":[{"userId":"w"}]},"# + session
    #expect(join("{}", ["3", "1", "2"], two) == "200 already_in_channel 1 s w")
    #expect(join("{}", ["2", "1"], two) == "200 already_in_channel 2 t u")
    #expect(join(#"{"requesterUserId":"u"}"#, ["1", "2"], two) == "200 already_in_channel 2 t u")
    #expect(
      join(#"{"requesterUserId":"x"}"#, ["1", "2"], two) == "200 requester_not_in_voice 1 - x")
    let empty = #"{"guildId":"2","textChannelId":"t","participants":[]}"#
    #expect(join("{}", ["1", "2"], empty) == "200 no_voice_members_found 1 - -")
    #expect(join(#"{"guildId":"2"}"#, ["2"], empty) == "200 no_voice_members_found 2 - -")
    let silent = #"{"guildId":"2","participants":[{"userId":"u"}]}"#
    #expect(join("{}", [], silent) == "200 text_channel_unavailable 2 - u")
    #expect(join(#"{"requesterUserId":"v"}"#, [], session) == "200 requester_not_in_voice 2 - v")
    #expect(join(#"{"requesterUserId":"u"}"#, [], session) == "200 already_in_channel 2 t u")
  }

  @Test("A session is over when both its start and its end are known")
  func history() async throws {
    let store = try ActionStore(path: ":memory:")
    func action(_ kind: String, _ second: Int, _ metadata: String, guild: String? = "1")
      -> LoggedAction
    {
      Fixture.action(
        kind, at: "2026-03-01T12:00:\(second).000Z", guild: guild,
        content: kind == "voice_session_end" ? "why" : nil,
        metadata: metadata)
    }
    _ = try await store.insert([
      action("voice_session_start", 10, #"{"sessionId":"a","mode":"m"}"#),
      action("voice_session_start", 11, #"{"sessionId":"b"}"#),
      action("voice_session_end", 12, #"{"sessionId":"c","durationSeconds":5}"#),
      action("voice_session_end", 13, #"{"sessionId":"a","durationSeconds":2.6}"#),
      action("voice_session_start", 14, #"{"sessionId":"d"}"#, guild: nil),
      action("voice_session_end", 20, #"{"sessionId":"d","durationSeconds":"x"}"#, guild: nil),
      action("voice_session_start", 30, #"{"sessionId":""}"#),
      action("voice_session_end", 31, #"{"sessionId":""}"#),
    ])
    func list(_ query: String = "") async throws -> String {
      try await store.read { try VoiceHistory.sessions(QueryParameters(query), $0) }
    }
    let a =
      #"{"sessionId":"a","guildId":"1","mode":"m","startedAt":"2026-03-01T12:00:10.000Z","endedAt":"2026-03-01T12:00:13.000Z","durationSeconds":3,"endReason":"why"}"#
    let d =
      #"{"sessionId":"d","guildId":"","mode":"voice_agent","startedAt":"2026-03-01T12:00:14.000Z","endedAt":"2026-03-01T12:00:20.000Z","durationSeconds":6,"endReason":"why"}"#
    #expect(try await list() == "[\(d),\(a)]")
    #expect(try await list("limit=1") == "[\(d)]")
    #expect(try await list("guildId=1") == "[\(a)]")
  }

  @Test("Of a long session the first 500 events come, oldest first")
  func events() async throws {
    let store = try ActionStore(path: ":memory:")
    let late = Fixture.action(
      "voice_info", at: "2026-03-01T13:00:00.000Z", metadata: #"{"sessionId":"a"}"#)
    let early = Fixture.action("voice_info", metadata: #"{"sessionId":"a"}"#)
    _ = try await store.insert([late] + Array(repeating: early, count: 501))
    let events = try await store.read { try VoiceHistory.events("a", $0) }
    #expect(events.map(\.id) == Array(2...501))
  }

  @Test("The path's segment is decoded, and is one")
  func segment() throws {
    func session(_ path: String) throws -> String? {
      try Fixture.head("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n").segment(
        after: "/a/", before: "/e")
    }
    #expect(try session("/a/x/e") == "x")
    #expect(try session("/a/x%2Fy+z%zz/e") == "x/y+z%zz")
    #expect(try session("/a/x/y/e") == nil)
    #expect(try session("/a//e") == nil)
    #expect(try session("/a/e") == nil)
    #expect(try session("/b/x/e") == nil)
  }
}
