import Web

/// The paths of a dashboard's API, queries included, behind its base
/// (Agent/Clanky/CONTRACT.md 1.3).
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
    path("api/stats", ("guildId", guild))
  }

  /// Actions, newest first; nil for all guilds, kinds and times.
  public static func actions(
    guild: String?, kinds: [String]?, sinceHours hours: String?, limit: Int
  ) -> String {
    path(
      "api/actions",
      ("limit", "\(limit)"), ("kinds", kinds?.joined(separator: ",")), ("sinceHours", hours),
      ("guildId", guild))
  }

  /// agent-serve alone tells (Agent/Clanky/CONTRACT.md 9.7).
  static func actionCount(
    guild: String?, kinds: [String]?, sinceHours hours: String?, since time: String?,
    upTo id: Int64?
  ) -> String {
    path(
      "api/actions/count",
      ("kinds", kinds?.joined(separator: ",")), ("sinceHours", hours), ("since", time),
      ("guildId", guild), ("upTo", id.map { "\($0)" }))
  }

  /// No `statuses`: those that the dashboard lists by itself; a nil `limit` is the dashboard's own.
  public static func automations(
    guild: String, channel: String? = nil, statuses: [String], limit: Int?
  ) -> String {
    path(
      "api/automations",
      ("guildId", guild), ("channelId", channel),
      ("status", statuses.isEmpty ? nil : statuses.joined(separator: ",")),
      ("limit", limit.map { "\($0)" }))
  }

  /// Runs of an automation; a nil `limit` is the dashboard's own.
  public static func runs(of automation: String, guild: String, limit: Int?) -> String {
    path(
      "api/automations/runs",
      ("guildId", guild), ("automationId", automation), ("limit", limit.map { "\($0)" }))
  }

  /// What the agent did in a browser; nil for all guilds, the dashboard's own window and limit.
  public static func browserSessions(
    guild: String?, sinceHours hours: String?, limit: Int?
  ) -> String {
    path(
      "api/agents/browser-sessions",
      ("guildId", guild), ("sinceHours", hours), ("limit", limit.map { "\($0)" }))
  }
}

extension ClankyPath {
  private static func path(_ path: String, _ query: (String, String?)...) -> String {
    path + QueryText.encode(query.map { (name: $0.0, value: $0.1) })
  }

  /// The stream of the voice sessions.
  public static let voiceEvents = "api/voice/events"
  /// How the kinds of the actions begin that it has (Agent/Clanky/CONTRACT.md 2.2).
  static let voiceKinds = "voice_"
  /// The voice sessions now.
  public static let voiceState = "api/voice/state"
  /// Takes the command to join a voice channel.
  public static let voiceJoin = "api/voice/join"
  /// Speech recognition.
  public static let asrSessions = "api/voice/asr-sessions"
  /// Calls of tools in voice.
  public static let toolEvents = "api/voice/tool-events"

  /// Sessions that have ended; nil for all guilds.
  public static func pastSessions(guild: String?, limit: Int) -> String {
    path("api/voice/history/sessions", ("limit", "\(limit)"), ("guildId", guild))
  }

  /// The events of a session that has ended.
  public static func events(ofPastSession id: String) -> String {
    "api/voice/history/sessions/\(QueryText.part(id))/events"
  }
}

extension ClankyPath {
  /// Facts; a POST makes one where the backend can.
  public static let facts = "api/memory/facts"
  /// Takes what a turn would ask of the memory.
  public static let runtimeSnapshot = "api/memory/runtime-snapshot"

  /// The memory as text; nil for all guilds.
  public static func memory(guild: String?) -> String {
    path("api/memory", ("guildId", guild))
  }

  /// Facts, the newest update first; nil for all subjects, and texts of any kind.
  public static func facts(guild: String, subject: String?, text: String?, limit: Int) -> String {
    path(
      facts,
      ("guildId", guild), ("limit", "\(limit)"), ("subject", subject), ("q", text))
  }

  /// One fact, to be changed or deleted.
  public static func fact(_ id: String) -> String { "\(facts)/\(QueryText.part(id))" }

  /// The subjects of facts.
  public static func subjects(guild: String, limit: Int) -> String {
    path("api/memory/subjects", ("guildId", guild), ("limit", "\(limit)"))
  }

  /// A text to search for that a dashboard takes for "everything, of all guilds".
  public static let everything = "__ALL__"

  /// The facts that fit a text best; nil for all channels.
  public static func search(_ text: String, guild: String, channel: String?, limit: Int) -> String {
    path(
      "api/memory/search",
      ("q", text), ("guildId", guild), ("channelId", channel), ("limit", "\(limit)"))
  }

  /// The daily runs that make facts; nil for all guilds.
  public static func reflections(guild: String?, limit: Int) -> String {
    path("api/memory/reflections", ("guildId", guild), ("limit", "\(limit)"))
  }

  /// What the agent is told of a person.
  ///
  /// - Parameters:
  ///   - channel: nil for none.
  ///   - text: what is talked of; nil for nothing.
  public static func factProfile(
    user: String, guild: String, channel: String?, text: String?
  ) -> String {
    path(
      "api/memory/fact-profile",
      ("guildId", guild), ("userId", user), ("channelId", channel), ("queryText", text))
  }
}
