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
  private static let costNames = NameTable<Int>(costs.enumerated().map { ($1, $0 + tokens.count) })

  /// Looks at `usage`, then `responseUsage`, then the metadata itself. The usage inside
  /// `llm` is that of another action, the call behind a reply, and does not count again.
  init(_ metadata: ScanValue) {
    guard metadata.isObject, var members = try? ScanMembers(metadata.bytes) else { return }
    var (usage, response, dollars) = (ScanValue.absent, ScanValue.absent, ScanValue.absent)
    while (try? members.next()) == true {
      let (name, value) = (Self.names[members.key], members.value)
      switch name {
      case .input where value.isNumber: input = value
      case .output where value.isNumber: output = value
      case .usage where value.isObject: usage = value
      case .response where value.isObject: response = value
      case .dollars where value.isObject: dollars = value
      case .prices where !value.isObject && !value.isNumber: prices = value
      case .unpriced: isUnpriced = value.bytes.elementsEqual("true".utf8)
      default: break
      }
    }
    let inside = usage.isObject ? usage : response
    guard inside.isObject, var parts = try? ScanMembers(inside.bytes) else { return }
    (input, output) = (.absent, .absent)
    while (try? parts.next()) == true {
      guard parts.value.isNumber else { continue }
      switch Self.names[parts.key] {
      case .input: input = parts.value
      case .output: output = parts.value
      default: break
      }
    }
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

  private enum Name { case input, output, usage, response, dollars, prices, unpriced }

  private static let names = NameTable<Name>([
    ("inputTokens", .input), ("input_tokens", .input), ("promptTokens", .input),
    ("prompt_tokens", .input), ("outputTokens", .output), ("output_tokens", .output),
    ("completionTokens", .output), ("completion_tokens", .output), ("usage", .usage),
    ("responseUsage", .response), ("usd", .dollars), ("prices", .prices),
    ("unpriced", .unpriced),
  ])
}

extension ActionFields {
  var isUsage: Bool {
    if let cost = ScanNumber(cost), !cost.isZero { return true }
    return TokenUsage(metadata).isSome
  }
}
