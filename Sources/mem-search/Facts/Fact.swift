import Core
import Records

/// A fact of the agent's memory, in any of the spellings that the backend has
/// for it: rows in snake_case, profiles and snapshots in camelCase with members
/// inside `metadata`, reflections with short names
/// (Agent/Clanky/CONTRACT.md 5.2 and 5.3). What is missing or of another type is nil or
/// empty.
struct Fact: Equatable, Sendable {
  /// Empty when it has none.
  var id: String
  var subject: String
  var type: String
  var fact: String
  var evidence: String?
  /// 0 to 1.
  var confidence: Double?
  /// The confidence as the record spells it.
  var confidenceText: String?
  /// How well it fits a query; the more the better.
  var score: Double?
  /// `user`, `guild`, `owner`, ...
  var scope: String?
  var guildID: String?
  /// Where facts of several guilds stand together: the name of its guild, empty
  /// for a fact of a person. Nil elsewhere.
  var guildName: String?
  var channelID: String?
  var userID: String?
  var sourceMessageID: String?
  var createdAt: String?
  var updatedAt: String?
  /// Why a reflection kept it or did not.
  var reason: String?

  /// - Returns: nil for what is no object with a fact in it.
  init?(_ value: JSONValue) {
    guard value.isObject, let fact = value["fact"]?.text else { return nil }
    let more = value["metadata"]
    func text(_ names: String...) -> String? {
      for name in names {
        if let text = value[name]?.text ?? more?[name]?.text { return text }
      }
      return nil
    }
    self.fact = fact
    id = value["id"]?.text ?? ""
    subject = text("subject", "subjectOverride") ?? ""
    type = text("fact_type", "factType", "type") ?? ""
    evidence = text("evidence_text", "evidenceText", "evidence").flatMap { $0.isEmpty ? nil : $0 }
    confidence = value["confidence"]?.number
    confidenceText = value["confidence"]?.text
    score = value[either: "score", "similarity", "semanticScore", "lexicalScore"]?.number
    scope = text("scope")
    guildID = text("guild_id", "guildId")
    guildName = value["guild_name"].map { $0.text ?? "" }
    channelID = text("channel_id", "channelId")
    userID = text("user_id", "userId")
    sourceMessageID = text("source_message_id", "sourceMessageId")
    createdAt = text("created_at", "createdAt")
    updatedAt = text("updated_at", "updatedAt")
    reason = text("saveReason", "reason")
  }

  /// Reads the bytes of a record.
  init?(record: [UInt8]) {
    guard let value = try? record.withUnsafeBytes({ try JSONValue.parse($0) }) else { return nil }
    self.init(value)
  }

  /// Whether facts of a scope belong to a person and not to a guild: those a
  /// dashboard lists with every guild, and searches with none.
  static func isOfPerson(scope: String?) -> Bool { scope == "user" || scope == "owner" }

  /// Whether what a person can edit, and when it was last written, is the same.
  func isSameVersion(as other: Fact) -> Bool {
    id == other.id && subject == other.subject && type == other.type && fact == other.fact
      && evidence == other.evidence && confidence == other.confidence
      && updatedAt == other.updatedAt
  }

  /// The values that `-o tsv` writes, with tabs between them.
  var tsv: String {
    let score = self.score.map { "\($0)" }
    let values: [String?] = [
      id, subject, type, confidenceText, fact, evidence, scope, guildID, channelID, userID,
      sourceMessageID, createdAt, updatedAt, score,
    ]
    let named = guildName.map { [$0] } ?? []
    return (values + named).map { RowText.escape($0 ?? "") }.joined(separator: "\t")
  }
}
