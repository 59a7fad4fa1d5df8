public import Core
import Records
import Web

/// Finds more actions than one answer of a dashboard holds.
///
/// The backend knows no cursor: an answer has the newest `mostRows` actions of
/// some kinds, of a guild, since a time (Agent/Clanky/CONTRACT.md 1.3). So where an answer
/// is full, what is older can only be had by asking for fewer kinds at a time,
/// and at last for one guild at a time. This type decides what to ask next and
/// which rows are certain: those newer than the oldest row of every full answer.
/// A row that several answers hold is handed out once.
public struct ActionPages {
  /// The most rows of an answer.
  public static let mostRows = 1000

  /// What is to be done next.
  public enum Step: Equatable {
    /// Ask, then `take` the rows.
    case ask(Query)
    /// Find out which guilds there are, then `take` them.
    case askGuilds
    case done
  }

  /// Actions that cannot be asked for.
  public struct Unreached: Equatable {
    /// All kinds when nil.
    public var kind: String?
    /// All guilds when nil; empty for actions of no guild.
    public var guild: String?
    /// Older than this.
    public var before: Timestamp
  }

  var queries: [Query]
  private var asked: Query?
  private var full: [(query: Query, oldest: Timestamp)] = []
  private var waiting: [Row] = []
  private var known: Set<RowKey> = []
  var guilds: [String]?
  var names: ActionNames
  var counts: [String: Int] = [:]
  var byGuild: [(kind: String, bound: Timestamp)] = []
  private var guildless: Set<String> = []
  private var ids = ActionIDs()
  private var oldest: Timestamp?
  /// Whether all kinds and guilds are wanted: then holes in the ids tell.
  private let wantsAll: Bool
  /// How the kinds begin that are wanted; nil for all. The others are asked for
  /// only to learn from their ids whether a kind is there that nobody knows.
  let prefix: String?
  private let since: Timestamp?
  var lost: [Unreached] = []

  /// Older actions were asked for by the kinds that are known: others may be
  /// missing before this.
  public internal(set) var blindBefore: Timestamp?

  /// - Parameters:
  ///   - kinds: nil for all.
  ///   - guild: nil for all.
  ///   - prefix: how the kinds begin whose rows are wanted; nil for all.
  ///   - since: when the oldest action that is wanted happened; nil when all are
  ///     wanted that there are, or that is not known.
  ///   - names: the kinds and guilds that were seen before.
  public init(
    kinds: [String]?, guild: String?, prefix: String? = nil, since: Timestamp? = nil,
    names: ActionNames = ActionNames()
  ) {
    self.prefix = prefix
    queries = [Query(kinds: kinds, guild: guild)]
    wantsAll = kinds == nil && guild == nil
    self.since = since
    self.names = names
  }

  /// What to do next.
  public mutating func next() -> Step {
    while queries.isEmpty {
      guard let newest = full.indices.max(by: { full[$0].oldest < full[$1].oldest }) else {
        return .done
      }
      let page = full[newest]
      if let kinds = page.query.kinds, kinds.count < 2, page.query.guild == nil, guilds == nil,
        isWanted(kinds.first ?? "")
      {
        return .askGuilds
      }
      full.remove(at: newest)
      split(page.query, oldest: page.oldest)
    }
    let query = queries.removeFirst()
    asked = query
    return .ask(query)
  }

  /// Takes the guilds that there are; those that were seen in rows are asked for,
  /// too, for the agent may have left them.
  public mutating func receive(guilds listed: [String]) {
    var all: [String] = []
    for guild in listed + names.guilds where Query.canName(guild) && !all.contains(guild) {
      all.append(guild)
    }
    guilds = all
  }

  /// Takes the answer to a query.
  ///
  /// - Parameters:
  ///   - rows: as they came, newest first.
  ///   - isFull: as many as were asked for: older ones may be behind them.
  public mutating func receive(_ rows: [Row], for query: Query, isFull: Bool) {
    asked = nil
    var last: Timestamp?
    var twins: [[UInt8]: Int] = [:]
    var knowsKinds = true
    var knowsGuilds = true
    for row in rows {
      if let time = row.time { last = min(last ?? time, time) }
      if query.bound != nil, query.kinds?.contains(row.kind) == false { knowsKinds = false }
      if query.bound != nil, let guild = query.guild, guild != row.guild { knowsGuilds = false }
      see(row)
      // It came since the first answer, or is in hand.
      if let bound = query.bound, let time = row.time, time > bound { continue }
      var key = RowKey.id(row.id)
      if row.id.isEmpty {
        // Equal rows without an id are told apart by their number in an answer.
        twins[row.bytes, default: 0] += 1
        key = .bytes(row.bytes, twins[row.bytes, default: 0])
      }
      guard known.insert(key).inserted else { continue }
      counts[row.kind, default: 0] += 1
      ids.add(row.id, row.time)
      if let time = row.time { oldest = min(oldest ?? time, time) }
      if isWanted(row.kind) { waiting.append(row) }
    }
    guard isFull, let last else { return }
    if !knowsKinds {
      // Asking on would bring the same rows.
      stop(at: query.bound ?? last)
    } else if !knowsGuilds {
      lost.append(Unreached(kind: query.kinds?.first, before: query.bound ?? last))
      queries.removeAll { $0.guild != nil && $0.kinds == query.kinds }
    } else {
      full.append((query, last))
    }
  }

  func isWanted(_ kind: String) -> Bool { prefix.map { kind.hasPrefix($0) } ?? true }

  /// Asks for no more: what is not in hand counts as out of reach.
  public mutating func stop() {
    guard let frontier else { return }
    stop(at: frontier)
  }

  private mutating func stop(at bound: Timestamp) {
    lost.append(Unreached(before: bound))
    (queries, full, asked) = ([], [], nil)
  }

  /// Notes the names in a row; a new guild is asked for what the others were asked.
  private mutating func see(_ row: Row) {
    names.note(kind: row.kind, guild: row.guild)
    if row.guild.isEmpty { guildless.insert(row.kind) }
    guard let guilds, !guilds.contains(row.guild), Query.canName(row.guild),
      guilds.count < ActionNames.most
    else { return }
    self.guilds = guilds + [row.guild]
    queries += byGuild.map { Query(kinds: [$0.kind], guild: row.guild, bound: $0.bound) }
  }

  /// The rows that no later answer can precede, newest first; each once.
  public mutating func certain() -> [[UInt8]] {
    let frontier = frontier
    let isCertain = { (row: Row) in
      row.time.flatMap { time in frontier.map { time > $0 } } ?? true
    }
    let rows = waiting.filter(isCertain)
    waiting.removeAll(where: isCertain)
    // Rows of one instant go by their ids, or in the order they came, as the
    // backend has them; those without a time go last.
    let entries = rows.enumerated().map { offset, row in
      (row.time, ids.areNumbers ? Int64(row.id) ?? 0 : 0, offset, row.bytes)
    }
    return entries.sorted { a, b in
      if a.0 == b.0 { return (a.1, a.2) < (b.1, b.2) }
      guard let x = a.0, let y = b.0 else { return a.0 != nil }
      return x > y
    }.map(\.3)
  }

  /// What is not newer than this waits for answers.
  private var frontier: Timestamp? {
    (full.map(\.oldest) + (queries + [asked].compactMap { $0 }).compactMap(\.bound)).max()
  }

  // MARK: - What is missing

  /// What was found to be out of reach.
  public var unreached: [Unreached] {
    let unnamed = byGuild.filter { guildless.contains($0.kind) }.map {
      Unreached(kind: $0.kind, guild: "", before: $0.bound)
    }
    // Where no id is missing back to the first, nothing is there.
    let reachesFirst =
      ids.least == 1 || since.map { first in oldest.map { $0 <= first } ?? false } ?? false
    if wantsAll && reachesFirst && ids.missing(after: nil, before: blindBefore) == 0 { return [] }
    return (lost + unnamed).filter { $0.kind.map(isWanted) ?? true }
  }

  /// The ids that are not among the rows although they lie between them, without
  /// those that `unreached` accounts for; nil when that cannot be told.
  public var missingIDs: Int64? {
    guard wantsAll else { return nil }
    return ids.missing(after: (lost + unreached).map(\.before).max(), before: blindBefore)
  }

  /// What may be behind the smallest id that was found: older actions of no guild, of kinds
  /// that were asked for by guild.
  func unaccounted(now: Timestamp) -> [Unreached] {
    guard let least = ids.least, least > 1, !isAllKept(now: now) else { return [] }
    return byGuild.filter { part in
      !guildless.contains(part.kind) && !lost.contains { $0.kind == part.kind }
    }.map { Unreached(kind: $0.kind, guild: "", before: $0.bound) }
  }

  /// Whether what a dashboard keeps (Agent/Clanky/CONTRACT.md 3.1) is the reason that older actions
  /// are gone: it drops what is two weeks old, and the oldest after every 250 writes.
  private func isAllKept(now: Timestamp) -> Bool {
    if ids.count >= 120_000 - 250 { return true }
    guard let oldest else { return false }
    return (13.0...16.0).contains(Double(now.seconds - oldest.seconds) / 86_400)
  }

  var span: ClosedRange<Int64>? {
    guard let least = ids.least, let most = ids.most else { return nil }
    return least...most
  }

  /// Whether there is no proof in the answers that nothing is missing.
  var isOpen: Bool { !byGuild.isEmpty || !lost.isEmpty || blindBefore != nil }
}

extension ActionPages {
  /// What one request asks for.
  public struct Query: Equatable, Sendable {
    /// All kinds when nil.
    public var kinds: [String]?
    /// All guilds when nil.
    public var guild: String?
    /// Rows newer than this are in hand already.
    var bound: Timestamp?

    /// The path behind the dashboard's URL, query included.
    ///
    /// - Parameter hours: the window until now, as `hours(_:)` writes it; nil for none.
    public func path(limit: Int, sinceHours hours: String? = nil) -> String {
      ClankyPath.actions(guild: guild, kinds: kinds, sinceHours: hours, limit: limit)
    }

    /// Whether the backend can be asked for it: it cuts lists at commas and strips blanks.
    static func canName(_ name: String) -> Bool {
      let bytes = name.utf8
      guard let first = bytes.first, let last = bytes.last, bytes.count <= 500 else { return false }
      return first > 32 && last > 32 && !bytes.contains(UInt8(ascii: ","))
    }
  }

  /// The value of `sinceHours` for a window of so many seconds: a decimal number
  /// of millionths, above zero.
  public static func hours(_ seconds: Double) -> String {
    let millionths = Int64((max(1e-6, min(seconds / 3600, 1e9)) * 1e6).rounded(.up))
    var digits = String(1_000_000 + millionths % 1_000_000).dropFirst()
    while digits.hasSuffix("0") { digits.removeLast() }
    return "\(millionths / 1_000_000)" + (digits.isEmpty ? "" : ".\(digits)")
  }
}

extension ActionPages {
  /// Bytes of kinds in a request: servers bound the length of what they are asked.
  private static let longestList = 3000

  /// Asks for less at a time than a query whose answer was full.
  mutating func split(_ query: Query, oldest: Timestamp) {
    guard let kinds = query.kinds else {
      blindBefore = max(blindBefore ?? oldest, oldest)
      let kinds = nameableKinds(before: oldest)
      ask(kinds.filter(isWanted), query, oldest, parts: 1)
      ask(kinds.filter { !isWanted($0) }, query, oldest, parts: 1)
      return
    }
    if kinds.count > 1 {
      ask(kinds, query, oldest, parts: 2)
      return
    }
    let kind = kinds.first ?? ""
    guard query.guild == nil, isWanted(kind), let guilds, !guilds.isEmpty else {
      lost.append(Unreached(kind: kind, guild: query.guild, before: oldest))
      return
    }
    byGuild.append((kind, oldest))
    queries += guilds.map { Query(kinds: kinds, guild: $0, bound: oldest) }
  }

  private mutating func ask(_ kinds: [String], _ query: Query, _ oldest: Timestamp, parts: Int) {
    let many = Self.mostRows / 8
    var groups = kinds.filter { counts[$0, default: 0] > many }.map { [$0] }
    let others = kinds.filter { counts[$0, default: 0] <= many }
    let most = max(1, (others.count + parts - 1) / parts)
    var group: [String] = []
    var length = 0
    for kind in others {
      if group.count == most || (length + kind.utf8.count > Self.longestList && !group.isEmpty) {
        groups.append(group)
        (group, length) = ([], 0)
      }
      group.append(kind)
      length += kind.utf8.count + 1
    }
    if !group.isEmpty { groups.append(group) }
    queries += groups.map { Query(kinds: $0, guild: query.guild, bound: oldest) }
  }

  /// The kinds that are known and those that were seen, the frequent ones first.
  private mutating func nameableKinds(before oldest: Timestamp) -> [String] {
    let all = Set(ActionKind.all).union(counts.keys).union(names.kinds).subtracting([""])
    for kind in counts.keys where !Query.canName(kind) {
      lost.append(Unreached(kind: kind, before: oldest))
    }
    return all.filter { Query.canName($0) }.sorted { a, b in
      let (x, y) = (counts[a, default: 0], counts[b, default: 0])
      return x != y ? x > y : a < b
    }
  }
}

extension ActionPages {
  /// A row and what decides its place.
  public struct Row {
    /// As it came.
    public let bytes: [UInt8]
    /// The id as text; empty when there is none.
    public private(set) var id = ""
    /// Nil when it has no time that can be read: such a row does not wait.
    public private(set) var time: Timestamp?
    /// Empty when there is none.
    public private(set) var kind = ""
    /// Empty when there is none.
    public private(set) var guild = ""

    /// - Parameter bytes: a row as it came, an action or not.
    public init(_ bytes: [UInt8]) {
      self.bytes = bytes
      let found = bytes.withUnsafeBytes { bytes -> (String, Timestamp?, String, String)? in
        guard let fields = try? ActionFields(bytes) else { return nil }
        let time = fields.createdAt.string.flatMap { Timestamp(rfc3339: $0) }
        return (
          fields.id.string ?? "", time, fields.kind.string ?? "", fields.guild.string ?? ""
        )
      }
      guard let found else { return }
      (id, time, kind, guild) = found
    }
  }

  enum RowKey: Hashable {
    case id(String)
    /// The row itself and its number among equal ones of an answer.
    case bytes([UInt8], Int)
  }
}

struct ActionIDs {
  private var found: [(id: Int64, time: Timestamp?)] = []
  private(set) var areNumbers = true

  mutating func add(_ id: String, _ time: Timestamp?) {
    if let number = Int64(id) { found.append((number, time)) } else { areNumbers = false }
  }

  var count: Int { found.count }

  /// The smallest; nil when there is none, or one is not a number.
  var least: Int64? { areNumbers ? found.map(\.id).min() : nil }

  var most: Int64? { areNumbers ? found.map(\.id).max() : nil }

  /// Nil when that cannot be told. Newer than `blind`, one answer had all: holes are removals.
  func missing(after bound: Timestamp?, before blind: Timestamp? = nil) -> Int64? {
    guard var least = found.map(\.id).min(), var most = found.map(\.id).max() else { return nil }
    if let blind {
      // Ids follow time but roughly.
      let newer = found.filter { row in row.time.map { $0 > blind } ?? false }.map(\.id)
      let older = found.filter { row in row.time.map { $0 <= blind } ?? true }.map(\.id)
      most = max(older.max() ?? least, newer.min() ?? most)
    }
    if let bound {
      var newer = Int64.max
      for (id, time) in found {
        if let time, time <= bound { least = max(least, id) } else { newer = min(newer, id) }
      }
      if newer == .max { return 0 }
      least = max(least, newer)
    }
    if least > most { return 0 }
    let count = Int64(found.count { $0.id >= least && $0.id <= most })
    let (span, overflow) = most.subtractingReportingOverflow(least)
    return overflow || span == .max ? nil : span + 1 - count
  }
}

/// The kinds and guilds that were seen in actions: what a backend can be asked
/// for besides what everybody knows.
///
/// Bounded, for the names come from outside.
public struct ActionNames: Sendable {
  static let most = 500
  private static let longest = 200

  private var seenKinds: Set<String> = []
  private var seenGuilds: Set<String> = []
  /// The kinds, in the order they were first seen.
  public private(set) var kinds: [String] = []
  /// The guilds, in the order they were first seen.
  public private(set) var guilds: [String] = []

  /// No names.
  public init() {}

  /// Notes the names of an action.
  ///
  /// - Parameters:
  ///   - kind: empty for none.
  ///   - guild: empty for none.
  public mutating func note(kind: String, guild: String) {
    Self.note(kind, &seenKinds, &kinds)
    Self.note(guild, &seenGuilds, &guilds)
  }

  private static func note(_ name: String, _ seen: inout Set<String>, _ names: inout [String]) {
    guard !name.isEmpty, names.count < most, name.utf8.count <= longest,
      seen.insert(name).inserted
    else { return }
    names.append(name)
  }
}

/// Where the rows of a snapshot begin and end: what belongs before them.
struct SnapshotEdge {
  private let rows: [ActionPages.Row]
  private let ids: Set<String>
  private let oldest: Timestamp?
  private let latest: Timestamp?

  init(_ rows: [UnsafeRawBufferPointer]) {
    self.rows = rows.map { ActionPages.Row(Array($0)) }
    ids = Set(self.rows.map(\.id)).subtracting([""])
    oldest = self.rows.compactMap(\.time).min()
    latest = self.rows.compactMap(\.time).max()
  }

  func holds(_ row: ActionPages.Row) -> Bool { ids.contains(row.id) }

  /// Whether such an action is in the snapshot or comes live: only its oldest instant may be cut.
  func isBehind(_ time: Timestamp) -> Bool {
    guard let oldest, let latest else { return false }
    return time > latest || (time == latest && latest > oldest)
  }

  func rows(before others: [ActionPages.Row]) -> [ActionPages.Row] {
    let newest = others.filter { $0.time == oldest }.compactMap { Int64($0.id) }.max()
    guard let oldest, let newest else { return [] }
    return rows.filter { $0.time == oldest && Int64($0.id).map { $0 < newest } ?? false }
  }
}

extension [ActionPages.Row] {
  /// By time, and where all have a number by that.
  func newestFirst() -> [ActionPages.Row] {
    let numbers = map { Int64($0.id) }
    let areNumbers = !numbers.contains(nil)
    let order = indices.sorted { a, b in
      if let x = self[a].time, let y = self[b].time, x != y { return x > y }
      if areNumbers, let x = numbers[a], let y = numbers[b], x != y { return x > y }
      return a < b
    }
    return order.map { self[$0] }
  }
}
