/// The text of a reply as it comes out of a command, piece by piece.
///
/// Line ends are held back until something follows them: the one that ends a command's
/// output is not part of the reply. A form feed begins the reply anew.
struct ReplyText: Sendable {
  /// The text so far, valid UTF-8.
  private(set) var bytes: [UInt8] = []
  private(set) var isReplaced = false
  private var taken = 0
  /// The beginning of a character whose rest has not come.
  private var unfinished: [UInt8] = []
  private var lineEnds: [UInt8] = []

  var text: String { String(decoding: bytes, as: UTF8.self) }

  var takenText: String { String(decoding: bytes.prefix(taken), as: UTF8.self) }

  var hasNews: Bool { isReplaced || taken < bytes.count }

  mutating func add(_ output: [UInt8]) {
    var input = unfinished + output
    let cut = Self.unfinishedTail(input)
    unfinished = Array(input.suffix(cut))
    input.removeLast(cut)
    append(Array(String(decoding: input, as: UTF8.self).utf8))
  }

  mutating func finish() {
    append(Array(String(decoding: unfinished, as: UTF8.self).utf8))
    unfinished = []
  }

  mutating func take() -> (text: String, replaces: Bool) {
    defer { (taken, isReplaced) = (bytes.count, false) }
    return isReplaced
      ? (text, true) : (String(decoding: bytes.dropFirst(taken), as: UTF8.self), false)
  }

  private mutating func append(_ valid: [UInt8]) {
    var valid = valid[...]
    if let feed = valid.lastIndex(of: 0x0c) {
      valid = valid[(feed + 1)...]
      isReplaced = isReplaced || !bytes.isEmpty
      (bytes, lineEnds, taken) = ([], [], 0)
    }
    let end = valid.lastIndex { $0 != 0x0a && $0 != 0x0d }.map { $0 + 1 } ?? valid.startIndex
    if end > valid.startIndex {
      bytes += lineEnds
      bytes += valid[..<end]
      lineEnds = []
    }
    lineEnds += valid[end...]
  }

  private static func unfinishedTail(_ bytes: [UInt8]) -> Int {
    for back in 1...3 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      if byte & 0xc0 == 0x80 { continue }
      let length =
        switch byte {
        case 0xc2...0xdf: 2
        case 0xe0...0xef: 3
        case 0xf0...0xf4: 4
        default: 1
        }
      return length > back ? back : 0
    }
    return 0
  }
}
