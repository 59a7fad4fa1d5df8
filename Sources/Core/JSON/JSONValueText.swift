extension JSONValue {
  /// The value on one line for a person: JSON without white space between
  /// tokens, numbers in their shortest spelling. Controls are not escaped
  /// beyond JSON's own rules: show it through `Visible`.
  ///
  /// - Parameter limit: about how many characters are wanted; the text ends
  ///   soon after them, unfinished, which keeps a huge value cheap.
  public func compact(limit: Int = .max) -> String {
    var text = ""
    appendCompact(to: &text, limit: limit)
    return text
  }

  private func appendCompact(to text: inout String, limit: Int) {
    guard text.utf8.count <= limit else { return }
    switch kind {
    case .null: text += "null"
    case .bool, .integer, .real: text += self.text ?? "null"
    case .string: Self.appendQuoted(string ?? "", to: &text, limit: limit)
    case .array:
      text += "["
      for (index, element) in elements.enumerated() {
        guard text.utf8.count <= limit else { return }
        if index > 0 { text += "," }
        element.appendCompact(to: &text, limit: limit)
      }
      text += "]"
    case .object:
      text += "{"
      for (index, member) in members.enumerated() {
        guard text.utf8.count <= limit else { return }
        if index > 0 { text += "," }
        Self.appendQuoted(member.name, to: &text, limit: limit)
        text += ":"
        member.value.appendCompact(to: &text, limit: limit)
      }
      text += "}"
    }
  }

  private static func appendQuoted(_ string: String, to text: inout String, limit: Int) {
    text += "\""
    for scalar in string.unicodeScalars {
      guard text.utf8.count <= limit else { return }
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
