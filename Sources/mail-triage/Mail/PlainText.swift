enum PlainText {
  static func line(_ text: String) -> String {
    var out = ""
    var isGap = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        isGap = true
        continue
      }
      if isGap, !out.isEmpty { out.unicodeScalars.append(" ") }
      isGap = false
      out.unicodeScalars.append(scalar)
    }
    return out
  }

  /// The beginning, with a blank for each NUL, which would end it for others.
  static func kept(_ text: String, most: Int) -> String {
    var out = ""
    out.unicodeScalars.append(
      contentsOf: text.unicodeScalars.prefix(most).lazy.map { $0.value == 0 ? " " : $0 })
    return out
  }

  /// The beginning, with an ellipsis for what is left out.
  static func beginning(_ text: String, most: Int) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: most, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    return String(scalars.prefix(most - 1)) + "…"
  }
}
