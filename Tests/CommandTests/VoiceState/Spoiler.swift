import Core
import TestSupport

/// Spoils JSON at random places: members are dropped, doubled, renamed, set to
/// null, to another type, to hostile text or extreme numbers, or nested.
struct Spoiler {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// The value with a few places spoilt, the same for the same seed.
  mutating func spoil(_ value: LooseJSON) -> LooseJSON {
    var value = value
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      var target = Int.random(in: 1..<max(value.count, 2), using: &random)
      value = change(value, &target) ?? .null
    }
    return value
  }

  /// A number that fits no screen.
  static let numbers = [
    "0", "-1", "1e300", "-1e300", "9223372036854775807", "-9223372036854775808", "1e-300",
    "99999999999999999999", "0.1", "100", "60001", "-0.0",
  ]

  /// Texts that a terminal would obey, that look like times or that have no end.
  static let texts = [
    "", " ", "\u{1b}[2J\u{1b}]0;x\u{7}", "\u{9b}31m", "\u{202e}olleh", "a\nb\r\nc\td", "\u{0}",
    "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z", "2026-06-14T21:07:30.000Z", "-5", "NaN",
    "漢字仮名交じり文", "👨‍👩‍👧‍👦🏳️‍🌈🇳🇱", "e" + String(repeating: "\u{301}", count: 99),
    String(repeating: "long ", count: 300), "\u{301}", "\u{200d}", "\u{fe0f}", "שלום עולם",
  ]

  /// Counts down to the chosen value and changes it; nil drops it.
  private mutating func change(_ value: LooseJSON, _ target: inout Int) -> LooseJSON? {
    if target == 0 {
      target = -1
      return spoiled(value)
    }
    target -= 1
    switch value {
    case .array(let elements):
      return .array(elements.compactMap { target < 0 ? $0 : change($0, &target) })
    case .object(let members):
      return .object(
        members.compactMap { member in
          guard target >= 0 else { return member }
          return change(member.value, &target).map {
            LooseJSON.Member(name: member.name, value: $0)
          }
        })
    default: return value
    }
  }

  private mutating func spoiled(_ value: LooseJSON) -> LooseJSON? {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return nil
    case 1: return .null
    case 2: return .number(Self.numbers.randomElement(using: &random) ?? "0")
    case 3, 4: return .string(Self.texts.randomElement(using: &random) ?? "")
    case 5: return .bool(.random(using: &random))
    case 6: return .array([value, value, .null, .number("7")])
    case 7:
      return .object([
        .init(name: "extra", value: .string("\u{1b}c")), .init(name: "nested", value: value),
      ])
    case 8: return .array(Array(repeating: value, count: Int.random(in: 0...40, using: &random)))
    default: return .object([])
    }
  }
}

/// A JSON value that can be changed, to spoil samples with.
indirect enum LooseJSON {
  /// One member of an object.
  struct Member {
    var name: String
    var value: LooseJSON
  }

  case null
  case bool(Bool)
  /// A number's own spelling, or any other JSON text.
  case number(String)
  case string(String)
  case array([LooseJSON])
  case object([Member])

  init(_ value: JSONValue) {
    switch value.kind {
    case .null: self = .null
    case .bool: self = .bool(value.bool ?? false)
    case .integer, .real: self = .number(value.text ?? "0")
    case .string: self = .string(value.string ?? "")
    case .array: self = .array(value.elements.map { LooseJSON($0) })
    case .object:
      self = .object(
        value.members.map { Member(name: $0.name, value: LooseJSON($0.value)) })
    }
  }

  /// The value as JSON text.
  var text: String {
    var out = ""
    append(to: &out)
    return out
  }

  private func append(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .number(let spelling): out += spelling
    case .string(let value): Self.quote(value, to: &out)
    case .array(let elements):
      out += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { out += "," }
        element.append(to: &out)
      }
      out += "]"
    case .object(let members):
      out += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { out += "," }
        Self.quote(member.name, to: &out)
        out += ":"
        member.value.append(to: &out)
      }
      out += "}"
    }
  }

  private static func quote(_ value: String, to out: inout String) {
    let isSimple = value.utf8.withContiguousStorageIfAvailable { bytes in
      !bytes.contains { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c }
    }
    if isSimple == true {
      out += "\"\(value)\""
      return
    }
    out += "\""
    for scalar in value.unicodeScalars {
      switch scalar.value {
      case 0x22: out += "\\\""
      case 0x5c: out += "\\\\"
      case ..<0x20:
        let digits = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: out.unicodeScalars.append(scalar)
      }
    }
    out += "\""
  }

  /// How many values there are, this one included.
  var count: Int {
    switch self {
    case .array(let elements): elements.reduce(1) { $0 + $1.count }
    case .object(let members): members.reduce(1) { $0 + $1.value.count }
    default: 1
    }
  }

  /// The value with every string replaced.
  func mapStrings(_ change: (String) -> LooseJSON) -> LooseJSON {
    switch self {
    case .string(let value): change(value)
    case .array(let elements): .array(elements.map { $0.mapStrings(change) })
    case .object(let members):
      .object(
        members.map { Member(name: $0.name, value: $0.value.mapStrings(change)) })
    default: self
    }
  }
}
