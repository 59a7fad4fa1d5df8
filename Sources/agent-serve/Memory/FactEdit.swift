import Core
import Records

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
