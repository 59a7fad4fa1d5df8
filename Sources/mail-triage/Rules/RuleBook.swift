import Core

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
