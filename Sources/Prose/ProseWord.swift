/// A word of prose, from one space or bracket to the next: what of it is not for the ear.
///
/// - A path is a word that begins with `/`, `~/`, `./`, `../`, `C:\`, or `$` and has a slash, has
///   two slashes or more, ends in one, or whose last part has an extension: not `and/or`,
///   `HTTP/1.1`, 24/7.
/// - A URL needs no scheme where a slash or a port stands behind the name of a host.
struct ProseWord {
  typealias Scalars = ArraySlice<Unicode.Scalar>

  let core: Scalars

  init(_ word: Scalars) {
    var core = word.drop { $0.isOne(of: "({'*_,=") }
    // A bracket that was opened in the word belongs to it.
    var open = core.reduce(0) { $0 + ($1 == "(" ? 1 : $1 == ")" ? -1 : 0) }
    while let last = core.last, last == ")" ? open < 0 : last.isOne(of: ".,;:!?'*_~}") {
      if last == ")" { open += 1 }
      core.removeLast()
    }
    self.core = core
  }

  /// The part that is a URL, a reference or a path; nil when all of it can be said.
  var unsaid: Scalars? { url ?? reference ?? (isPath ? core : nil) }

  var isReference: Bool { url == nil && reference != nil }
  /// Whether it is the beginning of what in another script would be a path or a reference.
  var isSign: Bool { core.count == 1 && core.allSatisfy { $0.isOne(of: "/#@") } }

  private var url: Scalars? {
    let start = String(String.UnicodeScalarView(core.prefix(7))).lowercased()
    if ["www.", "mailto:", "data:", "file:"].contains(where: start.hasPrefix) { return core }
    guard let colon = core.indices.first(where: { core[$0...].starts(with: "://".unicodeScalars) })
    else { return hasHost ? core : nil }
    let scheme = core[..<colon].reversed().prefix { $0.isWord || $0.isOne(of: "+-.") }
    return scheme.isEmpty ? nil : core[(colon - scheme.count)...]
  }

  /// Whether it begins with the name of a host, and a slash or a port is behind it:
  /// `a.example/b`, `localhost:80`, but not `Node.js/x`.
  private var hasHost: Bool {
    let host = core.prefix { $0.isLetter || $0.isDigit || $0.isOne(of: "-.") }
    var rest = core[host.endIndex...]
    if rest.first == ":" {
      let port = rest.dropFirst().prefix(while: \.isDigit)
      rest = core[port.endIndex...]
      guard 1...5 ~= port.count, rest.first?.isOne(of: "/?#:") ?? true else { return false }
    } else if rest.first != "/" {
      return false
    }
    if host.elementsEqual("localhost".unicodeScalars) { return true }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count > 1, !labels.contains(where: \.isEmpty), let last = labels.last else {
      return false
    }
    if labels.count == 4, host.allSatisfy({ $0.isDigit || $0 == "." }) { return true }
    return last.count > 1 && last.allSatisfy { $0.isLetter && $0 >= "a" }
      && !last.elementsEqual("js".unicodeScalars)
  }

  /// Somebody's or something's name, or a number in a repository: `@ada`, `#12`, `foo#12`,
  /// `ada/foo#12`, but not `C#12`.
  private var reference: Scalars? {
    let name = core.prefix { $0.isLetter || $0.isDigit || $0.isOne(of: "_.-/") }
    if name.count > 1, core[name.endIndex...].first == "#" {
      let number = core[(name.endIndex + 1)...].prefix(while: \.isDigit)
      let isWhole = core[number.endIndex...].first?.isWord != true
      if !number.isEmpty, isWhole { return core }
    }
    guard let first = core.first, first.isOne(of: "#@"),
      let second = core.dropFirst().first, second.isWord || second == "_"
    else { return nil }
    var found = core.dropFirst().prefix { $0.isWord || $0.isOne(of: "_-./'") }
    while found.last?.isOne(of: ".-/'") == true { found.removeLast() }
    return core[..<found.endIndex]
  }

  private var isPath: Bool {
    guard core.count > 1, let first = core.first else { return false }
    let isDrive = core.dropFirst().first == ":"
    let third = core.dropFirst(2).first
    if core.contains("\\") {
      let isFolder = core.indices.dropFirst().dropLast().contains {
        core[$0] == "\\" && core[$0 - 1].isWord && core[$0 + 1].isWord
      }
      return isFolder || isDrive && third == "\\" || core.starts(with: #"\\"#.unicodeScalars)
    }
    guard let slash = core.firstIndex(of: "/") else { return false }
    if first.isOne(of: "/~$.") || isDrive && (third == "/" || core.last == "/") { return true }
    if core.allSatisfy({ $0.isDigit || $0 == "/" }) { return false }
    let rest = core[(slash + 1)...]
    return rest.contains("/") || rest.isEmpty || Self.hasExtension(rest)
  }

  private static func hasExtension(_ name: Scalars) -> Bool {
    let name = name.prefix { !$0.isOne(of: ":#") }
    guard let dot = name.lastIndex(of: "."), let first = name[(dot + 1)...].first else {
      return false
    }
    let ending = name[(dot + 1)...]
    return ending.count <= 8 && first > "9" && ending.allSatisfy(\.isWord)
  }
}

extension Unicode.Scalar {
  var isDigit: Bool { "0"..."9" ~= self }
  var isLetter: Bool { "a"..."z" ~= self || "A"..."Z" ~= self }
  /// A letter or digit; of other scripts than Latin anything.
  var isWord: Bool { isDigit || isLetter || value >= 0x80 }

  func isOne(of marks: String) -> Bool { marks.unicodeScalars.contains(self) }

  /// What no URL and no path has. From U+2000 on there are dashes and quotes, then scripts
  /// without spaces between words.
  var isDelimiter: Bool { value <= 32 || value >= 0x2000 || isOne(of: "[]<>|\"`\u{a0}«»") }

  var isWideLetter: Bool {
    guard value >= 0x2000 else { return false }
    if properties.isAlphabetic || properties.numericType != nil { return true }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }
}
