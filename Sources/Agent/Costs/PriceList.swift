import CLibc
public import Core

/// What models cost: the file `share/agentutils/prices`, or another one.
///
/// Amounts are integers: those for a token count 10^-12 dollars, factors millionths, and so sums
/// count 10^-18 dollars.
public struct PriceList: Sendable {
  struct Prices: Sendable {
    var input, output, write5m, write1h, read: Int64
  }

  struct Model: Sendable {
    var usual: Prices
    /// From how many tokens of the prompt on the others hold; nil where there are none.
    var above: (tokens: Int64, prices: Prices)?
    var fast = PriceList.one
  }

  /// The day on which these were the prices, as the file has it.
  public private(set) var date = ""
  private var models: [String: Model] = [:]
  private var regions: [String: Int64] = [:]
  private var search: Int64 = 0

  /// The list of the configuration, or the installed one; nil where it cannot be read.
  static let usual: PriceList? = try? PriceList(Settings().prices)

  private static let one: Int64 = 1_000_000
  private static let sizeLimit = 1 << 20

  /// Reads a file.
  ///
  /// - Parameter path: nil for the one that stands beside the commands.
  /// - Throws: `Failure` with its name, and the line that could not be understood.
  public init(_ path: String?) throws(Failure) {
    guard let path = path ?? SharedFile.path("share/agentutils/prices") else {
      throw Failure("share/agentutils/prices", "not found beside the commands")
    }
    let bytes: [UInt8]
    do throws(Failure) {
      bytes = try BoundedFile.given(path, limit: Self.sizeLimit)
    } catch {
      throw Failure(path, error.reason)
    }
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let words = String(decoding: line.prefix { $0 != 0x23 }, as: UTF8.self)
        .split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
      if words.isEmpty { continue }
      guard read(words) else { throw Failure("\(path):\(index + 1)", "not a price") }
    }
  }

  private mutating func read(_ words: [String]) -> Bool {
    switch words[0] {
    case "date" where words.count == 2: date = words[1]
    case "model" where words.count == 7:
      guard let prices = Self.prices(words[2...]) else { return false }
      models[words[1], default: Model(usual: prices)].usual = prices
    case "above" where words.count == 8:
      guard let tokens = Int64(words[1]), let prices = Self.prices(words[3...]),
        models[words[2]] != nil
      else { return false }
      models[words[2]]?.above = (tokens, prices)
    case "fast" where words.count > 2:
      guard let factor = Self.millionths(words[1], upTo: 1000) else { return false }
      for name in words[2...] {
        if models[name] == nil { return false }
        models[name]?.fast = factor
      }
    case "region" where words.count == 3:
      guard let factor = Self.millionths(words[2], upTo: 1000) else { return false }
      regions[words[1]] = factor
    case "search" where words.count == 2:
      guard let price = Self.millionths(words[1], upTo: 1_000_000) else { return false }
      search = price
    default: return false
    }
    return true
  }

  private static func prices(_ words: ArraySlice<String>) -> Prices? {
    let amounts = words.compactMap { millionths($0, upTo: 1_000_000) }
    guard amounts.count == 5 else { return nil }
    return Prices(
      input: amounts[0], output: amounts[1], write5m: amounts[2], write1h: amounts[3],
      read: amounts[4])
  }

  /// A decimal number of at most six digits behind the point.
  private static func millionths(_ text: String, upTo most: Int64) -> Int64? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let digits = parts.count > 1 ? parts[1] : ""
    let filled = digits + String(repeating: "0", count: max(0, 6 - digits.utf8.count))
    guard let whole = UInt32(parts[0]), let rest = UInt32(filled), filled.utf8.count == 6,
      !text.hasPrefix("+"), !digits.hasPrefix("+"), Int64(whole) <= most
    else { return nil }
    return Int64(whole) * one + Int64(rest)
  }

  // MARK: - An answer

  /// What an answer was of, to look up its price.
  public struct Call: Sendable {
    /// As the answer has it.
    public var model: String
    /// Where it was made, as `us`; empty where nothing says it.
    public var region: String
    /// In fast mode.
    public var isFast: Bool
  }

  /// The prices for such an answer.
  public struct Rate: Sendable {
    let model: Model
    let factor: Int64
    let search: Int64
  }

  /// - Returns: nil for a model that has none.
  public func rate(for call: Call) -> Rate? {
    let (name, region) = Self.name(of: call.model)
    guard let model = models[call.model] ?? models[name] ?? models[name + "-0"] else { return nil }
    let factor = regions[call.region.isEmpty ? region : call.region] ?? Self.one
    let fast = call.isFast ? model.fast : Self.one
    return Rate(model: model, factor: factor * fast / Self.one, search: search)
  }

  /// The name in the list, of what providers put around it: `us.anthropic.NAME-v1:0`,
  /// `anthropic/NAME`, `NAME@DATE`, `NAME-DATE`, `NAME[1m]`, and a point for a dash. What stands in
  /// front of the provider is a region.
  private static func name(of model: String) -> (name: String, region: String) {
    var name = Substring(model.split(separator: "/").last ?? "")
    var region = ""
    if let mark = name.utf8.firstIndex(of: UInt8(ascii: "[")) { name = name[..<mark] }
    if let mark = name.utf8.firstIndex(of: UInt8(ascii: "@")) { name = name[..<mark] }
    var parts = name.split(separator: ".", omittingEmptySubsequences: false)
    if let provider = parts.firstIndex(of: "anthropic"), provider < parts.count - 1 {
      if provider > 0 { region = String(parts[provider - 1]) }
      parts = Array(parts[(provider + 1)...])
    }
    var words = parts.joined(separator: "-").split(separator: "-").map(String.init)
    if let version = words.last, version.hasPrefix("v"),
      version.dropFirst().utf8.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ":") })
    {
      words.removeLast()
    }
    if let date = words.last,
      date == "latest" || date.utf8.count == 8 && date.utf8.allSatisfy(isDigit)
    {
      words.removeLast()
    }
    return (words.joined(separator: "-"), region)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }
}

/// The tokens of an answer, by what they cost.
public struct TokenCounts: Equatable, Sendable {
  var input: Int64 = 0
  var output: Int64 = 0
  var write5m: Int64 = 0
  var write1h: Int64 = 0
  var read: Int64 = 0
  /// Searches of the web, which are none, but have a price.
  var searches: Int64 = 0

  var sum: Int64 { input + output + write5m + write1h + read }
}

/// What an answer cost, by what it was for, in 10^-18 dollars.
struct Dollars {
  var parts: [UInt128]

  init(_ tokens: TokenCounts, _ rate: PriceList.Rate) {
    let prompt = tokens.input + tokens.write5m + tokens.write1h + tokens.read
    var prices = rate.model.usual
    if let above = rate.model.above, prompt > above.tokens { prices = above.prices }
    let factor = UInt128(rate.factor)
    func amount(_ tokens: Int64, _ price: Int64) -> UInt128 {
      UInt128(tokens) * UInt128(price) * factor
    }
    parts = [
      amount(tokens.input, prices.input), amount(tokens.output, prices.output),
      amount(tokens.write5m, prices.write5m), amount(tokens.write1h, prices.write1h),
      amount(tokens.read, prices.read),
      // No model's, and the same everywhere.
      UInt128(tokens.searches) * UInt128(rate.search) * 1_000_000_000_000,
    ]
  }

  var sum: UInt128 { parts.reduce(0, +) }

  /// The nearest number.
  static func number(_ amount: UInt128) -> Double { Double(amount) / 1e18 }

  /// Adds the decimal number, with all its digits.
  static func append(_ amount: UInt128, to text: inout ByteBuffer) {
    let (whole, rest) = amount.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
    append(UInt64(clamping: whole), to: &text)
    var digits = UInt64(rest)
    if digits == 0 { return }
    text.append(UInt8(ascii: "."))
    var unit: UInt64 = 100_000_000_000_000_000
    while digits > 0 {
      text.append(UInt8(ascii: "0") + UInt8(digits / unit))
      digits %= unit
      unit /= 10
    }
  }

  static func append(_ number: UInt64, to text: inout ByteBuffer) {
    if number >= 10 { append(number / 10, to: &text) }
    text.append(UInt8(ascii: "0") + UInt8(number % 10))
  }
}
