/// `Number(text)` of JavaScript (ECMA-262, StringToNumber), which the dashboard
/// makes of every text that should be a number.
enum JavaScriptNumber {
  /// - Returns: nil for what is no number, and for what is not finite. A text of
  ///   blanks is 0.
  static func parse(_ text: String) -> Double? {
    let text = text.trimmingBlanks()
    if text.isEmpty { return 0 }
    let digits = text.utf8
    switch digits.prefix(2).map({ $0 | 0x20 }) {
    case Array("0x".utf8): return whole(digits.dropFirst(2), base: 16)
    case Array("0o".utf8): return whole(digits.dropFirst(2), base: 8)
    case Array("0b".utf8): return whole(digits.dropFirst(2), base: 2)
    default: break
    }
    // Double reads more than this, and writes "inf" for "Infinity".
    guard digits.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let value = Double(text),
      value.isFinite
    else { return nil }
    return value
  }

  private static func whole(_ digits: Substring.UTF8View, base: Double) -> Double? {
    var value = 0.0
    for digit in digits {
      guard let number = Character(Unicode.Scalar(digit)).hexDigitValue, Double(number) < base
      else {
        return nil
      }
      value = value * base + Double(number)
    }
    return digits.isEmpty || !value.isFinite ? nil : value
  }
}

extension StringProtocol {
  /// `text.trim()` of JavaScript.
  func trimmingBlanks() -> String {
    let scalars = unicodeScalars.drop(while: Self.isBlank)
    guard let last = scalars.lastIndex(where: { !Self.isBlank($0) }) else { return "" }
    return String(String.UnicodeScalarView(scalars[...last]))
  }

  /// The white space and the line ends of ECMA-262, section 12.
  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09...0x0d, 0x20, 0xa0, 0x2028, 0x2029, 0xfeff: true
    default: scalar.properties.generalCategory == .spaceSeparator
    }
  }
}
