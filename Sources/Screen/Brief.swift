import Core

/// JSON as a person reads it in passing: names without quotes, nulls left out.
public enum Brief {
  /// The longest string that is looked into for an object.
  private static let mostInside = 64 * 1024

  /// A value on one line: `query: tides, limit: 5`; an object with one member
  /// is that member's value alone.
  ///
  /// - Parameters:
  ///   - value: any value; a string that holds a JSON object, as some providers
  ///     send arguments, is read first.
  ///   - limit: about how many characters are wanted.
  ///   - unwraps: false keeps the name of an only member.
  public static func text(_ value: JSONValue, limit: Int = 400, unwraps: Bool = true) -> String {
    if let string = value.string(bytes: limit) {
      guard string.utf8.first == UInt8(ascii: "{"), value.byteCount <= mostInside,
        let string = value.string, let inside = try? JSONValue.parse(text: string)
      else { return string }
      return text(inside, limit: limit, unwraps: unwraps)
    }
    let members = value.members.filter { !$0.value.isNull }
    if unwraps, members.count == 1, members[0].value.text != nil {
      return text(members[0].value, limit: limit)
    }
    var out = ""
    append(value, to: &out, limit: limit, isOuter: true)
    return out
  }

  private static func append(
    _ value: JSONValue, to out: inout String, limit: Int, isOuter: Bool = false
  ) {
    guard out.utf8.count < limit else { return }
    switch value.kind {
    case .null: out += "null"
    case .string: out += value.string(bytes: limit) ?? ""
    case .bool, .integer, .real: out += value.text ?? ""
    case .array:
      out += "["
      for (index, element) in value.elements.enumerated() where out.utf8.count < limit {
        if index > 0 { out += ", " }
        append(element, to: &out, limit: limit)
      }
      out += "]"
    case .object:
      if !isOuter { out += "{" }
      var isFirst = true
      for member in value.members where !member.value.isNull && out.utf8.count < limit {
        if !isFirst { out += ", " }
        isFirst = false
        out += "\(member.name): "
        append(member.value, to: &out, limit: limit)
      }
      if !isOuter { out += "}" }
    }
  }
}
