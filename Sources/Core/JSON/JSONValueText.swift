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
      case "\0"..<" ": text += "\\u" + scalar.value.digits(4, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

/// Numbers as JavaScript writes them (ECMA-262, Number::toString).
public enum NumberText {
  /// `1.5`, `1200000000000000000`, `4e-7`, `NaN`, `Infinity`.
  public static func of(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity" }
    if value == 0 { return "0" }
    let (digits, point) = shortest(value.magnitude)
    return (value < 0 ? "-" : "") + spelled(digits, point)
  }

  /// The fewest digits that mean this number, as Swift's own spelling has them
  /// too, and how many of them stand before the point.
  private static func shortest(_ value: Double) -> (digits: Substring, point: Int) {
    let parts = "\(value)".split(separator: "e")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let whole = parts[0].prefix { $0 != "." }
    var digits = (whole + parts[0].dropFirst(whole.utf8.count + 1))[...]
    var point = whole.utf8.count + exponent
    while digits.first == "0" {
      digits.removeFirst()
      point -= 1
    }
    while digits.last == "0" { digits.removeLast() }
    return (digits, point)
  }

  private static func spelled(_ digits: Substring, _ point: Int) -> String {
    let count = digits.utf8.count
    func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
    switch point {
    case count...21 where count <= 21: return digits + zeros(point - count)
    case 1...21: return digits.prefix(point) + "." + digits.dropFirst(point)
    case -5...0: return "0." + zeros(-point) + digits
    default:
      let rest = count > 1 ? "." + digits.dropFirst() : ""
      return digits.prefix(1) + rest + "e" + (point > 0 ? "+" : "") + "\(point - 1)"
    }
  }
}
