import Core

/// JSON that is made here, for the answers and events of the gateway. Members keep
/// their order; an absent one is left out.
enum JSONNode: Sendable {
  case absent
  case null
  case bool(Bool)
  case number(Int)
  case text(String)
  case list([JSONNode])
  case object([(name: String, value: JSONNode)])
  case raw([UInt8])

  static func text(_ text: String?) -> JSONNode { text.map { .text($0) } ?? .absent }

  static func number(_ number: Int?) -> JSONNode { number.map { .number($0) } ?? .absent }

  static func value(_ value: JSONValue?) -> JSONNode {
    value.map { .raw(Array($0.compact().utf8)) } ?? .absent
  }

  static func texts(_ texts: some Sequence<String>) -> JSONNode { .list(texts.map { .text($0) }) }

  static func time(_ time: Timestamp) -> JSONNode { .number(time.milliseconds) }

  /// The object with more members; of two of one name the new one counts.
  func adding(_ more: JSONNode) -> JSONNode {
    guard case .object(let members) = self, case .object(let others) = more else { return self }
    return .object(members.filter { one in !others.contains { $0.0 == one.0 } } + others)
  }

  var bytes: [UInt8] {
    var out: [UInt8] = []
    append(to: &out)
    return out
  }

  private func append(to out: inout [UInt8]) {
    switch self {
    case .absent, .null: out += "null".utf8
    case .bool(let value): out += (value ? "true" : "false").utf8
    case .number(let value): out += "\(value)".utf8
    case .text(let text): JSONText.append(text, to: &out)
    case .raw(let bytes): out += bytes
    case .list(let elements):
      out.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        element.append(to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .object(let members):
      out.append(UInt8(ascii: "{"))
      var isFirst = true
      for (name, value) in members {
        if case .absent = value { continue }
        if !isFirst { out.append(UInt8(ascii: ",")) }
        isFirst = false
        JSONText.append(name, to: &out)
        out.append(UInt8(ascii: ":"))
        value.append(to: &out)
      }
      out.append(UInt8(ascii: "}"))
    }
  }
}

extension JSONNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  init(stringLiteral text: String) { self = .text(text) }
  init(integerLiteral number: Int) { self = .number(number) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(nilLiteral: ()) { self = .null }
  init(arrayLiteral elements: JSONNode...) { self = .list(elements) }
  init(dictionaryLiteral members: (String, JSONNode)...) {
    self = .object(members.map { (name: $0.0, value: $0.1) })
  }
}

extension Timestamp {
  /// Between two times as texts; nil for what is none, or goes backwards.
  static func milliseconds(from start: String?, to end: String?) -> Int? {
    guard let start = start.flatMap({ Timestamp(rfc3339: $0) }),
      let end = end.flatMap({ Timestamp(rfc3339: $0) }), end >= start
    else { return nil }
    return end.milliseconds - start.milliseconds
  }

  /// Since 1970.
  var milliseconds: Int { Int(seconds) * 1000 + Int(nanoseconds / 1_000_000) }

  init(milliseconds: Int) {
    self.init(
      seconds: Int64(milliseconds / 1000), nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
  }
}
