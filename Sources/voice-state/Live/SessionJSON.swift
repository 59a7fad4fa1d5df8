import Core

/// Builds the members that are put on top of a session: of members with one
/// name the last counts, so what a server sent stays as it is, byte for byte.
struct SessionJSON {
  private var members: [(name: String, text: String)] = []

  /// An object of members; those without a value are left out.
  static func object(_ members: [(String, String?)]) -> String {
    let found = members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
    return "{" + found.joined(separator: ",") + "}"
  }

  static func array(_ elements: [String]) -> String {
    "[" + elements.joined(separator: ",") + "]"
  }

  static func string(_ text: String?) -> String? { text.map(JSONQuote.string) }

  static func time(_ time: Timestamp?) -> String? { time.map { "\"\($0.rfc3339)\"" } }

  static func number(_ value: Double?) -> String? {
    guard let value, value.isFinite, abs(value) < 1e15 else { return nil }
    return value == value.rounded() ? "\(Int64(value))" : "\(value)"
  }

  /// Sets a member.
  mutating func set(_ name: String, _ text: String?) {
    if let text { members.append((name, text)) }
  }

  /// The members as one object, nil when there are none.
  var text: String? {
    members.isEmpty ? nil : Self.object(members.map { ($0.name, $0.text) })
  }

  /// The session with the members on top of its own.
  ///
  /// - Parameter base: one JSON object.
  func merged(into base: [UInt8]) -> [UInt8] {
    guard !members.isEmpty, let last = base.lastIndex(of: UInt8(ascii: "}")) else { return base }
    var out = Array(base[..<last])
    var isFirst = out.last { $0 > 32 } == UInt8(ascii: "{")
    for member in members {
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      out += "\"\(member.name)\":\(member.text)".utf8
    }
    out.append(UInt8(ascii: "}"))
    return out
  }

  /// The elements of a list of the session, as they stand there.
  static func elements(of name: String, in base: [UInt8]) -> [String] {
    base.withUnsafeBytes { bytes in
      guard let list = try? ScanMembers.value(of: name, in: bytes), list.isArray,
        var elements = try? ScanElements(list.bytes)
      else { return [] }
      var found: [String] = []
      while (try? elements.next()) == true {
        found.append(String(decoding: elements.value.bytes, as: UTF8.self))
      }
      return found
    }
  }

  /// A member of the session, as it stands there; nil when null or absent.
  static func member(_ name: String, in base: [UInt8]) -> [UInt8]? {
    base.withUnsafeBytes { bytes in
      guard let value = try? ScanMembers.value(of: name, in: bytes), !value.isNull else {
        return nil
      }
      return Array(value.bytes)
    }
  }
}
