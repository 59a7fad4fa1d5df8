import Core

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
