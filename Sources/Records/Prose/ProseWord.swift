/// A word of prose, from one space or bracket to the next: what of it is not for the ear.
struct ProseWord {
  private let bytes: [UInt8]
  /// The word without the marks around it.
  private(set) var core: Range<Int>

  init(_ bytes: [UInt8], _ word: Range<Int>) {
    self.bytes = bytes
    core = word
    while let first = first, isOpener(first) { core = (core.lowerBound + 1)..<core.upperBound }
    trimEnd()
  }

  /// The part that is a URL, a reference or a path; nil when all of it can be said.
  var unsaid: Range<Int>? {
    guard !core.isEmpty else { return nil }
    if let url { return url }
    if let reference { return reference }
    return isPath ? core : nil
  }

  /// Whether it begins, or is, a reference.
  var isReference: Bool { url == nil && reference != nil }
  /// Whether it is a slash alone.
  var isSlash: Bool { core.count == 1 && first == UInt8(ascii: "/") }
  /// Whether it is the beginning of what in another script would be a path or a reference.
  var isSign: Bool {
    core.count == 1 && first.map { "/#@".utf8.contains($0) } == true
  }

  // MARK: - What stands around it

  private var first: UInt8? { core.isEmpty ? nil : bytes[core.lowerBound] }

  private func byte(_ offset: Int) -> UInt8? {
    let place = core.lowerBound + offset
    return place < core.upperBound ? bytes[place] : nil
  }

  private func isOpener(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "'"), UInt8(ascii: "*"),
      UInt8(ascii: "_"), UInt8(ascii: ","), UInt8(ascii: "="):
      true
    case UInt8(ascii: "~"): self.byte(1) == UInt8(ascii: "~")
    default: false
    }
  }

  private mutating func trimEnd() {
    var open = 0
    for byte in bytes[core] {
      if byte == UInt8(ascii: "(") { open += 1 } else if byte == UInt8(ascii: ")") { open -= 1 }
    }
    while let last = bytes[core].last {
      if last == UInt8(ascii: ")") {
        // One that was opened in the word belongs to it.
        guard open < 0 else { return }
        open += 1
      } else if !".,;:!?'*_~}".utf8.contains(last) {
        return
      }
      core = core.lowerBound..<(core.upperBound - 1)
    }
  }

  // MARK: - What it is

  private func starts(with word: String) -> Bool {
    bytes[core].prefix(word.utf8.count).elementsEqual(word.utf8) { $0 | 0x20 == $1 | 0x20 }
  }

  private var url: Range<Int>? {
    if ["www.", "mailto:", "data:", "file:"].contains(where: starts) { return core }
    var place = core.lowerBound
    while place + 2 < core.upperBound {
      if bytes[place] == 0x3a, bytes[place + 1] == 0x2f, bytes[place + 2] == 0x2f { break }
      place += 1
    }
    guard place + 2 < core.upperBound else { return hasHost ? core : nil }
    var scheme = place
    while scheme > core.lowerBound,
      Self.isWordByte(bytes[scheme - 1]) || "+-.".utf8.contains(bytes[scheme - 1])
    {
      scheme -= 1
    }
    return scheme < place ? scheme..<core.upperBound : nil
  }

  /// Whether it begins with the name of a host, and a slash or a port is behind it:
  /// `a.example/b`, `localhost:80`, but not `Node.js/x`.
  private var hasHost: Bool {
    let host = bytes[core].prefix { $0.isLetter || $0.isDigit || $0 == 45 || $0 == 46 }
    var rest = bytes[host.endIndex..<core.upperBound]
    if rest.first == UInt8(ascii: ":") {
      let port = rest.dropFirst().prefix { $0.isDigit }
      guard (1...5).contains(port.count) else { return false }
      rest = bytes[port.endIndex..<core.upperBound]
      guard rest.isEmpty || "/?#:".utf8.contains(rest[rest.startIndex]) else { return false }
    } else if rest.first != UInt8(ascii: "/") {
      return false
    }
    if host.elementsEqual("localhost".utf8) { return true }
    let labels = host.split(separator: 46, omittingEmptySubsequences: false)
    guard labels.count > 1, !labels.contains(where: \.isEmpty), let last = labels.last else {
      return false
    }
    if labels.count == 4, host.allSatisfy({ $0.isDigit || $0 == 46 }) { return true }
    return last.count > 1 && last.allSatisfy { $0.isLetter && $0 >= 97 }
      && !last.elementsEqual("js".utf8)
  }

  /// The number of something in a repository: `foo#12`, `ada/foo#12`, but not `C#12`.
  private var issue: Range<Int>? {
    let name = bytes[core].prefix { $0.isLetter || $0.isDigit || "_.-/".utf8.contains($0) }
    guard name.count > 1, name.endIndex < core.upperBound,
      bytes[name.endIndex] == UInt8(ascii: "#")
    else { return nil }
    let number = bytes[(name.endIndex + 1)..<core.upperBound].prefix { $0.isDigit }
    let isWhole =
      number.endIndex == core.upperBound || !Self.isWordByte(bytes[number.endIndex])
    return number.isEmpty || !isWhole ? nil : core
  }

  private var reference: Range<Int>? {
    if let issue { return issue }
    guard let first, first == UInt8(ascii: "#") || first == UInt8(ascii: "@") else { return nil }
    guard let second = byte(1), Self.isWordByte(second) || second == UInt8(ascii: "_") else {
      return nil
    }
    var end = core.lowerBound + 1
    while end < core.upperBound,
      Self.isWordByte(bytes[end]) || "_-./'".utf8.contains(bytes[end])
    {
      end += 1
    }
    while ".-/'".utf8.contains(bytes[end - 1]) { end -= 1 }
    return core.lowerBound..<end
  }

  private var isPath: Bool {
    let word = bytes[core]
    let slash = UInt8(ascii: "/")
    let backslash = UInt8(ascii: "\\")
    guard word.count > 1 else { return false }
    if word.contains(backslash) {
      let isDrive = byte(1) == UInt8(ascii: ":") && byte(2) == backslash
      return isDrive || byte(0) == backslash && byte(1) == backslash || hasFolder(backslash)
    }
    guard let place = word.firstIndex(of: slash) else { return false }
    switch word.first {
    case slash, UInt8(ascii: "~"), UInt8(ascii: "$"), UInt8(ascii: "."): return true
    default: break
    }
    if byte(1) == UInt8(ascii: ":"), byte(2) == slash || word.last == slash { return true }
    if word.allSatisfy({ $0 &- 48 < 10 || $0 == slash }) { return false }
    if word[(place + 1)...].contains(slash) || word.last == slash { return true }
    return hasExtension(word[(place + 1)...])
  }

  /// Whether letters stand on both sides of a separator.
  private func hasFolder(_ separator: UInt8) -> Bool {
    var last: UInt8 = 0
    var previous: UInt8 = 0
    for byte in bytes[core] {
      if previous == separator, Self.isWordByte(last), Self.isWordByte(byte) { return true }
      (last, previous) = (previous, byte)
    }
    return false
  }

  /// Whether a name ends as those of files do.
  private func hasExtension(_ name: ArraySlice<UInt8>) -> Bool {
    let name = name.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "#") }
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot + 1 < name.endIndex else {
      return false
    }
    let ending = name[(dot + 1)...]
    return ending.count <= 8 && ending[dot + 1] > 57 && ending.allSatisfy(Self.isWordByte)
  }

  /// A letter or digit; of other scripts than Latin any byte.
  static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, 0x80...: true
    default: false
    }
  }
}
