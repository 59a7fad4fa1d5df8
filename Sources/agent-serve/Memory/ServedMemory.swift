import Core
import Records

struct ServedMemory: Sendable {
  let store: ActionStore
  let embedder: Embedder?

  func profile(_ query: QueryParameters, voice: [UInt8]) async throws -> RecordText {
    try await store.read { db in
      try voice.withUnsafeBytes { state in
        let session = LoadedMemory(state, guild: query.word("guildId") ?? "")
        return try FactProfile.json(query, voice: session, db)
      }
    }
  }

  func search(_ search: FactSearch) async throws -> RecordText {
    guard search.isComplete, let guild = search.guild else { return search.json([]) }
    if search.wantsAll { return search.json(try await store.read { try search.all($0) }) }
    let likeness = await embedder?.nearest(search.text, in: guild, limit: FactSearch.depth)
    return try await store.read { db in
      let lexical = try search.lexical(.now(), db)
      guard let likeness else { return search.json(lexical) }
      return search.json(FactMatch.fused(lexical, try search.semantic(likeness, db)))
    }
  }

  /// Stores facts. Returns the id of each, nil for one that is there already; durable.
  func store(_ facts: [StoredFact]) async throws -> [Int64?] {
    if facts.isEmpty { return [] }
    let ids = try await store.write { try FactTable.insert(facts, $0) }
    embedder?.wake()
    return ids
  }
}

extension ServedMemory {
  func refresh(_ object: RequestObject) async throws -> WholeAnswer {
    let guild = object.members { $0.text("guildId") }
    return .json(try await store.read { try FactLists.markdown(guild, isRefresh: true, $0) })
  }

  func snapshot(_ object: RequestObject, voice: [UInt8]) async throws -> WholeAnswer {
    let snapshot = try object.members { members throws(Refusal) in try RuntimeSnapshot(members) }
    return .json(
      try await store.read { db in
        try voice.withUnsafeBytes { state in
          try snapshot.json(voice: LoadedMemory(state, guild: snapshot.guild), db)
        }
      })
  }

  func edit(_ id: String, _ object: RequestObject) async throws -> WholeAnswer {
    let edit = try object.members { members throws(Refusal) in try FactEdit(id: id, members) }
    let fact = try await store.write {
      try FactTable.edit(edit, now: Timestamp.now().rfc3339, $0)
    }
    embedder?.forget(fact.id)
    embedder?.wake()
    return .json(RecordText().bool("ok", true).object("fact", fact.editable))
  }

  func delete(_ text: String, _ object: RequestObject) async throws -> WholeAnswer {
    let guild = try object.members { members throws(Refusal) in try FactEdit.guild(members) }
    let id = try FactEdit.id(text)
    try await store.write {
      try FactTable.delete(id, guild: guild, now: Timestamp.now().rfc3339, $0)
    }
    embedder?.forget(id)
    return .json(#"{"ok":true,"deleted":1}"#)
  }

  func add(_ body: [UInt8], type: String) async throws -> WholeAnswer {
    var parsed = PostedFacts(body, now: .now())
    let facts = parsed.facts
    let ids = try await store(facts.map(\.fact))
    var stored: [Int64] = []
    for (id, fact) in zip(ids, facts) {
      if let id { stored.append(id) } else { parsed.faults.append((fact.line, "duplicate")) }
    }
    let faults = parsed.faults.sorted { $0.line < $1.line }
    var answer = RecordText(stored: stored, faults: faults)
    if let id = stored.first, facts.count == 1 {
      var fact = facts[0].fact
      fact.id = id
      answer = answer.object("fact", fact.editable)
    }
    if !stored.isEmpty || faults.isEmpty { return .json(answer) }
    let isTwin = faults.allSatisfy { $0.reason == "duplicate" }
    let isJSON = type.lowercased().holds("application/json")
    let error =
      isTwin
      ? "duplicate"
      : isJSON && parsed.isUnreadable
        ? "invalid_json_body" : faults.count == 1 ? faults[0].reason : "no_valid_fact"
    return .json(answer.string("error", error), status: isTwin ? 409 : 400)
  }
}
