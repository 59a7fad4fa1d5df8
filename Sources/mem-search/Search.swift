import Agent
import Core
import Records
import Web

/// A search: what the backend finds, and where it finds nothing, the facts that
/// have the words in them. A dashboard searches the facts of a guild alone, but
/// keeps most of what it knows as facts of persons.
extension Memory {
  private static let mostHits = Listing.hits.most ?? .max

  func search() throws -> ExitStatus {
    let filter = FactFilter(
      types: options.types, subject: options.subject, minScore: options.minScore)
    // What is left out here should not cost a hit that is wanted.
    let limit = options.limit ?? (filter.isOpen ? options.count ?? 10 : Self.mostHits)
    let fetch = try fetch()
    var rows: [[UInt8]] = []
    if options.text.uppercased() != ClankyPath.everything {
      rows = filter.wanted(try hits(fetch, limit: limit))
    }
    // What has no score is not below one, and not above.
    if rows.isEmpty, options.minScore == nil { rows = try holding(fetch, filter, limit: limit) }
    return try write(rows, none: "nothing found")
  }

  /// `GET /api/memory/search` of each guild, the best hits first, each once.
  private func hits(_ fetch: FactFetch, limit: Int) throws(Failure) -> [[UInt8]] {
    let guilds = fetch.guilds
    var most = options.limit ?? min(limit, Self.mostHits)
    var (hits, isCrowded) = try hits(fetch, most: most)
    if isCrowded, most < Self.mostHits {
      most = Self.mostHits
      (hits, isCrowded) = try self.hits(fetch, most: most)
    }
    if isCrowded, hits.count < limit, !options.quiet {
      diagnostics.error(
        "search", "hits of other guilds left out: there may be more, the dashboard gives no more")
    }
    if guilds.count == 1 { return Array(hits.prefix(limit).map(\.row)) }
    let sorted = hits.enumerated().sorted { a, b in
      let (x, y) = (a.element.score, b.element.score)
      return x != y ? x > y : a.offset < b.offset
    }
    return FactRow.unique(sorted.map(\.element.row)).prefix(limit).map(guilds.marked)
  }

  /// The hits in the guilds, as they came: a dashboard may answer with those of any guild
  /// that the agent was ever in. Returns and whether others took the place of some.
  private func hits(
    _ fetch: FactFetch, most: Int
  ) throws(Failure) -> (hits: [(row: [UInt8], score: Double)], isCrowded: Bool) {
    var hits: [(row: [UInt8], score: Double)] = []
    var isCrowded = false
    let paths = fetch.guilds.map {
      ClankyPath.search(options.text, guild: $0.id, channel: options.channel, limit: most)
    }
    let place = caller.place(paths.first ?? "")
    try caller.several(paths) { _, reply throws(Failure) in
      let rows = try Answer.list(reply, Listing.hits.member, place: place)
      if let asked = options.limit, asked > Self.mostHits, rows.count == Self.mostHits {
        diagnostics.note("\(place): there may be more hits: the dashboard gives no more")
      }
      let found = fetch.belonging(rows)
      if found.count < rows.count, rows.count >= min(most, Self.mostHits) { isCrowded = true }
      hits += found.map { ($0, Fact(record: $0)?.score ?? -.infinity) }
      return true
    }
    return (hits, isCrowded)
  }

  private func holding(
    _ fetch: FactFetch, _ filter: FactFilter, limit: Int
  ) throws(Failure) -> [[UInt8]] {
    let words = options.text.split(separator: " ").map(String.init)
    let found = try fetch.holding(words, subject: options.subject)
    let rows = filter.wanted(found.rows).prefix(limit)
    if !rows.isEmpty, !options.quiet {
      diagnostics.error(
        "search", "no hit among the facts of a guild; of all facts, these have the words in them")
    }
    return Array(rows)
  }
}
