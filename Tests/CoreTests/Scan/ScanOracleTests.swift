import TestSupport
import Testing

@testable import Core

/// The scanner against jansson: on every text that jansson accepts they agree
/// on each top-level member, and what jansson refuses the validator refuses.
@Suite struct ScanOracleTests {
  @Test func agreesWithJanssonOnEveryMember() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<3000 {
      let text = RandomJSON.object(&random)
      let tree = try JSONValue.parse(text: text)
      try withBytes(text) { bytes in
        #expect(ScanValidator.isValue(bytes))
        #expect(walk(text) == nil)
        var last: [String: ScanValue] = [:]
        var members = try ScanMembers(bytes)
        while try members.next() {
          let quoted = "\"" + String(decoding: members.key.bytes, as: UTF8.self) + "\""
          let name = try #require(withBytes(quoted) { ScanValue($0).string })
          last[name] = members.value
        }
        #expect(Set(last.keys) == Set(tree.members.map(\.name)), "\(text)")
        for (name, value) in last {
          let other = try #require(tree[name], "\(name) in \(text)")
          try expectEqual(value, other, text)
          #expect(try ScanMembers.value(of: name, in: bytes).bytes.elementsEqual(value.bytes))
        }
      }
    }
  }

  private func expectEqual(_ value: ScanValue, _ other: JSONValue, _ text: String) throws {
    switch other.kind {
    case .string: #expect(value.isString && value.string == other.string, "\(text)")
    case .integer, .real:
      let double = ScanNumber(value)?.double
      #expect(value.isNumber && double == other.number, "\(text)")
    case .null: #expect(value.isNull && !value.isAbsent, "\(text)")
    case .bool: #expect(value.string == (other.bool == true ? "true" : "false"), "\(text)")
    case .array:
      #expect(value.isArray)
      var elements = try ScanElements(value.bytes)
      var index = 0
      let others = other.elements
      while try elements.next() {
        try #require(index < others.count)
        try expectEqual(elements.value, others[index], text)
        index += 1
      }
      #expect(index == others.count, "\(text)")
    case .object:
      #expect(value.isObject)
      for (name, member) in other.members {
        try expectEqual(try ScanMembers.value(of: name, in: value.bytes), member, text)
      }
    }
  }

  /// One byte of a good text changed, removed or doubled.
  @Test func validatorRefusesWhatJanssonRefuses() {
    var random = SeededGenerator(seed: 5)
    var refused = 0
    for _ in 0..<6000 {
      var bytes = Array(RandomJSON.object(&random).utf8)
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[index] = RandomJSON.noise.randomElement(using: &random) ?? 0x20
      case 1: bytes.remove(at: index)
      default: bytes.insert(bytes[index], at: index)
      }
      // Jansson also refuses bad UTF-8 and lone surrogates; the validator does not ask.
      guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\\u") else {
        continue
      }
      let accepted = (try? JSONValue.parse(text: text)) != nil
      #expect(withBytes(text) { ScanValidator.isValue($0) } == accepted, "\(text)")
      if !accepted { refused += 1 }
      // The walk is more lenient, never stricter.
      if accepted { #expect(walk(text) == nil, "\(text)") }
    }
    #expect(refused > 1000)
  }
}

/// Walks the members of an object; the fault that was met.
private func walk(_ text: String) -> ScanFault? {
  withBytes(text) { bytes in
    do throws(ScanFault) {
      var members = try ScanMembers(bytes)
      while try members.next() {}
      return nil
    } catch {
      return error
    }
  }
}

/// Texts that hold what JSON can: escapes of every kind, white space, duplicate
/// keys, deep nesting.
enum RandomJSON {
  static let noise = Array("{}[]\",:\\ \n019.eE+-tfnux\u{1}".utf8)

  static func object(_ random: inout SeededGenerator, depth: Int = 0) -> String {
    var out = space(&random) + "{"
    let count = Int.random(in: 0..<(depth == 0 ? 7 : 4), using: &random)
    for index in 0..<count {
      if index > 0 { out += "," }
      out += space(&random) + string(&random, isKey: true) + space(&random) + ":"
      out += value(&random, depth: depth + 1)
    }
    return out + space(&random) + "}" + space(&random)
  }

  static func value(_ random: inout SeededGenerator, depth: Int) -> String {
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
