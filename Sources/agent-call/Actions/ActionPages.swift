import Core

/// Finds more actions than one answer holds.
///
/// The backend knows no cursor: an answer has the newest `mostRows` actions of
/// some kinds, of a guild, since a time (contract, section 3). So where an answer
/// is full, what is older can only be had by asking for fewer kinds at a time,
/// and at last for one guild at a time. This type decides what to ask next and
/// which rows are certain: those newer than the oldest row of every full answer.
/// A row that several answers hold is handed out once.
struct ActionPages {
  /// The most rows of an answer.
  static let mostRows = 1000

  /// What one request asks for.
  struct Query: Equatable {
    /// All kinds when nil.
    var kinds: [String]?
    /// All guilds when nil.
    var guild: String?
    /// Rows newer than this are in hand already.
    var bound: Timestamp?
  }

  /// What is to be done next.
  enum Step: Equatable {
    /// Ask, then `take` the rows.
    case ask(Query)
    /// Find out which guilds there are, then `take` them.
    case askGuilds
    /// Everything that can be had was asked for.
    case done
  }

  /// Actions that cannot be asked for.
  struct Unreached: Equatable {
    /// All kinds when nil: the backend does not answer by kind.
    var kind: String?
    var guild: String?
    /// Older than this.
    var before: Timestamp
  }

  private var queries: [Query]
  private var full: [(query: Query, oldest: Timestamp)] = []
  private var waiting: [Row] = []
  private var known: Set<RowKey> = []
  private var guilds: [String]?
  private var counts: [String: Int] = [:]
  private var ids = IDRange()

  /// What was found to be out of reach.
  private(set) var unreached: [Unreached] = []
  /// Older actions were asked for by the kinds that are known: others may be
  /// missing before this.
  private(set) var blindBefore: Timestamp?

  /// - Parameters:
  ///   - kinds: nil for all.
  ///   - guild: nil for all.
  init(kinds: [String]?, guild: String?) {
    queries = [Query(kinds: kinds, guild: guild)]
  }

  /// What to do next.
  mutating func next() -> Step {
    while queries.isEmpty {
      guard let newest = full.indices.max(by: { full[$0].oldest < full[$1].oldest }) else {
        return .done
      }
      let page = full[newest]
      if let kinds = page.query.kinds, kinds.count < 2, page.query.guild == nil, guilds == nil {
        return .askGuilds
      }
      full.remove(at: newest)
      split(page.query, oldest: page.oldest)
    }
    return .ask(queries.removeFirst())
  }

  /// Takes the guilds that there are.
  mutating func take(guilds: [String]) { self.guilds = guilds }

  /// Takes the answer to a query.
  ///
  /// - Parameters:
  ///   - rows: as they came, newest first.
  ///   - isFull: as many as were asked for: older ones may be behind them.
  mutating func take(_ rows: [Row], for query: Query, isFull: Bool) {
    var oldest: Timestamp?
    var twins: [[UInt8]: Int] = [:]
    var isNarrow = true
    for row in rows {
      if let time = row.time { oldest = min(oldest ?? time, time) }
      if query.bound != nil, query.kinds?.contains(row.kind) == false { isNarrow = false }
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
      waiting.append(row)
    }
    guard isFull, let oldest else { return }
    full.append((query, oldest))
    if !isNarrow { giveUp(at: query.bound ?? oldest) }
  }

  /// This backend does not answer by kind: asking on would bring the same rows.
  private mutating func giveUp(at bound: Timestamp) {
    unreached.append(Unreached(kind: nil, guild: nil, before: bound))
    (queries, full) = ([], [])
  }

  /// The rows that no later answer can precede, newest first; each once.
  mutating func certain() -> [[UInt8]] {
    let frontier = (full.map(\.oldest) + queries.compactMap(\.bound)).max()
    let isCertain = { (row: Row) in
      row.time.flatMap { time in frontier.map { time > $0 } } ?? true
    }
    let rows = waiting.filter(isCertain)
    waiting.removeAll(where: isCertain)
    for row in rows { ids.add(row.id) }
    // Rows of one instant stay in the order they came, which is the backend's;
    // those without a time go last.
    return rows.enumerated().sorted { a, b in
      let (x, y) = (a.element.time, b.element.time)
      if x == y { return a.offset < b.offset }
      guard let x, let y else { return x != nil }
      return x > y
    }.map(\.element.bytes)
  }

  /// The ids that are not among the rows handed out although they lie between
  /// the first and the last of them; nil when that cannot be told.
  var missingIDs: Int64? { ids.missing }

  private mutating func split(_ query: Query, oldest: Timestamp) {
    let kinds = query.kinds ?? allKinds
    if query.kinds == nil { blindBefore = max(blindBefore ?? oldest, oldest) }
    if kinds.count > 1 || query.kinds == nil {
      // The frequent ones alone, the others together; then by halves.
      let alone = kinds.filter { counts[$0, default: 0] > Self.mostRows / 8 }
      let others = kinds.filter { counts[$0, default: 0] <= Self.mostRows / 8 }
      let half = query.kinds == nil ? 0 : others.count / 2
      let groups = alone.map { [$0] } + [Array(others[..<half]), Array(others[half...])]
      queries = groups.filter { !$0.isEmpty }.map {
        Query(kinds: $0, guild: query.guild, bound: oldest)
      }
      return
    }
    guard query.guild == nil, let guilds, !guilds.isEmpty else {
      unreached.append(Unreached(kind: kinds.first ?? "", guild: query.guild, before: oldest))
      return
    }
    queries = guilds.map { Query(kinds: kinds, guild: $0, bound: oldest) }
    blindBefore = max(blindBefore ?? oldest, oldest)
  }

  /// The kinds that are known and those that were seen, the frequent ones first.
  private var allKinds: [String] {
    let all = Set(ActionKind.all).union(counts.keys).subtracting([""])
    return all.sorted { a, b in
      let (x, y) = (counts[a, default: 0], counts[b, default: 0])
      return x != y ? x > y : a < b
    }
  }
}
