import Core
import Records

/// What a model read and wrote for an action, in the spellings that its metadata may
/// have; absent where it does not say.
struct TokenUsage {
  private(set) var input = ScanValue.absent
  private(set) var output = ScanValue.absent
  /// What the answers in transcripts say besides, in the order of `details`; empty for any other.
  private(set) var details: [ScanValue] = []
  /// The day of the prices, and whether there was none for the model.
  private(set) var prices = ScanValue.absent
  private(set) var isUnpriced = false

  /// The members of a count.
  static let details = tokens + costs.map { "\($0)_usd" }
  private static let tokens = [
    "cache_write_5m_tokens", "cache_write_1h_tokens", "cache_read_tokens", "web_searches",
  ]
  private static let costs = [
    "input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "web_search",
  ]
  /// The members of the usage and of the costs, by their place among `details`.
  private static let tokenNames = NameTable<Int>(tokens.enumerated().map { ($1, $0) })
  private static let costNames = NameTable<Int>(
    costs.enumerated().map { ($1, $0 + tokens.count) })

  /// Looks at `usage`, then `responseUsage`, then the metadata itself. The usage inside
  /// `llm` is that of another action, the call behind a reply, and does not count again.
  init(_ metadata: ScanValue) {
    guard metadata.isObject, var members = try? ScanMembers(metadata.bytes) else { return }
    var (usage, response, dollars) = (ScanValue.absent, ScanValue.absent, ScanValue.absent)
    while (try? members.next()) == true {
      if members.value.isObject {
        if isKey(members, "usage") {
          usage = members.value
        } else if isKey(members, "responseUsage") {
          response = members.value
        } else if isKey(members, "usd") {
          dollars = members.value
        }
      } else if members.value.isNumber {
        add(members)
      } else if isKey(members, "prices") {
        prices = members.value
      } else if isKey(members, "unpriced") {
        isUnpriced = members.value.bytes.elementsEqual("true".utf8)
      }
    }
    let inside = usage.isObject ? usage : response
    guard inside.isObject, var parts = try? ScanMembers(inside.bytes) else { return }
    (input, output) = (.absent, .absent)
    while (try? parts.next()) == true { if parts.value.isNumber { add(parts) } }
    if !prices.isAbsent { readDetails(inside, dollars) }
  }

  private mutating func readDetails(_ usage: ScanValue, _ dollars: ScanValue) {
    details = Array(repeating: .absent, count: Self.details.count)
    for (object, names) in [(usage, Self.tokenNames), (dollars, Self.costNames)] {
      guard object.isObject, var members = try? ScanMembers(object.bytes) else { continue }
      while (try? members.next()) == true {
        if let index = names[members.key] { details[index] = members.value }
      }
    }
  }

  var isSome: Bool {
    ([input, output] + details).contains { value in ScanNumber(value).map { !$0.isZero } ?? false }
  }

  private mutating func add(_ members: ScanMembers) {
    if Self.inputs.contains(where: { isKey(members, $0) }) {
      input = members.value
    } else if Self.outputs.contains(where: { isKey(members, $0) }) {
      output = members.value
    }
  }

  private func isKey(_ members: ScanMembers, _ name: StaticString) -> Bool {
    members.isKey(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  private static let inputs: [StaticString] = [
    "inputTokens", "input_tokens", "promptTokens", "prompt_tokens",
  ]
  private static let outputs: [StaticString] = [
    "outputTokens", "output_tokens", "completionTokens", "completion_tokens",
  ]
}

extension ActionFields {
  var isUsage: Bool {
    if let cost = ScanNumber(cost), !cost.isZero { return true }
    return TokenUsage(metadata).isSome
  }
}
