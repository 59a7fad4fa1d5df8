import Core

/// What is typed at the agent's prompt for a file.
enum PathText {
  /// The path and a blank.
  static let usual = "{path} "

  /// Reads `--format`.
  ///
  /// - Throws: `UsageError` for a text without the path, and for control characters:
  ///   they would be keys.
  static func checked(_ item: ParsedOptions.Item) throws(UsageError) -> String {
    guard item.value.holds("{path}") else {
      throw UsageError("--format \(item.value): without {path} nobody finds the file")
    }
    guard item.value.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw UsageError("--format: control characters are keys") }
    return item.value
  }

  /// The text for a file.
  ///
  /// - Parameters:
  ///   - format: what `checked` took.
  ///   - path: an absolute path without control characters.
  static func text(_ format: String, path: String) -> String {
    format.exchanging(text: "{path}", for: word(path))
  }

  /// A path as one word for a shell and for an agent: what either would split or
  /// expand has a backslash, as terminals write a file that is dropped on them.
  static func word(_ path: String) -> String {
    var text = ""
    for scalar in path.unicodeScalars {
      if scalar.isASCII && !isPlain(UInt8(scalar.value)) { text += "\\" }
      text.unicodeScalars.append(scalar)
    }
    return text
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: Array("/._-+:,@%=".utf8).contains(byte)
    }
  }
}
