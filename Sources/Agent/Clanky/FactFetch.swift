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

/// Finds more facts than one answer holds.
///
/// The backend knows no cursor: an answer has the newest `most` facts of a
/// guild, of a subject, or with a text in them (Agent/Clanky/CONTRACT.md 5.2). So where an
/// answer is full, the facts are asked for by subject; where a subject has more
/// than an answer, by the words that its facts were seen to hold, until there
/// are as many as the backend counts, or words bring nothing new any more. Who
/// looks for some facts among more subjects than are listed asks by words first,
/// of all subjects at once: such an answer is full, that of a subject has few
/// facts. This type decides what to ask next; a fact that several answers hold is kept once.
struct FactPages {
  static let most = 500
  /// When so many words in a row brought nothing new, the rest stays unseen.
  static let patience = 60

  struct Query: Equatable {
    var subject: String?
    var text: String?
  }

  enum Step: Equatable {
    case ask([Query])
    case askSubjects
    case done
  }

  struct Shortage: Equatable {
    /// Nil when there may be subjects that were never seen.
    var subject: String?
    var found: Int
    var expected: Int?
  }

  /// At a time: what the answer to one teaches is not known to the others.
  private static let wordsAtOnce = 4
  /// More subjects than are listed are tried one by one only when so many words did not do.
  private static let firstWords = 300

  private let subject: String?
  private let leavesPersons: Bool
  private let seeksFew: Bool
  private var wordsLeft = 0
  private var queue: [Query]
  private var needsSubjects = false
  private var hasAllSubjects = true
  private var digs: [WordDig] = []
  private var expected: [String: Int] = [:]
  private var counts: [String: Int] = [:]
  private var rows: [FactRow] = []
  private var known: Set<String> = []
  private var seen: Set<[UInt8]> = []

  private(set) var shortages: [Shortage] = []

  /// `leavesPersons`: without subjects that have facts of persons alone: every guild has those.
  init(subject: String?, leavesPersons: Bool = false, seeksFew: Bool = false) {
    (self.subject, self.leavesPersons, self.seeksFew) = (subject, leavesPersons, seeksFew)
    queue = [Query(subject: subject, text: nil)]
  }

  mutating func next() -> Step {
    if wordsLeft > 0, let index = digs.firstIndex(where: { $0.subject == nil }) {
      wordsLeft -= Self.wordsAtOnce
      let words = words(index)
      if !words.isEmpty { return .ask(words) }
      wordsLeft = 0
    }
    let open = queue.filter { !isWhole($0.subject) }
    queue = []
    if !open.isEmpty { return .ask(open) }
    if needsSubjects { return .askSubjects }
    while let dig = digs.first {
      let subject = dig.subject
      if !isWhole(subject) {
        let words = words(0)
        if !words.isEmpty { return .ask(words) }
        let all = subject.flatMap { expected[$0] }
        shortages.append(Shortage(subject: subject, found: found(subject), expected: all))
      }
      digs.removeFirst()
    }
    return .done
  }

  private func found(_ subject: String?) -> Int {
    subject.map { counts[$0, default: 0] } ?? rows.count
  }

  /// Whether there are as many facts of a subject as the backend counts.
  private func isWhole(_ subject: String?) -> Bool {
    subject.flatMap { expected[$0] }.map { found(subject) >= $0 } ?? false
  }

  private mutating func words(_ index: Int) -> [Query] {
    let subject = digs[index].subject
    let known = found(subject)
    let all =
      subject.map { expected[$0] ?? known * 2 } ?? max(expected.values.reduce(0, +), known * 2)
    return (0..<Self.wordsAtOnce).compactMap { _ in
      digs[index].next(known: known, expected: all)
    }.map { Query(subject: subject, text: $0) }
  }

  mutating func receive(subjects: [[UInt8]]) {
    needsSubjects = false
    var names: [String] = []
    var ofGuild: Set<String> = []
    for bytes in subjects {
      guard let row = JSONValue(bytes), let name = row["subject"]?.text else { continue }
      // One subject may be there in several scopes.
      if expected[name] == nil { names.append(name) }
      expected[name, default: 0] += Int(row["fact_count"]?.integer ?? 0)
      if !Fact.isOfPerson(scope: row["scope"]?.string) { ofGuild.insert(name) }
    }
    if subject != nil { return }
    for name in counts.keys.sorted() where expected[name] == nil { names.append(name) }
    queue += names.filter { name in
      if leavesPersons, expected[name] != nil, !ofGuild.contains(name) { return false }
      return expected[name] == nil || counts[name, default: 0] < expected[name] ?? 0
    }.map { Query(subject: $0, text: nil) }
    hasAllSubjects = subjects.count < Self.most
    if hasAllSubjects { return }
    digs.append(dig(nil))
    if seeksFew { wordsLeft = Self.firstWords }
  }

  mutating func receive(_ found: [[UInt8]], for query: Query) {
    var news = 0
    // Words bring most facts again and again: those are not worth being parsed.
    for bytes in found where seen.insert(bytes).inserted {
      let row = FactRow(bytes)
      guard known.insert(row.key).inserted else { continue }
      news += 1
      rows.append(row)
      let name = row.fact?.subject ?? ""
      if !hasAllSubjects, expected[name] == nil, counts[name] == nil {
        queue.append(Query(subject: name, text: nil))
      }
      counts[name, default: 0] += 1
      for index in digs.indices where digs[index].subject == nil || digs[index].subject == name {
        digs[index].add(row.fact)
      }
    }
    if query.text != nil {
      if let index = digs.firstIndex(where: { $0.subject == query.subject }) {
        digs[index].idle = news == 0 ? digs[index].idle + 1 : 0
      }
      return
    }
    // More than was asked for: this backend knows no limit.
    guard found.count == Self.most else { return }
    if let name = query.subject {
      digs.insert(dig(name), at: 0)
      needsSubjects = needsSubjects || (subject != nil && expected[name] == nil)
    } else {
      needsSubjects = true
    }
  }

  func has(_ ids: Set<String>) -> Bool { ids.isSubset(of: known) }

  func rows(of ids: Set<String>) -> [FactRow] { rows.filter { ids.contains($0.key) } }

  var newestFirst: [[UInt8]] { FactRow.newestFirst(rows) }

  private func dig(_ subject: String?) -> WordDig {
    var dig = WordDig(subject: subject)
    for row in rows where subject == nil || row.fact?.subject == subject { dig.add(row.fact) }
    return dig
  }
}

/// Chooses words to ask for where there are more facts than one answer holds:
/// those that are likely to have the most facts among which none is cut off.
struct WordDig {
  let subject: String?
  /// Questions in a row that brought nothing new.
  var idle = 0
  private var seen = 0
  /// How often each was seen: words, and behind them parts of numbers, which are asked
  /// for when words are of no use any more.
  private var pools: [[String: Int]] = [[:], [:]]
  private var asked: Set<String> = []

  init(subject: String?) { self.subject = subject }

  mutating func add(_ fact: Fact?) {
    guard let fact else { return }
    seen += 1
    var words: Set<String> = []
    var parts: Set<String> = []
    for text in [fact.fact, fact.evidence ?? "", fact.type] {
      words.formUnion(Self.words(of: text))
      parts.formUnion(Self.parts(of: text))
    }
    // A text is looked for in these, too.
    if let channel = fact.channelID, !channel.isEmpty { words.insert(channel) }
    if let message = fact.sourceMessageID { parts.formUnion(Self.parts(of: message)) }
    for (pool, new) in [words, parts].suffix(pools.count).enumerated() {
      for word in new.subtracting(asked) { pools[pool][word, default: 0] += 1 }
    }
  }

  mutating func next(known: Int, expected: Int) -> String? {
    if idle >= FactPages.patience || pools[0].isEmpty, pools.count > 1 {
      pools.removeFirst()
      idle = 0
    }
    guard idle < FactPages.patience, seen > 0 else { return nil }
    let scale = Double(max(expected, known)) / Double(seen)
    let room = Double(FactPages.most) * 0.8
    func rank(_ count: Int) -> Double {
      let likely = Double(count) * scale
      return likely <= room ? likely : room * room / likely
    }
    let best = pools[0].max { a, b in
      let (x, y) = (rank(a.value), rank(b.value))
      return x != y ? x < y : a.key > b.key
    }
    guard let best = best?.key else { return nil }
    pools[0][best] = nil
    asked.insert(best)
    return best
  }

  /// Runs of letters and digits of three bytes or more; a whole number chooses too few.
  private static func words(of text: String) -> [String] {
    text.lowercased().split { !($0.isLetter || $0.isNumber) }
      .filter { word in
        word.utf8.count >= 3 && word.utf8.count <= 40 && !word.utf8.allSatisfy { $0 &- 48 < 10 }
      }
      .map(String.init)
  }

  /// Two and three digits in a row: facts that differ in a number alone have no better word.
  private static func parts(of text: String) -> [String] {
    text.utf8.split { $0 &- 48 >= 10 }.filter { $0.count <= 20 }.flatMap { number in
      [2, 3].flatMap { length in
        (0..<max(number.count - length + 1, 0)).map {
          String(decoding: number.dropFirst($0).prefix(length), as: UTF8.self)
        }
      }
    }
  }
}
