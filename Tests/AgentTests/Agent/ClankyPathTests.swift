import Core
import Testing

@testable import Agent

/// The paths that a dashboard is asked for, to the byte.
@Suite struct ClankyPathTests {
  @Test(arguments: [
    (ClankyPath.channels(guild: "1/2"), "api/guilds/1%2F2/channels"),
    (ClankyPath.stats(guild: nil), "api/stats"),
    (ClankyPath.stats(guild: "1&2"), "api/stats?guildId=1%262"),
    (
      ClankyPath.actions(guild: "9", kinds: ["a", "b c"], sinceHours: "1.5", limit: 7),
      "api/actions?limit=7&kinds=a%2Cb%20c&sinceHours=1.5&guildId=9"
    ),
    (
      ClankyPath.actions(guild: nil, kinds: nil, sinceHours: nil, limit: 1),
      "api/actions?limit=1"
    ),
    (
      ClankyPath.automations(guild: "1", channel: "2", statuses: ["active", "paused"], limit: 3),
      "api/automations?guildId=1&channelId=2&status=active%2Cpaused&limit=3"
    ),
    (
      ClankyPath.automations(guild: "1", statuses: [], limit: nil),
      "api/automations?guildId=1"
    ),
    (
      ClankyPath.runs(of: "5", guild: "1", limit: 2),
      "api/automations/runs?guildId=1&automationId=5&limit=2"
    ),
    (
      ClankyPath.browserSessions(guild: nil, sinceHours: "2", limit: 200),
      "api/agents/browser-sessions?sinceHours=2&limit=200"
    ),
    (
      ClankyPath.pastSessions(guild: "1", limit: 5),
      "api/voice/history/sessions?limit=5&guildId=1"
    ),
    (
      ClankyPath.events(ofPastSession: "../x?y"),
      "api/voice/history/sessions/..%2Fx%3Fy/events"
    ),
    // No step up in the path.
    (ClankyPath.events(ofPastSession: ".."), "api/voice/history/sessions/%2E%2E/events"),
    (ClankyPath.memory(guild: "1"), "api/memory?guildId=1"),
    (
      ClankyPath.facts(guild: "1", subject: "Noor", text: nil, limit: 500),
      "api/memory/facts?guildId=1&limit=500&subject=Noor"
    ),
    (ClankyPath.fact("6 1"), "api/memory/facts/6%201"),
    (ClankyPath.subjects(guild: "1", limit: 2), "api/memory/subjects?guildId=1&limit=2"),
    (
      ClankyPath.search("sailing boat", guild: "1", channel: nil, limit: 10),
      "api/memory/search?q=sailing%20boat&guildId=1&limit=10"
    ),
    (ClankyPath.reflections(guild: nil, limit: 20), "api/memory/reflections?limit=20"),
    (
      ClankyPath.factProfile(user: "7", guild: "1", channel: "2", text: "tea"),
      "api/memory/fact-profile?guildId=1&userId=7&channelId=2&queryText=tea"
    ),
  ])
  func pathsAndQueries(path: String, whole: String) { #expect(path == whole) }

  private func outcome(_ json: String) throws -> (isJoined: Bool, words: String)? {
    VoiceJoin.outcome(try JSONValue.parse(text: json))
  }

  @Test func whatJoiningMeans() throws {
    let joined = try outcome(#"{"ok":true,"reason":"joined","guildId":"1","voiceChannelId":"2"}"#)
    #expect(joined?.isJoined == true)
    #expect(joined?.words == "joined: channel 2, guild 1")
    let refused = try outcome(#"{"ok":false,"reason":"requester_is_bot","guildId":null}"#)
    #expect(refused?.words == "that user is a bot (requester_is_bot)")
    #expect(try outcome(#"{"ok":false,"reason":"new_reason"}"#)?.words == "new_reason")
    #expect(try outcome(#"{"ok":false}"#)?.words == "refused")
    #expect(try outcome(#"{"ok":"yes"}"#) == nil)
    #expect(try outcome("[]") == nil)
    #expect(try outcome(#"{"ok":true,"reason":7,"guildId":[]}"#)?.isJoined == true)
  }

  @Test func idsAreQuoted() {
    let body = String(
      decoding: VoiceJoin.body(guild: "1\"2", user: nil, channel: "3"), as: UTF8.self)
    #expect(body == #"{"guildId":"1\"2","textChannelId":"3","source":"agent-call"}"#)
    #expect(VoiceJoin.body(guild: nil, user: nil, channel: nil).count > 2)
  }
}
