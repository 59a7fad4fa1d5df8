import Web

/// The memory.
extension ClankyPath {
  /// Facts; a POST makes one where the backend can.
  public static let facts = "api/memory/facts"
  /// Takes what a turn would ask of the memory.
  public static let runtimeSnapshot = "api/memory/runtime-snapshot"

  /// The memory as text.
  ///
  /// - Parameter guild: nil for all.
  public static func memory(guild: String?) -> String {
    "api/memory" + QueryText.encode([("guildId", guild)])
  }

  /// Facts, the newest update first.
  ///
  /// - Parameters:
  ///   - guild: whose.
  ///   - subject: nil for all.
  ///   - text: what one of their members holds; nil for anything.
  ///   - limit: the most rows.
  public static func facts(
    guild: String, subject: String?, text: String?, limit: Int
  ) -> String {
    facts
      + QueryText.encode([
        ("guildId", guild), ("limit", "\(limit)"), ("subject", subject), ("q", text),
      ])
  }

  /// One fact, to be changed or deleted.
  public static func fact(_ id: String) -> String { "\(facts)/\(QueryText.part(id))" }

  /// The subjects of facts.
  ///
  /// - Parameters:
  ///   - guild: whose.
  ///   - limit: the most rows.
  public static func subjects(guild: String, limit: Int) -> String {
    "api/memory/subjects" + QueryText.encode([("guildId", guild), ("limit", "\(limit)")])
  }

  /// The facts that fit a text best.
  ///
  /// - Parameters:
  ///   - text: what is looked for.
  ///   - guild: whose.
  ///   - channel: nil for all.
  ///   - limit: the most rows.
  public static func search(
    _ text: String, guild: String, channel: String?, limit: Int
  ) -> String {
    "api/memory/search"
      + QueryText.encode([
        ("q", text), ("guildId", guild), ("channelId", channel), ("limit", "\(limit)"),
      ])
  }

  /// The daily runs that make facts.
  ///
  /// - Parameters:
  ///   - guild: nil for all.
  ///   - limit: the most rows.
  public static func reflections(guild: String?, limit: Int) -> String {
    "api/memory/reflections" + QueryText.encode([("guildId", guild), ("limit", "\(limit)")])
  }

  /// What the agent is told of a person.
  ///
  /// - Parameters:
  ///   - user: who.
  ///   - guild: where.
  ///   - channel: nil for none.
  ///   - text: what is talked of; nil for nothing.
  public static func factProfile(
    user: String, guild: String, channel: String?, text: String?
  ) -> String {
    "api/memory/fact-profile"
      + QueryText.encode([
        ("guildId", guild), ("userId", user), ("channelId", channel), ("queryText", text),
      ])
  }
}
