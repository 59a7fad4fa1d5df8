public import Core
public import Records
import Web

/// The guilds of the agent, and which one is meant when none is named.
public enum GuildChoice {
  /// All of them.
  public static func guilds(_ caller: Caller) throws(Failure) -> [ToldName] {
    let reply = try caller.call(ClankyPath.guilds)
    let rows = try Answer.list(reply, nil, place: "guilds")
    return guilds(in: rows).map { ToldName(.guild, id: $0.id, name: reply.head.quoted($0.name)) }
  }

  /// Those of a list; anything else in it is passed over.
  ///
  /// - Parameter rows: the elements of `GET /api/guilds`.
  public static func guilds(in rows: [[UInt8]]) -> [ToldName] {
    rows.compactMap { row in
      guard let guild = JSONValue(row), let id = guild["id"]?.text, !id.isEmpty else { return nil }
      return ToldName(.guild, id: id, name: guild["name"]?.text ?? "")
    }
  }

  /// The guild that is meant: the one given, else the profile's, else the only
  /// one there is.
  ///
  /// - Parameter given: the id of the one given, nil when none is.
  public static func choose(_ given: String?, _ caller: Caller) throws(Failure) -> String {
    if let given { return given }
    guard let guild = caller.backend.profile?.guild else { return try only(of: try guilds(caller)) }
    // It was right when it was written.
    return NameKey.isID(guild) ? guild : try named(guild, caller).id
  }

  /// The guild of an id or a name.
  ///
  /// - Throws: `Failure`, also for a guild that the agent is not in.
  public static func named(_ text: String, _ caller: Caller) throws(Failure) -> ToldName {
    let all: [ToldName]
    do throws(Failure) { all = try guilds(caller) } catch {
      // A backend without such a list; what is else at fault, the next answer tells.
      guard error.status == .failure else { throw error }
      all = []
    }
    return try named(text, of: all)
  }

  /// The guild of an id or a name, of those that the agent is in. A backend that lists
  /// none cannot tell: there every id in digits will do.
  ///
  /// - Throws: `Failure`: `failure` for another, which names those there are, and for a
  ///   name that several have.
  public static func named(_ text: String, of guilds: [ToldName]) throws(Failure) -> ToldName {
    if guilds.isEmpty, NameKey.isID(text) { return ToldName(.guild, id: text, name: "") }
    if let one = try guilds.one(text, .guild) { return one }
    let known = guilds.isEmpty ? "the backend lists none" : "there are \(guilds.list)"
    throw Failure("guild \(text)", "no such guild; \(known)", .failure)
  }

  /// The only guild there is.
  ///
  /// - Throws: `Failure`: `negative` when there is none, `failure` when
  ///   there are several.
  public static func only(of guilds: [ToldName]) throws(Failure) -> String {
    if guilds.count == 1 { return guilds[0].id }
    if guilds.isEmpty { throw Failure("guilds", "the agent is in none", .negative) }
    throw Failure(
      "guilds", "there are several, name one with --guild: \(guilds.list)", .failure)
  }

  /// A record with a last member that says in which of several guilds it was found, null for one of
  /// no guild; as it came where one guild is asked.
  public static func marked(_ row: [UInt8], among guilds: [ToldName]) -> [UInt8] {
    guard guilds.count > 1, let value = JSONValue(row), value.isObject, !value.members.isEmpty
    else { return row }
    let id = value[either: "guild_id", "guildId"]?.text
    let guild = guilds.first { $0.id == id }
    return RecordText().members(Array(RowText.line(row).dropFirst().dropLast()))
      .stringOrNull("guild_name", guild.map { $0.name.isEmpty ? $0.id : $0.name }).bytes
  }
}

extension Settings.Profile {
  /// The guild that is meant where none is named.
  public var guild: String? { own["guild"] }
}
