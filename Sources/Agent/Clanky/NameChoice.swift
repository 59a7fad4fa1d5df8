import CLibc
public import Core
import Kinds
public import Records
import Web

extension Caller {
  /// The guilds of the agent.
  public func guilds() throws(Failure) -> [ToldName] {
    let reply = try call(ClankyPath.guilds)
    let rows = try Answer.list(reply, nil, place: "guilds")
    return [ToldName](guilds: rows).map {
      ToldName(.guild, id: $0.id, name: reply.head.quoted($0.name))
    }
  }

  /// The guild that is meant: the one given by its id, else the profile's, else the only one there
  /// is.
  func guild(_ given: String?) throws(Failure) -> String {
    if let given { return given }
    guard let guild = backend.profile?.guild else { return try guilds().onlyGuild() }
    // It was right when it was written.
    return NameKey.isID(guild) ? guild : try self.guild(named: guild).id
  }

  /// The guild of an id or a name.
  ///
  /// - Throws: `Failure`, also for a guild that the agent is not in.
  public func guild(named text: String) throws(Failure) -> ToldName {
    let all: [ToldName]
    do throws(Failure) { all = try guilds() } catch {
      // A backend without such a list; what is else at fault, the next answer tells.
      guard error.status == .failure else { throw error }
      all = []
    }
    return try all.guild(named: text)
  }

  /// The people whom the agent met in voice, the only ones whose names a dashboard tells: those last
  /// met first; one who was renamed has all names.
  public func users(limit: Int = ActionPages.mostRows) throws(Failure) -> [ToldName] {
    var scan = NameScan()
    var told = try call(ClankyPath.voiceState).body.withUnsafeBytes { scan.names(in: $0) }
    let path = ClankyPath.actions(
      guild: nil, kinds: ["voice_runtime"], sinceHours: nil, limit: limit)
    for row in try Answer.list(try call(path), nil, place: "actions") {
      told += row.withUnsafeBytes { scan.names(in: $0) }
    }
    var known: Set<ToldName> = []
    return told.filter { $0.kind == .user && known.insert($0).inserted }
  }

  /// The id of a user.
  ///
  /// - Parameter text: an id, which is not looked up, or a name.
  /// - Throws: `Failure`, also for a name that nobody has.
  public func user(named text: String) throws(Failure) -> String {
    if NameKey.isID(text) { return text }
    let all = try users()
    if let found = try all.one(text, .user) { return found.id }
    let known = all.isEmpty ? "the backend tells no names" : "there are \(all.list)"
    throw Failure(
      "user \(text)", "nobody of this name is known, an id will do; \(known)", .failure)
  }
}

extension [ToldName] {
  /// The guilds of a list; anything else in it is passed over.
  ///
  /// - Parameter rows: the elements of `GET /api/guilds`.
  init(guilds rows: [[UInt8]]) {
    self = rows.compactMap { row in
      guard let guild = JSONValue(row), let id = guild["id"]?.text, !id.isEmpty else { return nil }
      return ToldName(.guild, id: id, name: guild["name"]?.text ?? "")
    }
  }

  /// The guild of an id or a name, of those that the agent is in. A backend that lists
  /// none cannot tell: there every id in digits will do.
  ///
  /// - Throws: `Failure`: `failure` for another, which names those there are, and for a
  ///   name that several have.
  public func guild(named text: String) throws(Failure) -> ToldName {
    if isEmpty, NameKey.isID(text) { return ToldName(.guild, id: text, name: "") }
    if let one = try one(text, .guild) { return one }
    let known = isEmpty ? "the backend lists none" : "there are \(list)"
    throw Failure("guild \(text)", "no such guild; \(known)", .failure)
  }

  /// The only guild there is.
  ///
  /// - Throws: `Failure`: `negative` when there is none, `failure` when
  ///   there are several.
  public func onlyGuild() throws(Failure) -> String {
    if count == 1 { return self[0].id }
    if isEmpty { throw Failure("guilds", "the agent is in none", .negative) }
    throw Failure("guilds", "there are several, name one with --guild: \(list)", .failure)
  }

  /// A record with a last member that says in which of several guilds it was found, null for one of
  /// no guild; as it came where one guild is asked.
  public func marked(_ row: [UInt8]) -> [UInt8] {
    guard count > 1, let value = JSONValue(row), value.isObject, !value.members.isEmpty
    else { return row }
    let id = value[either: "guild_id", "guildId"]?.text
    let guild = first { $0.id == id }
    return RecordText().members([UInt8](RowText.line(row).dropFirst().dropLast()))
      .stringOrNull("guild_name", guild.map { $0.name.isEmpty ? $0.id : $0.name }).bytes
  }

  /// The one of that id, else the one of that name: the very name, or one that is the same
  /// but for case and what is neither letter nor digit.
  func one(_ text: String, _ kind: NamedKind) throws(Failure) -> ToldName? {
    if let found = first(where: { $0.id == text }) { return found }
    let key = NameKey(text)
    for isMeant in [{ $0.name == text }, { NameKey($0.name) == key }] as [(ToldName) -> Bool] {
      var ids: Set<String> = []
      let found = filter { isMeant($0) && ids.insert($0.id).inserted }
      if found.count > 1 {
        throw Failure(
          "\(kind.rawValue) \(text)", "several have this name, give an id: \(found.list)",
          .failure)
      }
      if let found = found.first { return found }
    }
    return nil
  }

  /// For messages: `4 (Den), 5 (Cave)`.
  var list: String {
    var words = prefix(8).map { one in
      let name = one.name.unicodeScalars.prefix(40).map { String($0) }.joined()
      return name.isEmpty ? one.id : "\(one.id) (\(name))"
    }
    if count > words.count { words.append("and \(count - words.count) more") }
    return words.joined(separator: ", ")
  }
}

extension Settings.Profile {
  /// The guild that is meant where none is named.
  public var guild: String? { own["guild"] }
}

/// Names that a shell may offer, asked of the agent that the configuration names by
/// itself. Where that takes long or fails, nothing is offered: somebody waits for a Tab.
public enum OfferedNames {
  /// Seconds for all of it, a token's command included.
  private static let most: UInt32 = 2
  private static let events = 200

  /// The guilds that the agent is in.
  public static let guilds = Completion.live {
    look { caller throws(Failure) in try caller.guilds() }
  }

  /// The people whose names are known.
  public static let users = Completion.live {
    look { caller throws(Failure) in try caller.users(limit: events) }
  }

  private static func look(_ ask: (Caller) throws(Failure) -> [ToldName]) -> [String] {
    guard let profile = try? Settings().profile(nil), profile.kind == .clanky else { return [] }
    // Whatever it is that hangs; a shell would tell of a signal.
    signal(SIGALRM) { _ in _exit(0) }
    alarm(most)
    let silent = Diagnostics(program: "agentutils", descriptor: -1)
    let caller = try? Caller(
      AccessOptions(), for: .call, maxTime: Double(most), diagnostics: silent)
    return words((caller.flatMap { try? ask($0) }) ?? [])
  }

  /// A word for each: its name where that is a word and unique, else its id.
  static func words(_ told: [ToldName]) -> [String] {
    let keys = told.reduce(into: [NameKey: Set<String>]()) {
      $0[NameKey($1.name), default: []].insert($1.id)
    }
    var known: Set<String> = []
    return told.compactMap { one in
      let word = NameKey.word(one.name)
      let isClear = keys[NameKey(one.name)]?.count == 1
      let offered =
        isClear && word.count <= 60 && !NameKey.isID(word) && Completion.isPlain(word)
        ? word : one.id
      return known.insert(offered).inserted ? offered : nil
    }
  }
}
