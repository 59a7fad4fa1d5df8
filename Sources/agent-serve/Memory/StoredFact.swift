import Core

/// One durable fact of the agent's memory (Agent/Clanky/CONTRACT.md 5.2).
struct StoredFact: Sendable, Equatable {
  /// Never used twice; 0 for a fact that is not stored yet.
  var id: Int64 = 0
  /// RFC 3339 in UTC with three decimals.
  var createdAt: String
  /// When it was made or edited last.
  var updatedAt: String
  /// `guild`, `user`, `owner`, or another word.
  var scope: String
  /// The guild of a guild-scope fact; nil for facts of users and the owner.
  var guild: String?
  /// Where it was said.
  var channel: String?
  /// Whom it is about.
  var user: String?
  /// A user's id, `__lore__`, `__self__`, `__owner__`, or another word.
  var subject: String
  /// What is remembered.
  var text: String
  /// `preference`, `profile`, ...; never empty.
  var type: String
  /// What was said.
  var evidence: String?
  /// The message in which it was said.
  var sourceMessage: String?
  /// 0 to 1.
  var confidence: Double
  /// Whether it was carried over from an older kind of memory.
  var isLegacy = false
  /// Grows with every edit.
  var revision: Int64 = 1

  /// Whether a fact's guild is what decides who may edit it.
  var isPortable: Bool { Self.isPortable(scope) }

  /// Whether facts of a scope belong to a person and not to a guild.
  static func isPortable(_ scope: String) -> Bool { scope == "user" || scope == "owner" }
}

extension StoredFact {
  /// A row of the facts endpoint, and of the answer to an edit.
  var editable: String { "{\(members),\"metadata\":{\"isLegacy\":\(isLegacy)}}" }

  /// The members of a row in the order of the dashboard.
  var members: String {
    """
    "id":\(id),"created_at":\(JSONText.quoted(createdAt)),\
    "updated_at":\(JSONText.quoted(updatedAt)),"scope":\(JSONText.quoted(scope)),\
    "guild_id":\(JSONText.quoted(guild)),"channel_id":\(JSONText.quoted(channel)),\
    "user_id":\(JSONText.quoted(user)),"subject":\(JSONText.quoted(subject)),\
    "fact":\(JSONText.quoted(text)),"fact_type":\(JSONText.quoted(type)),\
    "evidence_text":\(JSONText.quoted(evidence)),\
    "source_message_id":\(JSONText.quoted(sourceMessage)),\
    "confidence":\(JSONText.number(confidence))
    """
  }

  /// The camelCase form of profiles and snapshots (Agent/Clanky/CONTRACT.md 5.3).
  var profile: String {
    """
    {"id":\(id),"scope":\(JSONText.quoted(scope)),"userId":\(JSONText.quoted(user)),\
    "subject":\(JSONText.quoted(subject)),"factType":\(JSONText.quoted(type)),\
    "fact":\(JSONText.quoted(text)),"confidence":\(JSONText.number(confidence)),\
    "metadata":{"createdAt":\(JSONText.quoted(createdAt)),\
    "updatedAt":\(JSONText.quoted(updatedAt)),"guildId":\(JSONText.quoted(guild)),\
    "channelId":\(JSONText.quoted(channel)),"evidenceText":\(JSONText.quoted(evidence)),\
    "sourceMessageId":\(JSONText.quoted(sourceMessage)),"isLegacy":\(isLegacy)}}
    """
  }
}

extension Sequence where Element == StoredFact {
  /// The facts as an array in the form of profiles.
  var profiles: String { "[\(map(\.profile).joined(separator: ","))]" }
}
