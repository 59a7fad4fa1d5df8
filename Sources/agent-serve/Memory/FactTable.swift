import Core
import Records

/// The facts in SQLite, and the index of their words beside them.
///
/// A fact that was deleted keeps its row, so that its id is not used again, and
/// leaves the index.
enum FactTable {
  static let columns = """
    f.id, f.created_at, f.updated_at, f.scope, f.guild_id, f.channel_id, f.user_id, f.subject,
    f.fact, f.fact_type, f.evidence_text, f.source_message_id, f.confidence, f.is_legacy,
    f.revision
    """

  /// Stores facts, all that are not there already. Returns the id of each, nil for one that is
  /// there.
  static func insert(_ facts: [StoredFact], _ db: Database) throws -> [Int64?] {
    let row = try db.kept(
      sql: """
        INSERT INTO memory_facts (created_at, updated_at, scope, guild_id, channel_id, user_id,
          subject, fact, fact_type, evidence_text, source_message_id, confidence, is_legacy)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
        WHERE NOT EXISTS (SELECT 1 FROM memory_facts WHERE scope = ?3
          AND ifnull(guild_id, '') = ifnull(?4, '') AND subject = ?7 AND fact = ?8
          AND deleted_at IS NULL)
        """)
    return try facts.map { fact in
      try row.execute([
        fact.createdAt, fact.updatedAt, fact.scope, fact.guild, fact.channel, fact.user,
        fact.subject, fact.text, fact.type, fact.evidence, fact.sourceMessage, fact.confidence,
        fact.isLegacy,
      ])
      guard db.changesCount > 0 else { return nil }
      let id = db.lastInsertedRowID
      try index(id, fact, db)
      return id
    }
  }

  static func edit(_ edit: FactEdit, now: String, _ db: Database) throws -> StoredFact {
    guard var fact = try live(edit.id, guild: edit.guild, db) else { throw Refusal.notFound }
    let twin = try db.value(
      Int64.self,
      sql: """
        SELECT id FROM memory_facts WHERE scope = ? AND ifnull(guild_id, '') = ? AND subject = ?
          AND fact = ? AND deleted_at IS NULL AND id <> ?
        """, arguments: [fact.scope, fact.guild ?? "", edit.subject, edit.text, fact.id])
    if twin != nil { throw Refusal.duplicate }
    (fact.subject, fact.text, fact.type) = (edit.subject, edit.text, edit.type)
    (fact.evidence, fact.confidence, fact.updatedAt) = (edit.evidence, edit.confidence, now)
    fact.revision += 1
    try db.execute(
      sql: """
        UPDATE memory_facts SET updated_at = ?, subject = ?, fact = ?, fact_type = ?,
          evidence_text = ?, confidence = ?, revision = ? WHERE id = ?
        """,
      arguments: [
        fact.updatedAt, fact.subject, fact.text, fact.type, fact.evidence, fact.confidence,
        fact.revision, fact.id,
      ])
    try forget(fact.id, db)
    try index(fact.id, fact, db)
    return fact
  }

  static func delete(_ id: Int64, guild: String, now: String, _ db: Database) throws {
    guard try live(id, guild: guild, db) != nil else { throw Refusal.notFound }
    try db.execute(
      sql: "UPDATE memory_facts SET deleted_at = ? WHERE id = ?", arguments: [now, id])
    try forget(id, db)
  }

  /// A fact that a guild may edit: its own, or one of a person.
  private static func live(_ id: Int64, guild: String, _ db: Database) throws -> StoredFact? {
    let row = try db.rows(
      sql: "SELECT \(columns) FROM memory_facts f WHERE f.id = ? AND f.deleted_at IS NULL",
      arguments: [id]
    ).next()
    guard let fact = row.map(StoredFact.init(row:)), fact.isPortable || fact.guild == guild else {
      return nil
    }
    return fact
  }

  private static func index(_ id: Int64, _ fact: StoredFact, _ db: Database) throws {
    let statement = try db.kept(
      sql: "INSERT INTO memory_words (rowid, fact, about) VALUES (?, ?, ?)")
    let words = fact.words
    try statement.execute([id, words.fact, words.about])
  }

  private static func forget(_ id: Int64, _ db: Database) throws {
    try db.execute(sql: "DELETE FROM memory_words WHERE rowid = ?", arguments: [id])
    try db.execute(sql: "DELETE FROM memory_vectors WHERE fact_id = ?", arguments: [id])
  }
}

extension StoredFact {
  init(row: Row) {
    id = row[0]
    (createdAt, updatedAt, scope) = (row[1], row[2], row[3])
    (guild, channel, user) = (row[4], row[5], row[6])
    (subject, text, type) = (row[7], row[8], row[9])
    (evidence, sourceMessage, confidence) = (row[10], row[11], row[12])
    (isLegacy, revision) = (row[13], row[14])
  }

  var words: (fact: String, about: String) {
    (FactWords.indexed(text), FactWords.indexed("\(subject) \(type) \(evidence ?? "")"))
  }
}

/// One durable fact of the agent's memory (Agent/Clanky/CONTRACT.md 5.2).
struct StoredFact: Sendable, Equatable {
  /// Never used twice; 0 for a fact that is not stored yet.
  var id: Int64 = 0
  /// RFC 3339 in UTC with three decimals.
  var createdAt: String
  var updatedAt: String
  /// `guild`, `user`, `owner`, or another word.
  var scope: String
  /// The guild of a guild-scope fact; nil for facts of users and the owner.
  var guild: String?
  var channel: String?
  var user: String?
  /// A user's id, `__lore__`, `__self__`, `__owner__`, or another word.
  var subject: String
  var text: String
  /// `preference`, `profile`, ...; never empty.
  var type: String
  var evidence: String?
  var sourceMessage: String?
  /// 0 to 1.
  var confidence: Double
  var isLegacy = false
  var revision: Int64 = 1

  /// Whether a fact's guild is what decides who may edit it.
  var isPortable: Bool { Self.isPortable(scope) }

  /// Whether facts of a scope belong to a person and not to a guild.
  static func isPortable(_ scope: String) -> Bool { scope == "user" || scope == "owner" }
}

extension StoredFact {
  var editable: RecordText { row.object("metadata", RecordText().bool("isLegacy", isLegacy)) }

  /// A row in the order of the dashboard, without its metadata.
  var row: RecordText {
    RecordText().number("id", id).string("created_at", createdAt).string("updated_at", updatedAt)
      .string("scope", scope).stringOrNull("guild_id", guild).stringOrNull("channel_id", channel)
      .stringOrNull("user_id", user).string("subject", subject).string("fact", text)
      .string("fact_type", type).stringOrNull("evidence_text", evidence)
      .stringOrNull("source_message_id", sourceMessage).number("confidence", confidence)
  }

  /// The camelCase form of profiles and snapshots (Agent/Clanky/CONTRACT.md 5.3).
  var profile: RecordText {
    let metadata = RecordText().string("createdAt", createdAt).string("updatedAt", updatedAt)
      .stringOrNull("guildId", guild).stringOrNull("channelId", channel)
      .stringOrNull("evidenceText", evidence).stringOrNull("sourceMessageId", sourceMessage)
      .bool("isLegacy", isLegacy)
    return RecordText().number("id", id).string("scope", scope).stringOrNull("userId", user)
      .string("subject", subject).string("factType", type).string("fact", text)
      .number("confidence", confidence).object("metadata", metadata)
  }
}

extension StoredFact {
  /// Makes a fact of its JSON: the body of an edit, a row of the facts endpoint,
  /// or the camelCase form of profiles.
  init(_ object: ScanObject, now: Timestamp) throws(Failure) {
    let metadata = ScanObject(object["metadata"].bytes) ?? ScanObject()
    func text(_ names: String...) -> String? {
      for name in names {
        if let text = object.text(name) ?? metadata.text(name) {
          return KeptText.folded(text, limit: KeptText.subjectLimit)
        }
      }
      return nil
    }
    let subject = KeptText.folded(object.text("subject") ?? "", limit: KeptText.subjectLimit)
    if subject.isEmpty { throw Failure("subject required") }
    guard object["fact"].isString || object["fact"].isNull else {
      throw Failure("fact is not a text")
    }
    let fact = KeptText.folded(object.text("fact") ?? "", limit: KeptText.factLimit)
    if fact.isEmpty { throw Failure("fact required") }
    var confidence = 0.5
    if !object["confidence"].isNull {
      guard let given = object.number("confidence") else {
        throw Failure("confidence must be a number between 0 and 1")
      }
      confidence = min(max(given, 0), 1)
    }
    let guild = text("guild_id", "guildId")
    let scope = text("scope")?.lowercased() ?? Self.scope(subject: subject, guild: guild)
    if !StoredFact.isPortable(scope) && guild == nil { throw Failure("guildId required") }
    let isID = subject.utf8.allSatisfy { $0 &- 0x30 < 10 }
    let created = try Self.time(object, metadata, "created_at", "createdAt") ?? now.rfc3339
    self.init(
      createdAt: created,
      updatedAt: try Self.time(object, metadata, "updated_at", "updatedAt") ?? created,
      scope: scope,
      guild: StoredFact.isPortable(scope) ? nil : guild, channel: text("channel_id", "channelId"),
      user: text("user_id", "userId") ?? (scope == "user" && isID ? subject : nil),
      subject: subject, text: fact,
      type: KeptText.type(object.text("fact_type") ?? object.text("factType")),
      evidence: KeptText.evidence(
        object.text("evidence_text") ?? object.text("evidenceText") ?? metadata.text("evidenceText")
      ),
      sourceMessage: text("source_message_id", "sourceMessageId"), confidence: confidence,
      isLegacy: metadata.isTrue("isLegacy"))
  }

  /// The scope of a fact that names none: that of its guild, else a person's.
  private static func scope(subject: String, guild: String?) -> String {
    if subject == "__owner__" { return "owner" }
    return guild == nil ? "user" : "guild"
  }

  private static func time(
    _ object: ScanObject, _ metadata: ScanObject, _ names: String...
  ) throws(Failure) -> String? {
    for name in names {
      guard let text = object.text(name) ?? metadata.text(name) else { continue }
      guard let time = Timestamp(rfc3339: text), (0...253_402_300_799).contains(time.seconds) else {
        throw Failure("\(name) is not an RFC 3339 time")
      }
      return time.rfc3339
    }
    return nil
  }
}

/// The facts of a posted body: one object, an array, the answer of a facts
/// endpoint, or any of these a line (Agent/Clanky/CONTRACT.md 9.5).
struct PostedFacts {
  /// Each with its line, from 1.
  private(set) var facts: [(fact: StoredFact, line: Int)] = []
  var faults: [(line: Int, reason: String)] = []
  private(set) var isUnreadable = true
  private let now: Timestamp

  init(_ body: [UInt8], now: Timestamp) {
    self.now = now
    forEachRecord(of: UTF8Text.repaired(body)) { bytes, line in
      if !bytes.allSatisfy({ $0 <= 0x20 }) { receive(bytes, line: line) }
    }
    if facts.isEmpty && faults.isEmpty { faults.append((1, "no fact in the body")) }
  }

  private mutating func receive(_ bytes: UnsafeRawBufferPointer, line: Int) {
    do throws(ScanFault) { try ScanValidator.validate(bytes) } catch {
      faults.append((line, error.reason))
      return
    }
    isUnreadable = false
    guard let record = ScanObject(bytes) else {
      receive(list: bytes, line: line)
      return
    }
    if record["facts"].isArray {
      receive(list: record["facts"].bytes, line: line)
    } else if record["event"].isString, let data = ScanObject(record["data"].bytes) {
      receive(data, line: line)
    } else {
      receive(record, line: line)
    }
  }

  private mutating func receive(list: UnsafeRawBufferPointer, line: Int) {
    guard let rows = ScanObject.list(list) else {
      faults.append((line, "neither an object nor an array of objects"))
      return
    }
    for row in rows { receive(row, line: line) }
  }

  private mutating func receive(_ object: ScanObject, line: Int) {
    do throws(Failure) {
      facts.append((try StoredFact(object, now: now), line))
    } catch {
      faults.append((line, error.reason))
    }
  }
}

/// What a PUT asks a fact to become (Agent/Clanky/CONTRACT.md 5.2): all of it, nothing stays.
struct FactEdit: Sendable, Equatable {
  let guild: String
  let id: Int64
  let subject: String
  let text: String
  let type: String
  let evidence: String?
  /// 0 to 1.
  let confidence: Double

  init(id: String, _ body: ScanObject) throws(Refusal) {
    guild = try Self.guild(body)
    self.id = try Self.id(id)
    subject = KeptText.folded(body.text("subject") ?? "", limit: KeptText.subjectLimit)
    if subject.isEmpty { throw Refusal(fact: "subject required") }
    text = KeptText.folded(body.text("fact") ?? "", limit: KeptText.factLimit)
    if text.isEmpty { throw Refusal(fact: "fact required") }
    type = KeptText.type(body.text("factType"))
    evidence = KeptText.evidence(body.text("evidenceText"))
    guard let confidence = body.number("confidence") else {
      throw Refusal(fact: "confidence must be a number between 0 and 1")
    }
    self.confidence = min(max(confidence, 0), 1)
  }

  static func guild(_ body: ScanObject) throws(Refusal) -> String {
    let guild = KeptText.folded(body.text("guildId") ?? "", limit: 200)
    if guild.isEmpty { throw Refusal(fact: "guildId required") }
    return guild
  }

  /// `Number(text)` where that is a whole number above 0.
  static func id(_ text: String) throws(Refusal) -> Int64 {
    let exact = Int64(text.trimmingBlanks())
    guard let number = Double(javaScript: text), let id = exact ?? Int64(exactly: number),
      id > 0
    else { throw Refusal(fact: "valid factId required") }
    return id
  }
}

extension Refusal {
  /// `{"ok":false,"error":"..."}`, of a memory write, in the dashboard's words.
  init(fact reason: String, status: Int = 400) {
    self.init(.json(RecordText().bool("ok", false).string("error", reason), status: status))
  }

  /// No such fact, or one of another guild.
  static let notFound = Refusal(fact: "not_found", status: 404)
  /// The same fact is remembered already.
  static let duplicate = Refusal(fact: "duplicate", status: 409)
}

/// The texts of facts, as the dashboard folds and cuts them (Agent/Clanky/CONTRACT.md 5.2).
enum KeptText {
  /// White space runs become one blank, none at the ends; cut at the limit.
  static func folded(_ text: String, limit: Int) -> String {
    var out = String.UnicodeScalarView()
    var units = 0
    var isBlankDue = false
    for scalar in text.unicodeScalars {
      if scalar.isBlank {
        isBlankDue = units > 0
        continue
      }
      if isBlankDue {
        if units == limit { break }
        out.append(" ")
        units += 1
        isBlankDue = false
      }
      if units == limit { break }
      let width = scalar.value > 0xffff ? 2 : 1
      if units + width > limit {
        out.append("\u{fffd}")
        break
      }
      // SQLite ends a text at a NUL.
      out.append(scalar.value == 0 ? "\u{fffd}" : scalar)
      units += width
    }
    return String(out)
  }

  /// The longest subject, UTF-16 units; the same for the others.
  static let subjectLimit = 120
  static let factLimit = 400
  static let typeLimit = 40
  static let evidenceLimit = 240

  static func type(_ text: String?) -> String {
    let type = folded(text ?? "", limit: typeLimit).lowercased()
    return type.isEmpty ? "other" : type
  }

  static func evidence(_ text: String?) -> String? {
    let evidence = folded(text ?? "", limit: evidenceLimit)
    return evidence.isEmpty ? nil : evidence
  }
}

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
    let fact = try await store.write { try FactTable.edit(edit, now: Timestamp.now().rfc3339, $0) }
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
