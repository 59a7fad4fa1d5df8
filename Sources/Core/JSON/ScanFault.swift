/// Why bytes are not the JSON they should be (RFC 8259).
public enum ScanFault: Error, Equatable, Sendable {
  /// Nothing but white space.
  case empty
  /// The first thing is no `{`.
  case notAnObject
  /// The first thing is no `[`.
  case notAnArray
  /// Something follows the value that is no white space.
  case textAfterValue
  /// A string without its closing quote.
  case unterminatedString
  /// A bracket that is never closed, or closed by the other kind.
  case unbalancedBrackets
  /// A member that does not begin with a string.
  case expectedKey
  /// A key without a colon behind it.
  case expectedColon
  /// Two values without a comma between them.
  case expectedComma
  /// A comma or a colon without a value behind it.
  case expectedValue
  /// A word that is none of true, false, null and a number.
  case badWord
  /// A number that the grammar does not know: `01`, `1.`, `+1`.
  case badNumber
  /// A backslash followed by something unknown.
  case badEscape
  /// A control character inside a string.
  case controlCharacter

  /// The fault in words, lower case: `unterminated string`.
  public var reason: String {
    switch self {
    case .empty: "no value"
    case .notAnObject: "not a JSON object"
    case .notAnArray: "not a JSON array"
    case .textAfterValue: "text after the value"
    case .unterminatedString: "unterminated string"
    case .unbalancedBrackets: "unbalanced brackets"
    case .expectedKey: "a key is missing"
    case .expectedColon: "a colon is missing"
    case .expectedComma: "a comma is missing"
    case .expectedValue: "a value is missing"
    case .badWord: "a bare word"
    case .badNumber: "not a number"
    case .badEscape: "unknown escape in a string"
    case .controlCharacter: "control character in a string"
    }
  }
}
