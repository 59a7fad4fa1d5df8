/// Texts that hold what JSON can: escapes of every kind, white space, duplicate
/// keys, deep nesting.
public enum RandomJSON {
  /// Bytes that damage a text.
  public static let noise = Array("{}[]|\",:\\ \n019.eE+-tfnux\u{1}".utf8)

  /// An object.
  public static func object(_ random: inout SeededGenerator, depth: Int = 0) -> String {
    var out = space(&random) + "{"
    let count = Int.random(in: 0..<(depth == 0 ? 7 : 4), using: &random)
    for index in 0..<count {
      if index > 0 { out += "," }
      out += space(&random) + string(&random, isKey: true) + space(&random) + ":"
      out += value(&random, depth: depth + 1)
    }
    return out + space(&random) + "}" + space(&random)
  }

  /// Any value.
  public static func value(_ random: inout SeededGenerator, depth: Int) -> String {
    let pick = Int.random(in: 0..<(depth > 4 ? 6 : 9), using: &random)
    let body: String
    switch pick {
    case 0: body = "null"
    case 1: body = Bool.random(using: &random) ? "true" : "false"
    case 2, 3: body = number(&random)
    case 4, 5: body = string(&random, isKey: false)
    case 6: return object(&random, depth: depth)
    default:
      let count = Int.random(in: 0..<4, using: &random)
      var elements: [String] = []
      for _ in 0..<count { elements.append(value(&random, depth: depth + 1)) }
      body = "[" + space(&random) + elements.joined(separator: ",") + "]"
    }
    return space(&random) + body + space(&random)
  }

  private static func space(_ random: inout SeededGenerator) -> String {
    guard Int.random(in: 0..<4, using: &random) == 0 else { return "" }
    return [" ", "\t", "\r", "\n", "  \n"].randomElement(using: &random) ?? ""
  }

  private static func number(_ random: inout SeededGenerator) -> String {
    let whole = Int.random(in: -99_999...99_999, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return "\(whole)"
    case 1: return "\(whole).\(Int.random(in: 0..<1_000_000, using: &random))"
    case 2: return "\(whole)e\(Int.random(in: -30...30, using: &random))"
    default: return "-0.\(Int.random(in: 0..<1_000_000_000, using: &random))E+2"
    }
  }

  private static func string(_ random: inout SeededGenerator, isKey: Bool) -> String {
    let words = ["kind", "id", "metadata", "usd_cost", "createdAt", "a", ""]
    let pieces = [
      "\\\"", "\\\\", "\\/", "\\n", "\\t", "\\u00e9", "\\ud83d\\ude00", "\\u006b", "é", "日", "😀",
      "\u{2028}", "{", "}", "[", "]", ":", ",", " ", "kind", "\\\\\\\"", "\\b\\f\\r",
    ]
    var out = isKey ? words.randomElement(using: &random) ?? "" : ""
    for _ in 0..<Int.random(in: 0..<(isKey ? 2 : 8), using: &random) {
      out += pieces.randomElement(using: &random) ?? ""
    }
    return "\"" + out + "\""
  }
}
