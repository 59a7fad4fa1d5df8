import Core

/// The texts of facts, as the dashboard folds and cuts them (Agent/Clanky/CONTRACT.md 5.2).
enum KeptText {
  /// White space runs become one blank, none is left at the ends, and what is
  /// over the limit is cut off.
  ///
  /// - Parameters:
  ///   - text: any text.
  ///   - limit: UTF-16 units. Where that cuts a character in two, its first
  ///     half becomes U+FFFD.
  static func folded(_ text: String, limit: Int) -> String {
    var out = String.UnicodeScalarView()
    var units = 0
    var isBlankDue = false
    for scalar in text.unicodeScalars {
      if isBlank(scalar) {
        isBlankDue = units > 0
        continue
      }
      if isBlankDue {
        if units == limit { break }
        out.append(" ")
        units += 1
        isBlankDue = false
      }
      if units == limit { break }
      let width = scalar.value > 0xffff ? 2 : 1
      if units + width > limit {
        out.append("\u{fffd}")
        break
      }
      // SQLite ends a text at a NUL.
      out.append(scalar.value == 0 ? "\u{fffd}" : scalar)
      units += width
    }
    return String(out)
  }

  /// JavaScript's `\s` (ECMA-262, WhiteSpace and LineTerminator).
  static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9...13, 0x20, 0xa0, 0x1680, 0x2000...0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
      0xfeff:
      true
    default: false
    }
  }

  /// The longest subject, UTF-16 units; the same for the others.
  static let subjectLimit = 120
  /// The longest fact.
  static let factLimit = 400
  /// The longest type.
  static let typeLimit = 40
  /// The longest evidence.
  static let evidenceLimit = 240

  /// A type: `other` when there is none.
  static func type(_ text: String?) -> String {
    let type = folded(text ?? "", limit: typeLimit).lowercased()
    return type.isEmpty ? "other" : type
  }

  /// Evidence: nil when there is none.
  static func evidence(_ text: String?) -> String? {
    let evidence = folded(text ?? "", limit: evidenceLimit)
    return evidence.isEmpty ? nil : evidence
  }
}
