import Core

/// An id that an action is to have: a JSON string of this text, or a number
/// that is the same.
struct IDTest {
  private let text: [UInt8]

  /// - Parameter text: the id.
  init(_ text: String) { self.text = Array(text.utf8) }

  /// Whether a member is this id; null and absent are none.
  func matches(_ value: ScanValue, _ scratch: ScanScratch) -> Bool {
    equals(value, text, scratch)
  }
}

/// Whether a string, a number, true or false is what a person wrote: strings
/// compare after their escapes, numbers as numbers.
func equals(_ value: ScanValue, _ text: [UInt8], _ scratch: ScanScratch) -> Bool {
  guard let raw = value.rawText else { return false }
  if value.isString {
    let decoded = scratch.text(of: raw)
    return decoded.count == text.count && decoded.elementsEqual(text)
  }
  if raw.count == text.count && raw.elementsEqual(text) { return true }
  return text.withUnsafeBytes { bytes in
    guard let number = ScanNumber(value), let other = ScanNumber(bytes) else { return false }
    return number.compare(other) == 0
  }
}

/// An amount of money as a person wrote it, compared by its exact decimal
/// value.
struct Amount {
  private let token: [UInt8]

  /// - Parameter text: a JSON number, or one that begins with a point or `+`.
  init?(_ text: String) {
    var token = Array(text.utf8)
    if token.first == UInt8(ascii: "+") { token.removeFirst() }
    if token.first == UInt8(ascii: ".") { token.insert(0x30, at: 0) }
    guard token.withUnsafeBytes({ ScanNumber($0) != nil }) else { return nil }
    self.token = token
  }

  /// How a cost stands to this amount: below zero when it is less. An unknown
  /// cost (null, absent) is 0 as in the rows; nil for what is no number.
  func order(of cost: ScanValue) -> Int? {
    token.withUnsafeBytes { bytes -> Int? in
      guard let amount = ScanNumber(bytes) else { return nil }
      if let number = ScanNumber(cost) { return number.compare(amount) }
      guard cost.isNull else { return nil }
      return amount.isNegative ? 1 : amount.isZero ? 0 : -1
    }
  }
}

/// The domains that `-d` names.
struct DomainTest {
  private var domains: Set<ActionDomain> = []
  private var hasTool = false
  private var hasError = false

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
        let known = ActionDomain.allCases.map(\.rawValue).joined(separator: " ")
        throw UsageError("--domain \(word): not one of \(known) tool error")
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
