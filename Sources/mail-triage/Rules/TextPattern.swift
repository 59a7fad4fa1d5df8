import Core

/// What a rule looks for in a text. Upper and lower case are the same.
enum TextPattern {
  /// All of the text, with `*` for anything and `?` for one character.
  case glob([Unicode.Scalar])
  /// Some of the text: an extended regular expression of POSIX.
  case regex(RegexSearch)

  init(_ text: String) throws(Failure) {
    if text.count > 2, text.hasPrefix("/"), text.hasSuffix("/") {
      self = .regex(try RegexSearch(String(text.dropFirst().dropLast()), ignoresCase: true))
    } else {
      self = .glob(Array(text.lowercased().unicodeScalars))
    }
  }

  /// Whether a text, which holds no NUL, is or has what is looked for.
  func matches(_ text: String) -> Bool {
    switch self {
    case .regex(let search):
      var text = text
      return text.withUTF8 { search.matches(UnsafeRawBufferPointer($0)) }
    case .glob(let glob): return Self.matches(Array(text.lowercased().unicodeScalars), glob)
    }
  }

  /// A `*` that took too little takes one more; only the last one needs to be tried again.
  private static func matches(_ text: [Unicode.Scalar], _ glob: [Unicode.Scalar]) -> Bool {
    var place = 0
    var at = 0
    var star: (at: Int, place: Int)?
    while place < text.count {
      if at < glob.count, glob[at] == "*" {
        star = (at, place)
        at += 1
      } else if at < glob.count, glob[at] == "?" || glob[at] == text[place] {
        at += 1
        place += 1
      } else if let last = star {
        star = (last.at, last.place + 1)
        at = last.at + 1
        place = last.place + 1
      } else {
        return false
      }
    }
    return glob[at...].allSatisfy { $0 == "*" }
  }
}
