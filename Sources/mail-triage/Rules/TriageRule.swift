import Core
import Records

/// A line of the rules: `urgent/work from *@work.example`.
struct TriageRule {
  enum Field: String, CaseIterable {
    case from, to, subject, text, list, any, platform
    case mark = "is"
  }

  let urgency: NotificationRecord.Urgency
  /// Nil leaves the usual one.
  let category: String?
  private let field: Field
  private let pattern: TextPattern

  init(_ line: Substring) throws(Failure) {
    let words = line.split(maxSplits: 2) { $0 == " " || $0 == "\t" }
    guard words.count == 3 else { throw Failure("not URGENCY FIELD PATTERN") }
    let parts = words[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let urgency = NotificationRecord.Urgency(rawValue: String(parts[0])) else {
      throw Failure(Self.unknown(parts[0], NotificationRecord.Urgency.allCases))
    }
    guard let field = Field(rawValue: String(words[1])) else {
      throw Failure(Self.unknown(words[1], Field.allCases))
    }
    (self.urgency, self.field) = (urgency, field)
    category = parts.count > 1 ? String(parts[1]) : nil
    if category == "" { throw Failure("the category is empty") }
    let text = String(words[2].drop { $0 == " " || $0 == "\t" })
    if field == .mark, Item.Mark(rawValue: text) == nil {
      throw Failure(Self.unknown(words[2], Item.Mark.allCases))
    }
    do throws(Failure) {
      pattern = try TextPattern(text)
    } catch {
      throw Failure("\(text): \(error.reason)")
    }
  }

  private static func unknown<Word: RawRepresentable<String>>(
    _ word: Substring, _ words: [Word]
  ) -> String {
    let names = words.map(\.rawValue)
    return "\(word): not \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
      + NearestWord.hint(for: String(word), among: names)
  }

  func matches(_ item: Item) -> Bool {
    if field == .mark { return item.marks.contains { pattern.matches($0.rawValue) } }
    return Self.texts(of: item, field).contains { pattern.matches($0) }
  }

  private static func texts(of item: Item, _ field: Field) -> [String] {
    switch field {
    case .from: item.senders
    case .to: item.recipients
    case .subject: [item.subject]
    case .text: [item.text]
    case .list: item.list.map { [$0] } ?? []
    case .platform: [item.platform]
    case .any: [Field.from, .to, .subject, .text, .list].flatMap { texts(of: item, $0) }
    case .mark: []
    }
  }
}
