import Core
import GRDB

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
