public import Core
public import Records
import Web

/// Fetches facts of guilds, however many there are.
public struct FactFetch {
  private let caller: Caller
  /// Those that are asked; one at least.
  public let guilds: [ToldName]
  private let diagnostics: Diagnostics

  /// - Parameter guilds: whose facts; one at least.
  public init(caller: Caller, guilds: [ToldName], diagnostics: Diagnostics) {
    (self.caller, self.guilds, self.diagnostics) = (caller, guilds, diagnostics)
  }

  /// Facts, the newest update first, as the backend sent them; not whole when some are known to be
  /// missing, which was said.
  public typealias Found = (rows: [[UInt8]], isWhole: Bool)

  /// A guild that a fact of no guild can be named with.
  public var guild: String { guilds.first?.id ?? "" }

  /// The facts and subjects that belong to the guilds that are asked, or to a person: a
  /// backend may send those of other guilds with them.
  public func belonging(_ rows: [[UInt8]]) -> [[UInt8]] {
    let ids = Set(guilds.map(\.id))
    return rows.filter { row in
      guard let value = JSONValue(row), let guild = value[either: "guild_id", "guildId"]?.text,
        !guild.isEmpty
      else { return true }
      return ids.contains(guild) || Fact.isOfPerson(scope: value["scope"]?.text)
    }
  }

  /// All facts.
  ///
  /// - Parameters:
  ///   - subject: of this subject alone; nil for all.
  ///   - text: with this text in one of their members; empty for all.
  public func all(subject: String? = nil, text: String = "") throws(Failure) -> Found {
    var found: Found = ([], true)
    for guild in guilds {
      let more = try all(of: guild, subject: subject, text: text)
      found.rows += more.rows
      found.isWhole = found.isWhole && more.isWhole
    }
    found.rows = merged(found.rows)
    return found
  }

  private func all(of guild: ToldName, subject: String?, text: String) throws(Failure) -> Found {
    if !text.isEmpty {
      let rows = try ask(guild, FactPages.Query(subject: subject, text: text))
      if rows.count != FactPages.most { return (belonging(rows), true) }
    }
    let pages = try read(guild, subject: subject)
    for shortage in pages.shortages { diagnostics.error(place, Self.words(shortage)) }
    let filter = FactFilter(texts: text.isEmpty ? [] : [text.lowercased()])
    return (belonging(filter.wanted(pages.newestFirst)), pages.shortages.isEmpty)
  }

  /// The newest facts that have each of some words in them.
  ///
  /// - Parameter words: in any case.
  public func holding(_ words: [String], subject: String?) throws(Failure) -> Found {
    var found: Found = ([], true)
    // The longest is likely the rarest.
    let tries = words.sorted { $0.utf8.count > $1.utf8.count }.prefix(4)
    for guild in guilds {
      var isWhole = false
      for word in tries where !isWhole {
        let rows = try ask(guild, FactPages.Query(subject: subject, text: word))
        found.rows += rows
        isWhole = rows.count != FactPages.most
      }
      found.isWhole = found.isWhole && isWhole
    }
    let filter = FactFilter(texts: words.map { $0.lowercased() })
    found.rows = merged(belonging(filter.wanted(FactRow.unique(found.rows))))
    return found
  }

  /// Facts by their ids.
  ///
  /// - Parameter isCertain: whether a fact that is not found must be known to be gone.
  /// - Throws: `Failure`, also when one may be among those out of reach.
  public func find(_ ids: [String], isCertain: Bool = true) throws(Failure) -> [String: [UInt8]] {
    var wanted = Set(ids)
    var found: [String: [UInt8]] = [:]
    var shortage: FactPages.Shortage?
    for guild in guilds where !wanted.isEmpty {
      let pages = try read(guild, subject: nil, until: wanted)
      for row in pages.rows(of: wanted) where !belonging([row.bytes]).isEmpty {
        found[row.key] = row.bytes
        wanted.remove(row.key)
      }
      shortage = shortage ?? pages.shortages.first
    }
    if isCertain, let shortage, let id = ids.first(where: { found[$0] == nil }) {
      throw Failure("fact \(id)", "not found: \(Self.words(shortage))", .failure)
    }
    return found
  }

  /// Facts that were seen, as they are now.
  ///
  /// - Returns: those that there still are, by id.
  public func again(_ shown: [String: [UInt8]]) throws(Failure) -> [String: [UInt8]] {
    var now: [String: [UInt8]] = [:]
    // A fact that nobody touched is found by its own words, with one question.
    for (id, row) in shown where shown.count <= 20 {
      guard let fact = Fact(record: row) else { continue }
      let guild = guilds.first { $0.id == fact.guildID } ?? guilds[0]
      let words = String(String.UnicodeScalarView(fact.fact.unicodeScalars.prefix(100)))
      let rows = try ask(guild, FactPages.Query(subject: fact.subject, text: words))
      now[id] = rows.first { Fact(record: $0)?.id == id }
    }
    let rest = shown.keys.filter { now[$0] == nil }
    return now.merging(try find(rest.sorted())) { first, _ in first }
  }

  private func read(
    _ guild: ToldName, subject: String?, until ids: Set<String> = [""]
  ) throws(Failure) -> FactPages {
    // The facts of persons come with the first guild.
    var pages = FactPages(
      subject: subject, leavesPersons: guild != guilds.first, seeksFew: ids != [""])
    while true {
      switch pages.next() {
      case .done: return pages
      case .askSubjects: pages.receive(subjects: try subjects(of: guild))
      case .ask(let queries):
        try caller.several(queries.map { path(guild, $0) }) { index, reply throws(Failure) in
          pages.receive(
            try Answer.list(reply, "facts", place: place), for: queries[index])
          return !pages.has(ids)
        }
        if pages.has(ids) { return pages }
      }
    }
  }

  private func ask(_ guild: ToldName, _ query: FactPages.Query) throws(Failure) -> [[UInt8]] {
    try Answer.list(try caller.call(path(guild, query)), "facts", place: place)
  }

  private func path(_ guild: ToldName, _ query: FactPages.Query) -> String {
    ClankyPath.facts(
      guild: guild.id, subject: query.subject, text: query.text, limit: FactPages.most)
  }

  /// Each fact once, the newest update first, with the guild's name.
  private func merged(_ rows: [[UInt8]]) -> [[UInt8]] {
    if guilds.count == 1 { return rows }
    return FactRow.newestFirst(FactRow.unique(rows).map { FactRow($0) }).map(guilds.marked)
  }

  /// The subjects of the guilds, as the backend lists them; those of persons once.
  ///
  /// - Returns: and whether there may be more.
  public func subjects() throws(Failure) -> (rows: [[UInt8]], isWhole: Bool) {
    var rows: [[UInt8]] = []
    var isWhole = true
    for guild in guilds {
      let more = try subjects(of: guild)
      isWhole = isWhole && more.count < FactPages.most
      rows += belonging(more).map(guilds.marked)
    }
    return (guilds.count == 1 ? rows : FactRow.unique(rows), isWhole)
  }

  private func subjects(of guild: ToldName) throws(Failure) -> [[UInt8]] {
    let path = ClankyPath.subjects(guild: guild.id, limit: FactPages.most)
    return try Answer.list(try caller.call(path), "subjects", place: caller.place(path))
  }

  private var place: String { caller.place(ClankyPath.facts) }

  private static func words(_ shortage: FactPages.Shortage) -> String {
    guard let subject = shortage.subject else {
      return "there may be facts of more subjects than the \(FactPages.most) that are listed"
    }
    let all = shortage.expected.map { " of \($0)" } ?? ""
    return "\(shortage.found)\(all) facts of \(subject) can be had, others are out of reach"
  }
}
