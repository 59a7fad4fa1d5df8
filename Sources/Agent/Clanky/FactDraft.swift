import Core
import Records

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
