import Core

/// The guilds of the agent, and which one is meant when none is named.
enum GuildChoice {
  /// A guild, as `GET /api/guilds` lists it.
  struct Guild: Equatable {
    var id: String
    var name: String
  }

  /// - Throws: `CallFailure`.
  static func guilds(_ caller: Caller) throws(CallFailure) -> [Guild] {
    let reply = try caller.call("api/guilds")
    let rows = try Answer(reply, place: "guilds").list(nil, place: "guilds")
    return rows.compactMap { row in
      guard let guild = try? row.withUnsafeBytes({ try JSONValue.parse($0) }),
        let id = guild["id"]?.text, !id.isEmpty
      else { return nil }
      return Guild(id: id, name: guild["name"]?.text ?? "")
    }
  }

  /// The only guild there is.
  ///
  /// - Throws: `CallFailure`: `negative` when there is none, `failure` when
  ///   there are several.
  static func only(of guilds: [Guild]) throws(CallFailure) -> String {
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
