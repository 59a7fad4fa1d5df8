import Core
import Records

/// The rules of a file: the first that is about an item decides.
struct RuleBook {
  private var rules: [TriageRule] = []
  private(set) var faults: [(line: Int, reason: String)] = []

  /// More is not read, bytes.
  static let limit = 1 << 20

  init() {}

  init(_ text: String) {
    for (number, line) in text.split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).enumerated() {
      let start = line.drop { $0 == " " || $0 == "\t" }
      guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }), start.first != "#"
      else { continue }
      do throws(Failure) {
        rules.append(try TriageRule(start[...last]))
      } catch {
        faults.append((number + 1, error.reason))
      }
    }
  }

  func judge(_ item: Item) -> Verdict {
    let rule = rules.first { $0.matches(item) }
    return Verdict(
      urgency: rule?.urgency ?? item.urgency, category: rule?.category ?? item.category)
  }
}

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
    pattern = try Failure.rethrowing(try TextPattern(text)) { Failure("\(text): \($0.reason)") }
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

/// What a rule looks for in a text. Upper and lower case are the same.
enum TextPattern {
  /// All of the text, with `*` for anything and `?` for one character.
  case glob(Glob)
  case regex(RegexSearch)

  init(_ text: String) throws(Failure) {
    if text.count > 2, text.hasPrefix("/"), text.hasSuffix("/") {
      self = .regex(try RegexSearch(String(text.dropFirst().dropLast()), ignoresCase: true))
    } else {
      self = .glob(Glob(text.lowercased().utf8, hasSets: false))
    }
  }

  /// Whether a text, which holds no NUL, is or has what is looked for.
  func matches(_ text: String) -> Bool {
    switch self {
    case .regex(let search):
      var text = text
      return text.withUTF8 { search.matches(UnsafeRawBufferPointer($0)) }
    case .glob(let glob): return glob.matches(text.lowercased())
    }
  }
}
