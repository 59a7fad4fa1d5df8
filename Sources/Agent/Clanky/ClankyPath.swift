import Web

/// The paths of a dashboard's API, queries included, behind its base
/// (CONTRACT.md 1.3).
public enum ClankyPath {
  /// Whether it is well.
  public static let health = "api/health"
  /// What the agent is set to.
  public static let settings = "api/settings"
  /// The public tunnel.
  public static let tunnel = "api/public-https"
  /// The tool servers.
  public static let mcp = "api/mcp/status"
  /// The guilds that the agent is in.
  public static let guilds = "api/guilds"
  /// The stream of actions.
  public static let activityEvents = "api/activity/events"

  /// The channels of a guild.
  public static func channels(guild: String) -> String {
    "\(guilds)/\(QueryText.part(guild))/channels"
  }

  /// Counters and costs.
  ///
  /// - Parameter guild: nil for all.
  public static func stats(guild: String?) -> String {
    "api/stats" + QueryText.encode([("guildId", guild)])
  }

  /// Actions, newest first.
  ///
  /// - Parameters:
  ///   - guild: nil for all.
  ///   - kinds: nil for all.
  ///   - hours: the window until now; nil for none.
  ///   - limit: the most rows.
  public static func actions(
    guild: String?, kinds: [String]?, sinceHours hours: String?, limit: Int
  ) -> String {
    "api/actions"
      + QueryText.encode([
        ("limit", "\(limit)"), ("kinds", kinds?.joined(separator: ",")), ("sinceHours", hours),
        ("guildId", guild),
      ])
  }

  /// Automations of a guild.
  ///
  /// - Parameters:
  ///   - guild: whose.
  ///   - channel: nil for all.
  ///   - statuses: empty for those that the dashboard lists by itself.
  ///   - limit: the most rows; nil for the dashboard's own limit.
  public static func automations(
    guild: String, channel: String? = nil, statuses: [String], limit: Int?
  ) -> String {
    "api/automations"
      + QueryText.encode([
        ("guildId", guild), ("channelId", channel),
        ("status", statuses.isEmpty ? nil : statuses.joined(separator: ",")),
        ("limit", limit.map { "\($0)" }),
      ])
  }

  /// Runs of an automation.
  ///
  /// - Parameters:
  ///   - automation: its id.
  ///   - guild: whose it is.
  ///   - limit: the most rows; nil for the dashboard's own limit.
  public static func runs(of automation: String, guild: String, limit: Int?) -> String {
    "api/automations/runs"
      + QueryText.encode([
        ("guildId", guild), ("automationId", automation), ("limit", limit.map { "\($0)" }),
      ])
  }

  /// What the agent did in a browser.
  ///
  /// - Parameters:
  ///   - guild: nil for all.
  ///   - hours: the window until now; nil for the dashboard's own.
  ///   - limit: the most rows; nil for the dashboard's own limit.
  public static func browserSessions(
    guild: String?, sinceHours hours: String?, limit: Int?
  ) -> String {
    "api/agents/browser-sessions"
      + QueryText.encode([
        ("guildId", guild), ("sinceHours", hours), ("limit", limit.map { "\($0)" }),
      ])
  }
}

/// Voice.
extension ClankyPath {
  /// The stream of the voice sessions.
  public static let voiceEvents = "api/voice/events"
  /// The voice sessions now.
  public static let voiceState = "api/voice/state"
  /// Takes the command to join a voice channel.
  public static let voiceJoin = "api/voice/join"
  /// Speech recognition.
  public static let asrSessions = "api/voice/asr-sessions"
  /// Calls of tools in voice.
  public static let toolEvents = "api/voice/tool-events"

  /// Sessions that have ended.
  ///
  /// - Parameters:
  ///   - guild: nil for all.
  ///   - limit: the most rows.
  public static func pastSessions(guild: String?, limit: Int) -> String {
    "api/voice/history/sessions" + QueryText.encode([("limit", "\(limit)"), ("guildId", guild)])
  }

  /// The events of a session that has ended.
  ///
  /// - Parameter id: the session's.
  public static func events(ofPastSession id: String) -> String {
    "api/voice/history/sessions/\(QueryText.part(id))/events"
  }
}
