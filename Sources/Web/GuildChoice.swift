import Core

/// The guilds of the agent, and which one is meant when none is named.
public enum GuildChoice {
  /// A guild, as `GET /api/guilds` lists it.
  public struct Guild: Equatable, Sendable {
    /// As the wire has it.
    public var id: String
    /// Empty when there is none.
    public var name: String

    /// - Parameters:
    ///   - id: as the wire has it.
    ///   - name: empty when there is none.
    public init(id: String, name: String) {
      self.id = id
      self.name = name
    }
  }

  /// All of them.
  ///
  /// - Throws: `CallFailure`.
  public static func guilds(_ caller: Caller) throws(CallFailure) -> [Guild] {
    let reply = try caller.call("api/guilds")
    let rows = try Answer(reply, place: "guilds").list(nil, place: "guilds")
    return rows.compactMap { row in
      guard let guild = try? row.withUnsafeBytes({ try JSONValue.parse($0) }),
        let id = guild["id"]?.text, !id.isEmpty
      else { return nil }
      return Guild(id: id, name: guild["name"]?.text ?? "")
    }
  }

  /// The guild that is meant: the one given, else the profile's, else the only
  /// one there is.
  ///
  /// - Parameters:
  ///   - given: the argument of `--guild`, nil when not given.
  ///   - caller: whose profile, and who is asked.
  /// - Throws: `CallFailure`.
  public static func choose(_ given: String?, _ caller: Caller) throws(CallFailure) -> String {
    if let guild = given ?? caller.backend.guild { return guild }
    return try only(of: try guilds(caller))
  }

  /// The only guild there is.
  ///
  /// - Throws: `CallFailure`: `negative` when there is none, `failure` when
  ///   there are several.
  public static func only(of guilds: [Guild]) throws(CallFailure) -> String {
    if guilds.count == 1 { return guilds[0].id }
    if guilds.isEmpty { throw CallFailure("guilds", "the agent is in none", .negative) }
    var names = guilds.prefix(8).map { guild in
      let name = guild.name.unicodeScalars.prefix(40).map { String($0) }.joined()
      return name.isEmpty ? guild.id : "\(guild.id) (\(name))"
    }
    if guilds.count > names.count { names.append("and \(guilds.count - names.count) more") }
    throw CallFailure(
      "guilds", "there are several, name one with --guild: \(names.joined(separator: ", "))",
      .failure)
  }
}
