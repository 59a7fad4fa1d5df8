public import Core

/// Text from outside, made fit for one line of a terminal.
public enum Plain {
  /// Stands for a line break inside the text.
  public static let lineBreak = "↵"

  /// One line: line breaks become ` ↵ `, tabs and runs of blanks one space, ends
  /// are trimmed, and all else that a person cannot be shown is escaped, see
  /// `Visible`.
  ///
  /// - Parameter limit: about how many scalars are of use; the rest of a very long text is not
  ///   looked at.
  public static func line(_ text: String, limit: Int = .max) -> String {
    if text.utf8.count <= limit, isTidy(text) { return text }
    var out = ""
    var pendingSpace = false
    var pendingBreak = false
    var count = 0
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      switch scalar {
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
        pendingBreak = true
        continue
      case " ", "\t":
        pendingSpace = true
        continue
      default: break
      }
      if !out.isEmpty && (pendingBreak || pendingSpace) {
        out += pendingBreak ? " \(lineBreak) " : " "
      }
      pendingBreak = false
      pendingSpace = false
      if isShown { out.unicodeScalars.append(scalar) } else { out += Visible.escape(scalar) }
      count += 1
      if count >= limit { break }
    }
    return out
  }

  /// ASCII without controls, and no blanks but single ones between others.
  private static func isTidy(_ text: String) -> Bool {
    var last: UInt8 = 0x20
    for byte in text.utf8 {
      if byte &- 0x20 >= 0x5f || byte == 0x20 && last == 0x20 { return false }
      last = byte
    }
    return last != 0x20 || text.isEmpty
  }

  /// The lines of a text, each escaped as `Visible` does; tabs become two
  /// spaces, other blanks stay. CR LF, LF, CR and U+2028 end a line, and line
  /// ends after the last text are dropped.
  public static func lines(_ text: String) -> [String] {
    if CellWidth.isASCII(text[...].utf8) { return [text] }
    var lines: [String] = []
    var line = ""
    var wasReturn = false
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      let follows = wasReturn && scalar == "\n"
      wasReturn = scalar == "\r"
      switch scalar {
      case "\n" where follows: continue
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
        lines.append(line)
        line = ""
      case "\t": line += "  "
      default:
        if isShown { line.unicodeScalars.append(scalar) } else { line += Visible.escape(scalar) }
      }
    }
    lines.append(line)
    while lines.count > 1, lines.last?.allSatisfy({ $0 == " " }) == true { lines.removeLast() }
    return lines
  }
}

/// JSON as a person reads it in passing: names without quotes, nulls left out.
public enum Brief {
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
