import Core
import GRDB

/// The agent's durable memory: what requests read and write of it.
struct ServedMemory: Sendable {
  /// Holds it.
  let store: ActionStore
  /// Makes vectors of facts, nil when they are found by their words alone.
  let embedder: Embedder?

  /// Answers a GET; nil for any path that is not the memory's.
  ///
  /// - Parameters:
  ///   - path: the request's path.
  ///   - query: its parameters.
  ///   - voice: the voice state.
  func read(_ path: String, _ query: QueryParameters, voice: [UInt8]) async throws -> WholeAnswer? {
    switch path {
    case "/api/memory":
      let markdown = FactMarkdown(guild: query.word("guildId"))
      return .json(try await store.read { try markdown.json(isRefresh: false, $0) })
    case "/api/memory/facts":
      let lists = FactLists(query, limit: 120)
      return .json(try await store.read { try lists.facts($0) })
    case "/api/memory/subjects":
      let lists = FactLists(query, limit: 200)
      return .json(try await store.read { try lists.subjects($0) })
    case "/api/memory/search": return .json(try await search(FactSearch(query)))
    case "/api/memory/reflections":
      let reflections = Reflections(query)
      return .json(try await store.read { try reflections.json($0) })
    case "/api/memory/fact-profile":
      return .json(
        try await store.read { db in
          try voice.withUnsafeBytes { state in
            let session = LoadedMemory(state, guild: query.word("guildId") ?? "")
            return try FactProfile.json(query, voice: session, db)
          }
        })
    default: return nil
    }
  }

  private func search(_ search: FactSearch) async throws -> String {
    guard search.isComplete, let guild = search.guild else { return search.json([]) }
    if search.wantsAll { return search.json(try await store.read { try search.all($0) }) }
    let likeness = await embedder?.nearest(search.text, in: guild, limit: FactSearch.depth)
    return try await store.read { db in
      let lexical = try search.lexical(.now(), db)
      guard let likeness else { return search.json(lexical) }
      return search.json(FactMatch.fused(lexical, try search.semantic(likeness, db)))
    }
  }

  /// Stores facts.
  ///
  /// - Returns: the id of each, nil for one that is there already; durable.
  /// - Throws: what SQLite says; then none of them is stored.
  func store(_ facts: [StoredFact]) async throws -> [Int64?] {
    if facts.isEmpty { return [] }
    let ids = try await store.write { try FactTable.insert(facts, $0) }
    embedder?.wake()
    return ids
  }
}
