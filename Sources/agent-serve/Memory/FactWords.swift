import CLibc
import CUTF8Proc

/// The words of a text, as the index and queries see them.
///
/// FTS5's unicode61 makes one token of a whole sentence in a script that writes
/// no blanks between words. Such runs are cut into overlapping pairs of
/// characters, which finds any part of at least two characters, and into their
/// last character alone, which lets a search for one character (as a prefix)
/// find it anywhere.
enum FactWords {
  static func indexed(_ text: String) -> String {
    var words: [String] = []
    scan(text) {
      words.append($0)
    } pairs: { run in
      words += pairs(run)
      if let last = run.last { words.append(String(last)) }
    }
    return words.joined(separator: " ")
  }

  static func query(_ text: String, limit: Int = 24) -> [String] {
    var seen: Set<String> = []
    var words: [String] = []
    func add(_ word: String) {
      if words.count < limit, seen.insert(word).inserted { words.append(word) }
    }
    // A query may be as long as a request; nobody means so many words.
    scan(String(text.unicodeScalars.prefix(4000)), word: add) { run in
      if run.count == 1 { add(String(run[0])) } else { pairs(run).forEach(add) }
    }
    return words
  }

  /// Short words find no longer ones, but a single character of a script without blanks does.
  static func isPrefix(_ word: String) -> Bool {
    guard let first = word.unicodeScalars.first else { return false }
    return hasNoBlanks(first) ? word.count == 1 : word.count >= 3
  }

  private static func pairs(_ run: [Character]) -> [String] {
    zip(run, run.dropFirst()).map { "\($0)\($1)" }
  }

  private static func scan(
    _ text: String, word: (String) -> Void, pairs: ([Character]) -> Void
  ) {
    var letters = ""
    var run: [Character] = []
    func flush() {
      // Longer ones are not words, and nobody types them.
      if !letters.isEmpty { word(String(letters.prefix(64))) }
      if !run.isEmpty { pairs(run) }
      letters = ""
      run = []
    }
    for character in folded(text) {
      guard let first = character.unicodeScalars.first else { continue }
      if hasNoBlanks(first) {
        if !letters.isEmpty { flush() }
        run.append(character)
      } else if first.properties.isAlphabetic || first.properties.numericType != nil {
        if !run.isEmpty { flush() }
        letters.append(character)
      } else {
        flush()
        for scalar in character.unicodeScalars
        where scalar.properties.generalCategory == .otherSymbol { word(String(scalar)) }
      }
    }
    flush()
  }

  /// Lower case; without accents, vowel points and the differences of width and
  /// ligatures that Unicode calls compatible.
  private static func folded(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
    var out = String.UnicodeScalarView()
    for scalar in Compatibility.decomposed(text.lowercased()).unicodeScalars {
      switch scalar.value {
      // Accents of Latin, Greek and Cyrillic; points of Hebrew and Arabic, and
      // the stroke that stretches Arabic; joiners and selectors.
      case 0x0300...0x036f, 0x0591...0x05c7, 0x0610...0x061a, 0x0640, 0x064b...0x065f, 0x0670,
        0x200b...0x200d, 0xfe00...0xfe0f:
        continue
      case 0xdf: out += "ss".unicodeScalars
      case 0xe6: out += "ae".unicodeScalars
      case 0x153: out += "oe".unicodeScalars
      case 0xf8: out.append("o")
      case 0x142: out.append("l")
      case 0x111: out.append("d")
      case 0x131: out.append("i")
      default: out.append(scalar)
      }
    }
    return Compatibility.composed(String(out))
  }

  /// Such scripts, and Hangul, which joins particles to its words.
  private static func hasNoBlanks(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0e00...0x0eff, 0x1000...0x109f, 0x1100...0x11ff, 0x1780...0x17ff, 0x3005...0x3007,
      0x3040...0x30ff, 0x31f0...0x31ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xac00...0xd7af,
      0xf900...0xfaff, 0x20000...0x3ffff:
      true
    default: false
    }
  }
}

/// What Unicode calls compatible: the letters, digits and signs that are other ones in another
/// width, shape or place, and what those are (UAX #15).
enum Compatibility {
  static func decomposed(_ text: String) -> String {
    mapped(text, [UTF8PROC_DECOMPOSE, UTF8PROC_COMPAT])
  }

  /// The same text with every letter and its accents as one, where there is one (NFC).
  static func composed(_ text: String) -> String { mapped(text, [UTF8PROC_COMPOSE]) }

  private static func mapped(_ text: String, _ options: [utf8proc_option_t]) -> String {
    let options = utf8proc_option_t(
      rawValue: options.reduce(UTF8PROC_STABLE.rawValue) { $0 | $1.rawValue })
    var text = text
    let mapped = text.withUTF8 { bytes -> String? in
      var result: UnsafeMutablePointer<UInt8>?
      let count = utf8proc_map(bytes.baseAddress, bytes.count, &result, options)
      defer { free(result) }
      guard count > 0 else { return nil }
      return String(
        decoding: UnsafeBufferPointer(start: result, count: count), as: UTF8.self)
    }
    return mapped ?? text
  }
}
