import Core
import Records

/// The facts that a prompt would be given (Agent/Clanky/CONTRACT.md 5.3), by whom they are about.
enum FactProfile {
  private static let limit = 40

  static func user(_ id: String, _ db: Database) throws -> [StoredFact] {
    try facts("f.scope = 'user' AND f.user_id = ?1", [id], db)
  }

  /// Those of no person: `self`, `lore`, `guidance` and `behavioral`.
  static func shared(isPortable: Bool, _ db: Database) throws -> [String: [StoredFact]] {
    let plain = "f.fact_type NOT IN ('guidance', 'behavioral')"
    let scope = isPortable ? "f.scope IN ('guild', 'user')" : "f.scope = 'guild'"
    func about(_ subject: String) throws -> [StoredFact] {
      try facts("\(scope) AND f.subject = '\(subject)' AND \(plain)", [], db)
    }
    func typed(_ type: String) throws -> [StoredFact] {
      try facts(
        "\(scope) AND f.subject IN ('__lore__', '__self__') AND f.fact_type = '\(type)'", [], db)
    }
    return [
      "self": try about("__self__"), "lore": try about("__lore__"),
      "guidance": try typed("guidance"), "behavioral": try typed("behavioral"),
    ]
  }

  private static func facts(
    _ condition: String, _ arguments: Arguments, _ db: Database
  ) throws -> [StoredFact] {
    try db.rows(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE f.deleted_at IS NULL AND \(condition)
        ORDER BY f.confidence DESC, f.updated_at DESC, f.id LIMIT \(limit)
        """, arguments: arguments
    ).map(StoredFact.init(row:))
  }

  /// `GET /api/memory/fact-profile`.
  static func json(
    _ query: QueryParameters, voice: LoadedMemory?, _ db: Database
  ) throws -> RecordText {
    let guild = query.word("guildId")
    let user = query.word("userId")
    let channel = query.word("channelId")
    let text = (query["queryText"] ?? "").trimmingBlanks()
    let head = RecordText().string("guildId", guild ?? "").stringOrNull("userId", user)
      .stringOrNull("channelId", channel).string("queryText", text)
    func profile(_ facts: [String: [StoredFact]]) -> RecordText {
      ["user", "self", "lore", "guidance"].reduce(RecordText()) { record, name in
        record.objects(name + "Facts", facts[name, default: []].map(\.profile))
      }
    }
    guard let guild else {
      return head.object("durableProfile", profile([:]))
        .object("promptContext", RecordText().objects("recentConversationHistory", []))
        .json("activeVoiceSession", "null")
    }
    var facts = try shared(isPortable: false, db)
    facts["user"] = try user.map { try Self.user($0, db) }
    let context = try PromptContext(guild: guild, channel: channel, text: text, now: .now(), db)
    return head.object("durableProfile", profile(facts))
      .object("promptContext", context.json)
      .json("activeVoiceSession", voice?.json(user: user).text ?? "null")
  }
}

/// What a voice session that is up has loaded of the memory (Agent/Clanky/CONTRACT.md 5.3).
///
/// Valid as long as the bytes of the voice state are.
struct LoadedMemory {
  private let session: ScanObject
  let participants: [(id: String, name: String?)]

  init?(_ state: UnsafeRawBufferPointer, guild: String) {
    let sessions = ScanObject(state)?.objects("sessions") ?? []
    guard let session = sessions.first(where: { $0.text("guildId") == guild }) else { return nil }
    self.session = session
    participants = session.objects("participants").compactMap { row in
      row.text("userId").map { ($0, row.text("displayName")) }
    }
  }

  func name(of user: String) -> String? {
    participants.first { $0.id == user }?.name
      ?? profiles.first { $0.text("userId") == user }?.text("displayName")
  }

  /// `activeVoiceSession`.
  func json(user: String?) -> RecordText {
    let people = participants.map {
      RecordText().string("userId", $0.id).stringOrNull("displayName", $0.name)
    }
    let mine = profiles.first { user != nil && $0.text("userId") == user }.map { profile in
      Self.facts(["userFacts", "guidanceFacts"], of: profile, behind: Self.head(profile))
    }
    return RecordText().texts("sessionId", "voiceChannelId", "textChannelId", of: session.text)
      .number("participantCount", participants.count).objects("participants", people)
      .objects("cachedUsers", profiles.map(Self.head))
      .json("userFactProfile", mine?.text ?? "null")
      .json("guildFactProfile", guildProfile?.text ?? "null")
  }

  private var memory: ScanObject { ScanObject(session["memory"].bytes) ?? ScanObject() }
  private var profiles: [ScanObject] { memory.objects("factProfiles") }

  private var guildProfile: RecordText? {
    guard let profile = ScanObject(memory["guildFactProfile"].bytes) else { return nil }
    return Self.facts(
      ["selfFacts", "loreFacts", "guidanceFacts"], of: profile,
      behind: RecordText().texts("loadedAt", of: profile.text))
  }

  private static func head(_ profile: ScanObject) -> RecordText {
    RecordText().string("userId", profile.text("userId") ?? "")
      .texts("displayName", "loadedAt", of: profile.text)
      .number("factCount", profile.objects("userFacts").count)
  }

  private static func facts(
    _ lists: [String], of profile: ScanObject, behind head: RecordText
  ) -> RecordText {
    lists.reduce(head) { $0.objects($1, profile.objects($1).map(fact)) }
  }

  private static func fact(_ row: ScanObject) -> RecordText {
    let metadata = RecordText().texts(
      "createdAt", "updatedAt", "guildId", "channelId", "evidenceText", "sourceMessageId",
      of: row.text)
    return RecordText().json("id", row.json("id")).json("scope", "null").json("userId", "null")
      .texts("subject", "factType", of: row.text)
      .string("fact", row.text("fact") ?? "").json("confidence", row.json("confidence"))
      .object("metadata", metadata.bool("isLegacy", false))
  }
}

/// `POST /api/memory/runtime-snapshot` (Agent/Clanky/CONTRACT.md 5.3): what a turn of talk would
/// be told.
struct RuntimeSnapshot: Sendable {
  private typealias Participant = (id: String, name: String?, source: String)

  let guild: String
  private let channel: String?
  private let user: String?
  private let text: String
  private let mode: String
  private let asked: [String]
  private let authors: [(id: String, name: String?)]

  private static let crowd = 24

  init(_ body: ScanObject) throws(Refusal) {
    guild = try FactEdit.guild(body)
    func word(_ name: String) -> String? {
      let word = KeptText.folded(body.text(name) ?? "", limit: KeptText.subjectLimit)
      return word.isEmpty ? nil : word
    }
    channel = word("channelId")
    user = word("userId")
    text = KeptText.folded(body.text("queryText") ?? "", limit: 420)
    mode = word("mode") == "voice" ? "voice" : "text"
    let list = ScanObject.elements(body["participantIds"].bytes)
    asked =
      list?.compactMap(\.string).filter { !$0.isEmpty }
      ?? (body.text("participantIds") ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
    authors = body.objects("recentMessages").compactMap { row in
      guard let id = row.text("authorId"), row.text("content") != nil else { return nil }
      return (id, row.text("authorName"))
    }
  }

  func json(voice: LoadedMemory?, _ db: Database) throws -> RecordText {
    let people = participants(voice)
    let profiles = try people.map { ($0, try FactProfile.user($0.id, db)) }
    let primary = profiles.filter { $0.0.id == user }.flatMap(\.1)
    let shared = try FactProfile.shared(isPortable: true, db)
    let relevant =
      profiles.filter { $0.0.id != user }.flatMap(\.1) + shared["self", default: []]
      + shared["lore", default: []]
    let context = try PromptContext(guild: guild, channel: channel, text: text, now: .now(), db)
    func named(_ person: Participant) -> RecordText {
      RecordText().string("userId", person.id).string("displayName", person.name ?? person.id)
    }
    let parts = profiles.map { person, facts in
      named(person).bool("isPrimary", person.id == user).objects("facts", facts.map(\.profile))
    }
    let lists = shared.merging(["user": primary, "relevant": relevant]) { $1 }
    var counts = RecordText().number("participantCount", people.count)
      .number("participantProfileCount", profiles.count)
    var slice = RecordText().objects("participantProfiles", parts)
    for name in ["user", "relevant", "self", "lore", "guidance", "behavioral"] {
      let facts = lists[name, default: []]
      counts = counts.number(name + "FactCount", facts.count)
      slice = slice.objects(name + "Facts", facts.map(\.profile))
    }
    counts = counts.number("conversationWindowCount", context.windows.count)
      .number("recentVoiceSessionCount", context.recaps.count)
    return RecordText().string("guildId", guild).stringOrNull("channelId", channel)
      .stringOrNull("userId", user).string("queryText", text).string("mode", mode)
      .objects("participants", people.map { named($0).string("source", $0.source) })
      .object("counts", counts).object("slice", slice).object("promptContext", context.json)
      .json("activeVoiceSession", voice?.json(user: user).text ?? "null")
  }

  /// Everybody once, who was named first; voice talk is about everybody who hears it.
  private func participants(_ session: LoadedMemory?) -> [Participant] {
    let voice = mode == "voice" ? session : nil
    var seen: Set<String> = []
    var people: [Participant] = []
    func add(_ id: String, _ name: String?, _ source: String) {
      guard people.count < Self.crowd, seen.insert(id).inserted else { return }
      people.append((id, name ?? voice?.name(of: id), source))
    }
    func name(_ id: String) -> String? { authors.first { $0.id == id }?.name }
    if let user { add(user, name(user), "primary_user") }
    for id in asked { add(id, name(id), "request") }
    for author in authors { add(author.id, author.name, "recent_message") }
    for person in voice?.participants ?? [] { add(person.id, person.name, "active_voice_session") }
    return people
  }
}

/// What a prompt would be told beside facts (Agent/Clanky/CONTRACT.md 5.3): what was said about
/// a text in a channel, and the voice sessions of the last day.
///
/// Of what was said only the agent's own messages are known here.
struct PromptContext: Sendable {
  private(set) var windows: [RecordText] = []
  let recaps: [RecordText]

  init(guild: String, channel: String?, text: String, now: Timestamp, _ db: Database) throws {
    let words = FactWords.query(text)
    if let channel, !words.isEmpty {
      windows = Self.windows(try Self.messages(guild, channel, db), words, now)
    }
    recaps = try Self.recaps(guild, now, db)
  }

  /// `{"recentConversationHistory":[...],"recentVoiceSessionContext":[...]}`.
  var json: RecordText {
    RecordText().objects("recentConversationHistory", windows)
      .objects("recentVoiceSessionContext", recaps)
  }

  private static func messages(
    _ guild: String, _ channel: String, _ db: Database
  ) throws -> [LoggedAction] {
    try db.rows(
      sql: """
        \(ActionStore.columns) WHERE kind IN ('sent_reply', 'sent_message') AND channel_id = ?
          AND guild_id = ? AND content IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 300
        """, arguments: [channel, guild]
    ).map { row in
      var action = StoredAction(row: row).action
      action.content = KeptText.folded(action.content ?? "", limit: 420)
      return action
    }.reversed()
  }

  /// The three messages with the most of the words, each with those beside it.
  private static func windows(
    _ messages: [LoggedAction], _ words: [String], _ now: Timestamp
  ) -> [RecordText] {
    let scores = messages.map { message in
      let have = Set(
        FactWords.indexed(message.content ?? "").split(separator: " ").map(String.init))
      return Double(words.filter(have.contains).count) / Double(words.count)
    }
    let places = scores.indices.filter { scores[$0] > 0 }
      .sorted { (scores[$0], $0) > (scores[$1], $1) }.prefix(3)
    return places.map { place in
      let anchor = messages[place]
      let around = messages[max(place - 2, 0)...min(place + 1, messages.count - 1)]
      return RecordText().stringOrNull("anchorMessageId", anchor.message)
        .string("createdAt", anchor.createdAt)
        .number("score", (scores[place] * 1000).rounded() / 1000).json("semanticScore", "null")
        .number("ageMinutes", age(anchor.createdAt, now))
        .objects(
          "messages",
          around.map { message in
            RecordText().stringOrNull("messageId", message.message)
              .string("timestamp", message.createdAt).stringOrNull("author", message.user)
              .string("content", message.content)
          })
    }
  }

  /// The sessions that ended within a day and of which a summary was told.
  private static func recaps(
    _ guild: String, _ now: Timestamp, _ db: Database
  ) throws -> [RecordText] {
    let rows = try db.rows(
      sql: """
        \(ActionStore.columns) WHERE kind = 'voice_session_end' AND guild_id = ?
          AND created_at >= ? AND session IS NOT NULL ORDER BY created_at DESC LIMIT 20
        """, arguments: [guild, now.before(hours: 24).rfc3339])
    return try rows.compactMap { row in
      let action = StoredAction(row: row).action
      guard let text = action.facts({ $0.text("summaryText") }),
        let session = LoggedAction.session(metadata: action.metadata)
      else { return nil }
      return RecordText().string("sessionId", session).stringOrNull("guildId", action.guild)
        .stringOrNull("channelId", action.channel).string("endedAt", action.createdAt)
        .number("ageMinutes", age(action.createdAt, now)).string("summaryText", text)
    }
  }

  private static func age(_ time: String, _ now: Timestamp) -> Int64 {
    Timestamp(rfc3339: time).map { max(0, (now.seconds - $0.seconds) / 60) } ?? 0
  }
}
