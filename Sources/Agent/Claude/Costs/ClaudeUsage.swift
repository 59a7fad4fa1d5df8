import Core
import Records

/// What a line of a transcript says of the cost of an answer (CONTRACT.md 7).
struct ClaudeUsage {
  var tokens = TokenCounts()
  /// Its number among `Calls`.
  var call: Int32
  /// What other models did for it, whose tokens are not among its own.
  var advice: [(call: Int32, tokens: TokenCounts)] = []

  private enum Message: Int, ScanName {
    case id, model, usage
    static let table = NameTable<Message>()
  }

  private enum Usage: Int, ScanName {
    case input, output, read, written, split, tools, speed, region, iterations, type, model
    case fiveMinutes, hour, searches
    static let table = NameTable<Usage>([
      ("input_tokens", .input), ("output_tokens", .output), ("cache_read_input_tokens", .read),
      ("cache_creation_input_tokens", .written), ("cache_creation", .split),
      ("ephemeral_5m_input_tokens", .fiveMinutes), ("ephemeral_1h_input_tokens", .hour),
      ("server_tool_use", .tools), ("web_search_requests", .searches), ("speed", .speed),
      ("inference_geo", .region), ("iterations", .iterations), ("type", .type), ("model", .model),
    ])
  }

  /// The message's id and its usage, without a copy of either.
  static func parts(_ message: ScanValue) -> (id: ScanValue, model: ScanValue, usage: ScanValue) {
    let fields = ScanFields<Message>(message.bytes)
    return (fields[.id], fields[.model], fields[.usage])
  }

  /// The calls that came, by what is in them: there are few.
  struct Calls {
    private(set) var all: [PriceList.Call] = []
    private var texts: [(model: [UInt8], region: [UInt8], isFast: Bool)] = []

    mutating func number(model: ScanValue, region: ScanValue, isFast: Bool) -> Int32 {
      let model = model.isString ? model : .absent
      let region = region.isString ? region : .absent
      if let known = texts.firstIndex(where: {
        $0.isFast == isFast && $0.model.elementsEqual(model.bytes)
          && $0.region.elementsEqual(region.bytes)
      }) {
        return Int32(known)
      }
      texts.append((Array(model.bytes), Array(region.bytes), isFast))
      all.append(
        PriceList.Call(model: model.string ?? "", region: region.string ?? "", isFast: isFast))
      return Int32(all.count - 1)
    }
  }

  init(_ usage: ScanValue, model: ScanValue, _ calls: inout Calls) {
    let fields = ScanFields<Usage>(usage.bytes)
    let region = fields[.region]
    call = calls.number(model: model, region: region, isFast: fields[.speed].isText("fast"))
    tokens = Self.tokens(fields)
    for step in fields[.iterations].elements.map({ ScanFields<Usage>($0.bytes) })
    where step[.type].isText("advisor_message") {
      let name = step[.model].isString ? step[.model] : model
      advice.append(
        (calls.number(model: name, region: region, isFast: false), Self.tokens(step)))
    }
  }

  /// What the answer of a line cost, in 10^-18 dollars; nil where a model has no price.
  static func dollars(of line: ScanValue) -> UInt128? {
    guard let prices = PriceList.usual,
      let message = try? ScanMembers.value(of: "message", in: line.bytes), message.isObject
    else { return nil }
    let parts = parts(message)
    guard parts.usage.isObject else { return nil }
    var calls = Calls()
    let usage = ClaudeUsage(parts.usage, model: parts.model, &calls)
    var sum: UInt128 = 0
    for (call, tokens) in [(usage.call, usage.tokens)] + usage.advice {
      guard let rate = prices.rate(for: calls.all[Int(call)]) else { return nil }
      sum += Dollars(tokens, rate).sum
    }
    return sum
  }

  private static func tokens(_ fields: ScanFields<Usage>) -> TokenCounts {
    var tokens = TokenCounts(
      input: count(fields[.input]), output: count(fields[.output]),
      read: count(fields[.read]))
    if fields[.split].isObject {
      let split = ScanFields<Usage>(fields[.split].bytes)
      tokens.write5m = count(split[.fiveMinutes])
      tokens.write1h = count(split[.hour])
    }
    // What the split does not have is kept for five minutes.
    let written = count(fields[.written])
    tokens.write5m += max(0, written - tokens.write5m - tokens.write1h)
    if fields[.tools].isObject {
      let tools = ScanFields<Usage>(fields[.tools].bytes)
      tokens.searches = count(tools[.searches])
    }
    return tokens
  }

  private static let most: Int64 = 1 << 53

  /// A number of tokens; 0 for what is none.
  private static func count(_ value: ScanValue) -> Int64 {
    guard value.isNumber else { return 0 }
    var number: Int64 = 0
    for digit in value.bytes {
      guard digit &- 48 < 10, number < most else {
        let double = value.double ?? 0
        return double > 0 ? Int64(min(double, Double(most))) : 0
      }
      number = number * 10 + Int64(digit &- 48)
    }
    return min(number, most)
  }
}
