import Core

/// What a rule looks for in a text. Upper and lower case are the same.
enum TextPattern {
  /// All of the text, with `*` for anything and `?` for one character.
  case glob(Glob)
  case regex(RegexSearch)

  init(_ text: String) throws(Failure) {
    if text.count > 2, text.hasPrefix("/"), text.hasSuffix("/") {
      self = .regex(try RegexSearch(String(text.dropFirst().dropLast()), ignoresCase: true))
    } else {
      self = .glob(Glob(text.lowercased().utf8, hasSets: false))
    }
  }

  /// Whether a text, which holds no NUL, is or has what is looked for.
  func matches(_ text: String) -> Bool {
    switch self {
    case .regex(let search):
      var text = text
      return text.withUTF8 { search.matches(UnsafeRawBufferPointer($0)) }
    case .glob(let glob): return glob.matches(text.lowercased())
    }
  }
}
