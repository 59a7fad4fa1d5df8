import Core
import Records

/// The domains that `-d` names.
struct DomainTest {
  private var domains: Set<ActionDomain> = []
  private var hasTool = false
  private var hasError = false

  /// What may be named.
  static var words: [String] { ActionDomain.allCases.map(\.rawValue) + ["tool", "error"] }

  /// Whether no domain was named.
  var isEmpty: Bool { domains.isEmpty && !hasTool && !hasError }

  /// - Parameter word: a domain, `tool` or `error`.
  /// - Throws: `UsageError` for any other word.
  mutating func add(_ word: String) throws(UsageError) {
    switch word {
    case "tool": hasTool = true
    case "error": hasError = true
    default:
      guard let domain = ActionDomain(rawValue: word) else {
        throw UsageError("--domain \(word): not one of \(Self.words.joined(separator: " "))")
      }
      domains.insert(domain)
    }
  }

  /// Whether an action is in one of them.
  ///
  /// - Parameters:
  ///   - kind: UTF-8, empty when there is none.
  ///   - isErrorLevel: whether its level is error.
  func matches(kind: UnsafeRawBufferPointer, isErrorLevel: Bool) -> Bool {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    return hasTool && ActionKind.isTool(kind: kind)
      || hasError && (isErrorLevel || ActionKind.isError(kind: kind, level: none))
      || !domains.isEmpty && domains.contains(ActionKind.domain(of: kind))
  }
}
