import Core

/// A value of DAG-CBOR, as far as records and the events of a server have them: no floats.
indirect enum CBORValue: Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case text(String)
  case bytes([UInt8])
  case link(CID)
  case array([CBORValue])
  case map([Member])

  struct Member: Equatable {
    var name: String
    var value: CBORValue
  }

  subscript(name: String) -> CBORValue? {
    guard case .map(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }

  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

  var elements: [CBORValue] { if case .array(let elements) = self { elements } else { [] } }

  var link: CID? { if case .link(let cid) = self { cid } else { nil } }

  /// As JSON: links as the text of their CIDs, bytes as base64, both as plain strings.
  var json: String { json(isRecord: false) }

  /// As JSON as records have it: `{"$link":CID}`, and `{"$bytes":BASE64}` without padding, as the
  /// reference server writes them.
  var recordJSON: String { json(isRecord: true) }

  private func json(isRecord: Bool) -> String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .text(let value): JSONQuote.string(value)
    case .bytes(let value) where isRecord:
      "{\"$bytes\":" + JSONQuote.string(String(Base64.text(value).prefix { $0 != "=" })) + "}"
    case .bytes(let value): JSONQuote.string(Base64.text(value))
    case .link(let cid) where isRecord: "{\"$link\":" + JSONQuote.string(cid.description) + "}"
    case .link(let cid): JSONQuote.string(cid.description)
    case .array(let elements):
      "[" + elements.map { $0.json(isRecord: isRecord) }.joined(separator: ",") + "]"
    case .map(let members):
      "{"
        + members.map { JSONQuote.string($0.name) + ":" + $0.value.json(isRecord: isRecord) }
        .joined(separator: ",") + "}"
    }
  }

  /// In DAG-CBOR: keys sorted by length, then bytes; everything in its shortest form.
  var encoded: [UInt8] {
    var out: [UInt8] = []
    encode(into: &out)
    return out
  }

  private func encode(into out: inout [UInt8]) {
    switch self {
    case .null: out.append(0xf6)
    case .bool(let value): out.append(value ? 0xf5 : 0xf4)
    case .integer(let value):
      if value >= 0 {
        Self.head(0, UInt64(value), &out)
      } else {
        Self.head(1, UInt64(~value), &out)
      }
    case .text(let value): Self.append(3, value.utf8, &out)
    case .bytes(let value): Self.append(2, value, &out)
    case .link(let cid):
      Self.head(6, 42, &out)
      Self.append(2, [0] + (cid.bytes ?? []), &out)
    case .array(let elements):
      Self.head(4, UInt64(elements.count), &out)
      for element in elements { element.encode(into: &out) }
    case .map(let members):
      Self.head(5, UInt64(members.count), &out)
      let sorted = members.sorted { one, other in
        let (a, b) = (one.name.utf8, other.name.utf8)
        return a.count == b.count ? a.lexicographicallyPrecedes(b) : a.count < b.count
      }
      for member in sorted {
        Self.append(3, member.name.utf8, &out)
        member.value.encode(into: &out)
      }
    }
  }

  private static func append(_ major: UInt8, _ bytes: some Collection<UInt8>, _ out: inout [UInt8])
  {
    head(major, UInt64(bytes.count), &out)
    out += bytes
  }

  private static func head(_ major: UInt8, _ value: UInt64, _ out: inout [UInt8]) {
    let (size, code): (Int, UInt8) =
      switch value {
      case 0..<24: (0, UInt8(value))
      case 24...0xff: (1, 24)
      case 0x100...0xffff: (2, 25)
      case 0x1_0000...0xffff_ffff: (4, 26)
      default: (8, 27)
      }
    out.append(major << 5 | code)
    for place in stride(from: size - 1, through: 0, by: -1) {
      out.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * place)))
    }
  }
}
