import Core
import GRDB

/// `POST /api/memory/runtime-snapshot` (Agent/Clanky/CONTRACT.md 5.3): what a turn of talk would
/// be told.
struct RuntimeSnapshot: Sendable {
  /// Somebody whom the turn is about.
  private struct Participant {
    let id: String
    let name: String?
    let source: String
  }

  /// Whose session and facts.
  let guild: String
  private let channel: String?
  private let user: String?
  private let text: String
  private let mode: String
  private let asked: [String]
  private let authors: [(id: String, name: String?)]

  /// More people than this are not looked up.
  private static let crowd = 24

  /// - Parameter body: the request's members.
  /// - Throws: `FactRefusal` without a guild.
  init(_ body: ScanObject) throws(FactRefusal) {
    guild = try FactEdit.guild(body)
    func word(_ name: String) -> String? {
      let word = KeptText.folded(body.text(name) ?? "", limit: KeptText.subjectLimit)
      return word.isEmpty ? nil : word
    }
    channel = word("channelId")
    user = word("userId")
    text = KeptText.folded(body.text("queryText") ?? "", limit: 420)
    mode = word("mode") == "voice" ? "voice" : "text"
    let list = body["participantIds"]
    asked =
      list.isArray
      ? Self.texts(list.bytes)
      : (body.text("participantIds") ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
    authors = body.objects("recentMessages").compactMap { row in
      guard let id = row.text("authorId"), row.text("content") != nil else { return nil }
      return (id, row.text("authorName"))
    }
  }

  private static func texts(_ bytes: UnsafeRawBufferPointer) -> [String] {
    var texts: [String] = []
    do throws(ScanFault) {
      var elements = try ScanElements(bytes)
      while try elements.next() {
        if let text = elements.value.string, !text.isEmpty { texts.append(text) }
      }
    } catch {
      // No array: nobody is in it.
    }
    return texts
  }

  /// The answer's body.
  ///
  /// - Parameter voice: the session that is up in the guild.
  func json(voice: LoadedMemory?, _ db: Database) throws -> String {
    let people = participants(voice)
    let profiles = try people.map { ($0, try FactProfile.user($0.id, db)) }
    let primary = profiles.filter { $0.0.id == user }.flatMap(\.1)
    let shared = try FactProfile.shared(isPortable: true, db)
    let relevant =
      profiles.filter { $0.0.id != user }.flatMap(\.1) + shared.selves + shared.lore
    let context = try PromptContext(guild: guild, channel: channel, text: text, now: .now(), db)
    let rows = people.map { person in
      """
      {"userId":\(JSONText.quoted(person.id)),"displayName":\(JSONText.quoted(person.name ?? person.id)),\
      "source":"\(person.source)"}
      """
    }
    let parts = profiles.map { person, facts in
      """
      {"userId":\(JSONText.quoted(person.id)),"displayName":\(JSONText.quoted(person.name ?? person.id)),\
      "isPrimary":\(person.id == user),"facts":\(facts.profiles)}
      """
    }
    return """
      {"guildId":\(JSONText.quoted(guild)),"channelId":\(JSONText.quoted(channel)),\
      "userId":\(JSONText.quoted(user)),"queryText":\(JSONText.quoted(text)),"mode":"\(mode)",\
      "participants":[\(rows.joined(separator: ","))],\
      "counts":{"participantCount":\(people.count),"participantProfileCount":\(profiles.count),\
      "userFactCount":\(primary.count),"relevantFactCount":\(relevant.count),\
      "selfFactCount":\(shared.selves.count),"loreFactCount":\(shared.lore.count),\
      "guidanceFactCount":\(shared.guidance.count),\
      "behavioralFactCount":\(shared.behavioral.count),\
      "conversationWindowCount":\(context.windowCount),\
      "recentVoiceSessionCount":\(context.recapCount)},\
      "slice":{"participantProfiles":[\(parts.joined(separator: ","))],\
      "userFacts":\(primary.profiles),"relevantFacts":\(relevant.profiles),\
      "selfFacts":\(shared.selves.profiles),"loreFacts":\(shared.lore.profiles),\
      "guidanceFacts":\(shared.guidance.profiles),\
      "behavioralFacts":\(shared.behavioral.profiles)},\
      "promptContext":\(context.json),"activeVoiceSession":\(voice?.json(user: user) ?? "null")}
      """
  }

  /// Everybody once, who was named first; a turn of voice talk is about everybody who
  /// hears it.
  private func participants(_ session: LoadedMemory?) -> [Participant] {
    let voice = mode == "voice" ? session : nil
    var seen: Set<String> = []
    var people: [Participant] = []
    func add(_ id: String, _ name: String?, _ source: String) {
      guard people.count < Self.crowd, seen.insert(id).inserted else { return }
      people.append(Participant(id: id, name: name ?? voice?.name(of: id), source: source))
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
  private var windows: [String] = []
  private var recaps: [String] = []

  /// How many conversations there are.
  var windowCount: Int { windows.count }
  /// How many voice sessions.
  var recapCount: Int { recaps.count }

  private struct Message {
    let id: String?
    let time: String
    let author: String?
    let content: String

    var json: String {
      """
      {"messageId":\(JSONText.quoted(id)),"timestamp":\(JSONText.quoted(time)),\
      "author":\(JSONText.quoted(author)),"content":\(JSONText.quoted(content))}
      """
    }
  }

  /// - Parameters:
  ///   - guild: the guild's id.
  ///   - channel: without one there are no conversations.
  ///   - text: nor without anything to talk about.
  ///   - now: what ages count from.
  init(guild: String, channel: String?, text: String, now: Timestamp, _ db: Database) throws {
    let words = FactWords.query(text)
    if let channel, !words.isEmpty {
      windows = Self.windows(try Self.messages(guild, channel, db), words, now)
    }
    recaps = try Self.recaps(guild, now, db)
  }

  /// `{"recentConversationHistory":[...],"recentVoiceSessionContext":[...]}`.
  var json: String {
    """
    {"recentConversationHistory":[\(windows.joined(separator: ","))],\
    "recentVoiceSessionContext":[\(recaps.joined(separator: ","))]}
    """
  }

  /// The newest messages of a channel, oldest first.
  private static func messages(_ guild: String, _ channel: String, _ db: Database) throws
    -> [Message]
  {
    try Row.fetchAll(
      db,
      sql: """
        \(ActionStore.columns) WHERE kind IN ('sent_reply', 'sent_message') AND channel_id = ?
          AND guild_id = ? AND content IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 300
        """, arguments: [channel, guild]
    ).reversed().map { row in
      let action = StoredAction(row: row).action
      return Message(
        id: action.message, time: action.createdAt, author: action.user,
        content: KeptText.folded(action.content ?? "", limit: 420))
    }
  }

  /// The three messages with the most of the words, each with those beside it.
  private static func windows(_ messages: [Message], _ words: [String], _ now: Timestamp)
    -> [String]
  {
    let scores = messages.map { message in
      let have = Set(FactWords.indexed(message.content).split(separator: " ").map(String.init))
      return Double(words.filter(have.contains).count) / Double(words.count)
    }
    let places = scores.indices.filter { scores[$0] > 0 }
      .sorted { (scores[$0], $0) > (scores[$1], $1) }.prefix(3)
    return places.map { place in
      let around = messages[max(place - 2, 0)...min(place + 1, messages.count - 1)]
      return """
        {"anchorMessageId":\(JSONText.quoted(messages[place].id)),\
        "createdAt":\(JSONText.quoted(messages[place].time)),\
        "score":\(JSONText.number((scores[place] * 1000).rounded() / 1000)),"semanticScore":null,\
        "ageMinutes":\(age(messages[place].time, now)),\
        "messages":[\(around.map(\.json).joined(separator: ","))]}
        """
    }
  }

  /// The sessions that ended within a day and of which a summary was told.
  private static func recaps(_ guild: String, _ now: Timestamp, _ db: Database) throws -> [String] {
    let rows = try Row.fetchAll(
      db,
      sql: """
        \(ActionStore.columns) WHERE kind = 'voice_session_end' AND guild_id = ?
          AND created_at >= ? AND session IS NOT NULL ORDER BY created_at DESC LIMIT 20
        """, arguments: [guild, now.before(hours: 24).rfc3339])
    return rows.compactMap { row in
      let action = StoredAction(row: row).action
      var metadata = action.metadata ?? ""
      let text = metadata.withUTF8 { ScanObject(UnsafeRawBufferPointer($0))?.text("summaryText") }
      guard let text, let session = LoggedAction.session(metadata: action.metadata) else {
        return nil
      }
      return """
        {"sessionId":\(JSONText.quoted(session)),"guildId":\(JSONText.quoted(action.guild)),\
        "channelId":\(JSONText.quoted(action.channel)),\
        "endedAt":\(JSONText.quoted(action.createdAt)),\
        "ageMinutes":\(age(action.createdAt, now)),"summaryText":\(JSONText.quoted(text))}
        """
    }
  }

  private static func age(_ time: String, _ now: Timestamp) -> Int64 {
    Timestamp(rfc3339: time).map { max(0, (now.seconds - $0.seconds) / 60) } ?? 0
  }
}
