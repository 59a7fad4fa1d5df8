/// Text as the backend keeps it (Agent/Clanky/CONTRACT.md 5.2).
enum FactText {
  /// The most UTF-16 units that the backend keeps of a member; it cuts the rest
  /// without a word.
  static let limits = ["subject": 120, "type": 40, "fact": 400, "evidence": 240]

  /// White space at the ends dropped, every run of it inside one blank.
  static func folded(_ text: String) -> String {
    var out = ""
    var isPending = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace || scalar == "\u{feff}" {
        isPending = !out.isEmpty
        continue
      }
      if isPending { out += " " }
      isPending = false
      out.unicodeScalars.append(scalar)
    }
    return out
  }

  /// Why a text is too long for a member, nil when it is not.
  static func excess(_ name: String, _ text: String) -> String? {
    let count = text.utf16.count
    guard let limit = limits[name], count > limit else { return nil }
    return "\(name): \(count) characters, \(limit) at most"
  }
}
