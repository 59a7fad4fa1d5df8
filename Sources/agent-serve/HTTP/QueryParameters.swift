import CLibc
import Core

/// Decoded as forms are (WHATWG URL, application/x-www-form-urlencoded).
struct QueryParameters {
  let pairs: [(name: String, value: String)]

  init(_ text: String) {
    pairs = text.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
    }
  }

  subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

  func word(_ name: String) -> String? {
    let text = (self[name] ?? "").trimmingBlanks()
    return text.isEmpty ? nil : text
  }

  /// The instant so many hours ago, nil without a number of hours above 0.
  func since(now: Timestamp) -> String? {
    guard let hours = number("sinceHours"), hours > 0 else { return nil }
    return now.before(hours: hours).rfc3339
  }

  func number(_ name: String) -> Double? { self[name].flatMap(Double.init(javaScript:)) }

  /// A number rounded down and clamped; the default for junk.
  func integer(_ name: String, default fallback: Int, in range: ClosedRange<Int>) -> Int {
    guard let value = number(name) else { return fallback }
    let floor = value.rounded(.down)
    if floor <= Double(range.lowerBound) { return range.lowerBound }
    if floor >= Double(range.upperBound) { return range.upperBound }
    return Int(floor)
  }

  static func decode(_ text: Substring, plusIsBlank: Bool = true) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "+") {
        bytes.append(plusIsBlank ? 0x20 : byte)
      } else if byte == UInt8(ascii: "%"), rest.count >= 2, rest.first != UInt8(ascii: "+"),
        rest.first != UInt8(ascii: "-"),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The body of a request as an object (Agent/Clanky/CONTRACT.md 1.2): what says that it is JSON
/// must be, a form is read as one, and a body of any other type has no members.
struct RequestObject {
  private let json: [UInt8]

  init(_ body: [UInt8], type: String) throws(Refusal) {
    let type = type.lowercased()
    if type.holds("application/json") {
      let body = UTF8Text.repaired(body)
      guard body.isEmpty || body.withUnsafeBytes(ScanValidator.isValue) else {
        throw Refusal(.invalidJSON)
      }
      json = body
    } else if type.holds("application/x-www-form-urlencoded") {
      let members = QueryParameters(String(decoding: body, as: UTF8.self)).pairs
        .map { "\(JSONText.quoted($0.name)):\(JSONText.quoted($0.value))" }
      json = Array("{\(members.joined(separator: ","))}".utf8)
    } else {
      json = []
    }
  }

  /// Gives the members to `body`, which they must not leave.
  func members<Result, Failure: Error>(
    _ body: (ScanObject) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try json.withUnsafeBufferPointer { bytes throws(Failure) in
      try body(ScanObject(UnsafeRawBufferPointer(bytes)) ?? ScanObject())
    }
  }
}
