public import Core
import Records

/// A fact of the agent's memory, in any of the spellings that the backend has
/// for it: rows in snake_case, profiles and snapshots in camelCase with members
/// inside `metadata`, reflections with short names
/// (Agent/Clanky/CONTRACT.md 5.2 and 5.3). What is missing or of another type is nil or
/// empty.
public struct Fact: Equatable, Sendable {
  /// Empty when it has none.
  public var id: String
  public var subject: String
  /// Who the subject is, where it is a person whose name is told: for a table.
  public var subjectName: String?
  public var type: String
  public var fact: String
  public var evidence: String?
  /// 0 to 1.
  public var confidence: Double?
  /// The confidence as the record spells it.
  public var confidenceText: String?
  /// How well it fits a query; the more the better.
  public var score: Double?
  /// `user`, `guild`, `owner`, ...
  public var scope: String?
  public var guildID: String?
  /// Where facts of several guilds stand together: the name of its guild, empty
  /// for a fact of a person. Nil elsewhere.
  public var guildName: String?
  public var channelID: String?
  public var userID: String?
  public var sourceMessageID: String?
  public var createdAt: String?
  public var updatedAt: String?
  /// Why a reflection kept it or did not.
  public var reason: String?

  /// - Returns: nil unless it is an object with a fact in it.
  public init?(_ value: JSONValue) {
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
    subjectName = value["subject_name"]?.text
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
  public init?(record: [UInt8]) {
    guard let value = JSONValue(record) else { return nil }
    self.init(value)
  }

  /// Whether facts of a scope belong to a person and not to a guild: those a
  /// dashboard lists with every guild, and searches with none.
  static func isOfPerson(scope: String?) -> Bool { scope == "user" || scope == "owner" }

  /// Whether what a person can edit, and when it was last written, is the same.
  public func isSameVersion(as other: Fact) -> Bool {
    id == other.id && subject == other.subject && type == other.type && fact == other.fact
      && evidence == other.evidence && confidence == other.confidence
      && updatedAt == other.updatedAt
  }
}

/// Text as the backend keeps it (Agent/Clanky/CONTRACT.md 5.2).
public enum FactText {
  /// In UTF-16 units; the backend cuts the rest without a word.
  static let limits = ["subject": 120, "type": 40, "fact": 400, "evidence": 240]

  /// White space at the ends dropped, every run of it inside one blank.
  public static func folded(_ text: String) -> String {
    var out = ""
    var isPending = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace || scalar == "\u{feff}" {
        isPending = !out.isEmpty
        continue
      }
      if isPending { out += " " }
      isPending = false
      out.unicodeScalars.append(scalar)
    }
    return out
  }

  /// Why a text is too long for a member, nil when it is not.
  public static func excess(_ name: String, _ text: String) -> String? {
    let count = text.utf16.count
    guard let limit = limits[name], count > limit else { return nil }
    return "\(name): \(count) characters, \(limit) at most"
  }
}

/// Which facts are wanted, as far as the backend is not asked for it.
public struct FactFilter {
  /// In lower case; empty for all.
  public var types: [String] = []
  /// Nil for all.
  public var subject: String?
  /// Nil for any, and for none.
  public var minScore: Double?
  /// Each must be somewhere in the fact; in lower case.
  public var texts: [String] = []

  public init(
    types: [String] = [], subject: String? = nil, minScore: Double? = nil, texts: [String] = []
  ) {
    (self.types, self.subject, self.minScore, self.texts) = (types, subject, minScore, texts)
  }

  /// Whether everything passes.
  public var isOpen: Bool { types.isEmpty && subject == nil && minScore == nil && texts.isEmpty }

  /// Whether a fact is wanted.
  public func passes(_ fact: Fact) -> Bool {
    if !types.isEmpty, !types.contains(fact.type.lowercased()) { return false }
    if let subject, fact.subject != subject { return false }
    if let minScore, !(fact.score.map { $0 >= minScore } ?? false) { return false }
    if texts.isEmpty { return true }
    let places = [
      fact.fact, fact.subject, fact.type, fact.evidence, fact.sourceMessageID, fact.channelID,
    ].compactMap { $0?.lowercased() }
    return texts.allSatisfy { text in places.contains { $0.holds(text) } }
  }

  /// The records that are wanted; what is not a fact passes when nothing is asked.
  public func wanted(_ rows: [[UInt8]]) -> [[UInt8]] {
    if isOpen { return rows }
    return rows.filter { row in Fact(record: row).map(passes) ?? false }
  }
}

/// A record of a list of facts.
public struct FactRow {
  let bytes: [UInt8]
  let fact: Fact?
  /// The id, or all of what has none.
  let key: String

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    fact = Fact(record: bytes)
    if let id = fact?.id, !id.isEmpty {
      key = id
    } else {
      key = "\u{0}" + String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The records, the newest update first; else in the order in which they are.
  static func newestFirst(_ rows: [FactRow]) -> [[UInt8]] {
    rows.enumerated().sorted { a, b in
      let (x, y) = (a.element.fact?.updatedAt ?? "", b.element.fact?.updatedAt ?? "")
      return x != y ? x > y : a.offset < b.offset
    }.map(\.element.bytes)
  }

  /// Each once.
  public static func unique(_ rows: [[UInt8]]) -> [[UInt8]] {
    var seen: Set<String> = []
    return rows.filter { seen.insert(FactRow($0).key).inserted }
  }
}

/// What a person may change of a fact.
public struct FactDraft: Equatable {
  public var subject: String
  public var type: String
  public var fact: String
  /// Empty for none.
  public var evidence: String
  /// As it is written; a number from 0 to 1 when it is sent.
  public var confidence: String

  /// The fact as it is.
  public init(_ fact: Fact) {
    subject = fact.subject
    type = fact.type
    self.fact = fact.fact
    evidence = fact.evidence ?? ""
    confidence = fact.confidenceText ?? ""
  }

  /// The members in the order in which they are shown.
  public static let names = ["subject", "type", "confidence", "fact", "evidence"]

  private static func path(_ name: String) -> WritableKeyPath<FactDraft, String> {
    switch name {
    case "subject": \.subject
    case "type": \.type
    case "confidence": \.confidence
    case "fact": \.fact
    default: \.evidence
    }
  }

  /// A member by its name.
  public subscript(name: String) -> String {
    get { self[keyPath: Self.path(name)] }
    set { self[keyPath: Self.path(name)] = newValue }
  }

  /// The draft as the backend will keep it: white space folded, the type in
  /// lower case. Members that are as they were stay so, whatever they hold.
  public func tidied(from base: FactDraft) -> FactDraft {
    var tidy = self
    for name in Self.names where self[name] != base[name] {
      let text = FactText.folded(self[name])
      tidy[name] = name == "type" ? (text.isEmpty ? "other" : text.lowercased()) : text
    }
    return tidy
  }

  /// Why the backend would refuse the draft, or keep less than it says; nil when
  /// it would not.
  public var fault: String? {
    if subject.isEmpty { return "subject: empty" }
    if fact.isEmpty { return "fact: empty" }
    for name in Self.names {
      if let excess = FactText.excess(name, self[name]) { return excess }
    }
    guard isNumber, let number = Double(confidence), (0...1).contains(number) else {
      return "confidence \(confidence): not a number from 0 to 1"
    }
    return nil
  }

  /// A number as JSON spells it (RFC 8259, section 6).
  private var isNumber: Bool {
    guard let first = confidence.utf8.first, first &- 48 < 10 else { return false }
    return Array(confidence.utf8).withUnsafeBytes { ScanValidator.firstFault($0) } == nil
  }

  /// The body of the request: all members, since what is left out is cleared.
  ///
  /// - Parameter guild: of the fact, or any for one that belongs to none.
  public func body(guild: String) -> [UInt8] {
    RecordText().string("guildId", guild).string("subject", subject).string("fact", fact)
      .string("factType", type).stringOrNull("evidenceText", evidence.isEmpty ? nil : evidence)
      .json("confidence", confidence).bytes
  }
}

/// What is sent to the memory, and what is read in the answers
/// (Agent/Clanky/CONTRACT.md 5.2, 5.3 and 9.5).
public enum FactWire {
  /// The body of `DELETE /api/memory/facts/ID`.
  ///
  /// - Parameter guild: of the fact, or any for one that belongs to none.
  public static func deleting(guild: String) -> [UInt8] {
    RecordText().string("guildId", guild).bytes
  }

  /// The body of `POST /api/memory/runtime-snapshot`.
  ///
  /// - Parameters:
  ///   - user: who speaks; nil for nobody.
  ///   - mode: `text` or `voice`.
  public static func snapshot(
    guild: String, channel: String?, user: String?, text: String?, mode: String
  ) -> [UInt8] {
    RecordText().string("guildId", guild).string("channelId", channel).string("userId", user)
      .string("queryText", text).string("mode", mode).bytes
  }

  /// The text in the answer of `GET /api/memory`; nil when there is none.
  public static func markdown(_ record: [UInt8]) -> String? {
    JSONValue(record)?["markdown"]?.string
  }

  /// The fact in the answer to a change, with its own bytes; nil when there is none.
  public static func stored(_ record: [UInt8]) -> [UInt8]? {
    ScanMembers.copy(of: "fact", in: record).flatMap {
      $0.first == UInt8(ascii: "{") ? $0 : nil
    }
  }

  /// The body of `POST /api/memory/facts`, which makes a fact again: the members of
  /// a change and those that say whose the fact is.
  ///
  /// - Parameter guild: for a fact that names none.
  public static func restoring(_ record: [UInt8], guild: String) -> [UInt8] {
    guard let fact = Fact(record: record) else { return Array("{}".utf8) }
    return RecordText().string("guildId", fact.guildID ?? guild).string("scope", fact.scope)
      .string("channelId", fact.channelID).string("userId", fact.userID)
      .string("subject", fact.subject).string("fact", fact.fact).string("factType", fact.type)
      .string("evidenceText", fact.evidence).string("sourceMessageId", fact.sourceMessageID)
      .string("createdAt", fact.createdAt).string("updatedAt", fact.updatedAt)
      .json("confidence", fact.confidence.map { "\($0)" }).bytes
  }

  /// The id that the answer gives a fact that was made again.
  public static func newID(_ body: [UInt8]) -> String? {
    let value = JSONValue(body)
    return value?["fact"]?["id"]?.text ?? value?["facts"]?.element(0)?["id"]?.text
      ?? value?["ids"]?.element(0)?.text ?? value?["id"]?.text
  }
}
