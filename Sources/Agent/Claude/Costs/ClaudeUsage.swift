import Core

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
    case input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens
    case cache_creation, server_tool_use, speed, inference_geo, iterations, type, model
    case ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, web_search_requests
    static let table = NameTable<Usage>()
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
    let region = fields[.inference_geo]
    call = calls.number(
      model: model, region: region,
      isFast: fields[.speed].rawText?.elementsEqual("fast".utf8) == true)
    tokens = Self.tokens(fields)
    guard fields[.iterations].isArray, var steps = try? ScanElements(fields[.iterations].bytes)
    else { return }
    while (try? steps.next()) == true {
      guard steps.value.isObject else { continue }
      let step = ScanFields<Usage>(steps.value.bytes)
      guard step[.type].rawText?.elementsEqual("advisor_message".utf8) == true else { continue }
      let name = step[.model].isString ? step[.model] : model
      advice.append(
        (calls.number(model: name, region: region, isFast: false), Self.tokens(step)))
    }
  }

  private static func tokens(_ fields: ScanFields<Usage>) -> TokenCounts {
    var tokens = TokenCounts(
      input: count(fields[.input_tokens]), output: count(fields[.output_tokens]),
      read: count(fields[.cache_read_input_tokens]))
    if fields[.cache_creation].isObject {
      let split = ScanFields<Usage>(fields[.cache_creation].bytes)
      tokens.write5m = count(split[.ephemeral_5m_input_tokens])
      tokens.write1h = count(split[.ephemeral_1h_input_tokens])
    }
    // What the split does not have is kept for five minutes.
    let written = count(fields[.cache_creation_input_tokens])
    tokens.write5m += max(0, written - tokens.write5m - tokens.write1h)
    if fields[.server_tool_use].isObject {
      let tools = ScanFields<Usage>(fields[.server_tool_use].bytes)
      tokens.searches = count(tools[.web_search_requests])
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
