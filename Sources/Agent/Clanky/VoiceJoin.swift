public import Core
import Records

/// `POST /api/voice/join`: what is sent, and what the answer means
/// (Agent/Clanky/CONTRACT.md 6). A refusal comes with 200 too.
public enum VoiceJoin {
  /// The body of the request.
  ///
  /// - Parameters:
  ///   - guild: nil for the first in which somebody is in a voice channel.
  ///   - user: whose voice channel is joined; nil for the first person's.
  ///   - channel: the text channel to answer in.
  public static func body(guild: String?, user: String?, channel: String?) -> [UInt8] {
    RecordText().string("guildId", guild).string("requesterUserId", user)
      .string("textChannelId", channel).string("source", "agent-call").bytes
  }

  /// Where the answer names another guild, person or text channel than was asked
  /// for: a dashboard falls back without a word.
  ///
  /// - Returns: a few words, nil when all is as it was asked for.
  public static func difference(
    _ answer: JSONValue, guild: String?, user: String?, channel: String?
  ) -> String? {
    let parts = [
      ("guildId", "guild", guild), ("requesterUserId", "user", user),
      ("textChannelId", "text channel", channel),
    ].compactMap { name, word, asked -> String? in
      guard let asked, let got = answer[name]?.text, got != asked else { return nil }
      return "\(word) \(got), not \(asked)"
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// Reads the answer.
  ///
  /// - Returns: whether the agent is there now, and what came of it in words; nil when it does not
  ///   say whether the agent joined.
  public static func outcome(_ answer: JSONValue) -> (isJoined: Bool, words: String)? {
    guard let ok = answer["ok"]?.bool else { return nil }
    let reason = answer["reason"]?.text ?? ""
    let known = words[reason]
    let place = [
      answer["voiceChannelId"]?.text.map { "channel \($0)" },
      answer["guildId"]?.text.map { "guild \($0)" },
    ].compactMap { $0 }.joined(separator: ", ")
    if ok {
      let said = known ?? (reason.isEmpty ? "joined" : reason)
      return (true, place.isEmpty ? said : "\(said): \(place)")
    }
    return (false, known.map { "\($0) (\(reason))" } ?? (reason.isEmpty ? "refused" : reason))
  }

  private static let words = [
    "joined": "joined",
    "already_in_channel": "already there",
    "no_guild_available": "the agent is in no guild",
    "guild_not_found": "the agent is in no such guild",
    "requester_not_in_voice": "that user is in no voice channel",
    "requester_is_bot": "that user is a bot",
    "no_voice_members_found": "nobody is in a voice channel",
    "text_channel_unavailable": "that text channel cannot be used",
    "join_not_handled": "the agent did not act on it",
    "voice_join_unconfirmed": "the agent tried, but is not in the channel yet",
    "voice_join_unknown": "the agent does not say what came of it",
    "voice_join_unavailable": "the agent cannot join voice channels",
  ]
}
