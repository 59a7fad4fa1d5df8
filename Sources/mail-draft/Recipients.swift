/// The addresses of a field, without the names around them, that no name hides: what may be one
/// to whoever sends the mail is one here.
struct Recipients {
  private(set) var addresses: [[UInt8]] = []

  init(_ list: [UInt8]) {
    // A quote or a comment without an end is no such thing.
    for (quotes, comments) in [(true, true), (false, true), (true, false), (false, false)] {
      addresses = []
      if read(list, quotes, comments) { return }
    }
  }

  private mutating func add(_ address: [UInt8]) {
    let words = address.split(whereSeparator: isBlank)
    if !words.isEmpty { addresses.append(Array(words.joined(separator: [32]))) }
  }

  /// What is an address in a text: each word with an @, or else all of it, if it is to be one.
  private mutating func words(_ text: [UInt8], whole: Bool) {
    let words = text.split { isBlank($0) || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
      .filter { $0.contains(UInt8(ascii: "@")) }
    for word in words { add(Array(word)) }
    if whole, words.isEmpty { add(text) }
  }

  /// False for a quote or a comment without an end.
  private mutating func read(_ list: [UInt8], _ quotes: Bool, _ comments: Bool) -> Bool {
    var (text, raw, inner, word) = ([UInt8](), [UInt8](), [UInt8](), [UInt8]())
    var (isAngled, isInside, isQuoted, isLiteral) = (false, false, false, false)
    var depth = 0

    /// One of a list is over. Nobody but a name in quotes is one to whom it is sent, too.
    func put(isGroup: Bool) {
      if text.contains(where: { !isBlank($0) }) {
        words(text, whole: !isAngled && !isGroup)
      } else if !isAngled, !isGroup {
        add(raw)
      }
      (text, raw, isAngled) = ([], [], false)
    }

    var index = 0
    while index < list.count {
      let letter = UnicodeScalar(list[index])
      let next = index + 1 < list.count ? UnicodeScalar(list[index + 1]) : " "
      if letter == "\\", isQuoted || depth > 0 || isInside {
        let pair = list[index..<min(index + 2, list.count)]
        if isQuoted { word += pair } else if isInside { inner += pair }
        index += 2
        continue
      }
      index += 1
      let byte = list[index - 1]
      switch letter {
      case _ where isQuoted:
        word.append(byte)
        guard letter == "\"" else { continue }
        isQuoted = false
        raw += word
        // As a part of an address it is one word.
        let one = word.map { isBlank($0) || $0 == 0x2c || $0 == 0x3b ? UInt8(ascii: "?") : $0 }
        if isInside { inner += one } else { text += next == "@" || next == "." ? one : [32] }
      case _ where depth > 0: depth += letter == "(" ? 1 : letter == ")" ? -1 : 0
      case "\"" where quotes: (isQuoted, word) = (true, [byte])
      case "(" where comments:
        depth = 1
        text.append(32)
      case ">" where isInside:
        words(inner, whole: true)
        isInside = false
      case _ where isInside: inner.append(byte)
      case "<": (isInside, isAngled, inner) = (true, true, [])
      case ",", ";": put(isGroup: false)
      case ":" where !isLiteral: put(isGroup: true)
      default:
        if letter == "[" || letter == "]" { isLiteral = letter == "[" }
        text.append(byte)
        raw.append(byte)
      }
    }
    if isQuoted || depth > 0 { return false }
    if isInside { words(inner, whole: true) }
    put(isGroup: false)
    return true
  }
}
