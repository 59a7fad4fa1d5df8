import Core

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
