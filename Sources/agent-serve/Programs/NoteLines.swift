/// What a reply command writes on its descriptor 3, line by line. It is read to its end
/// whatever it is, so that the command never waits.
struct NoteLines {
  enum Line: Equatable, Sendable {
    /// Without the line feed.
    case text([UInt8])
    case tooLong
    /// It would be more than is taken of a reply; nothing follows.
    case tooMuch
  }

  /// The longest line, and the most of a reply, bytes.
  static let (longest, most) = (256 << 10, 4 << 20)

  private var rest: [UInt8] = []
  private var isTooLong = false
  private var count = 0

  mutating func add(_ bytes: [UInt8]) -> [Line] {
    if count > Self.most { return [] }
    count += bytes.count
    if count > Self.most {
      rest = []
      return [.tooMuch]
    }
    var lines: [Line] = []
    var pieces = bytes.split(separator: 10, omittingEmptySubsequences: false)
    let last = pieces.removeLast()
    for piece in pieces {
      keep(piece)
      lines.append(isTooLong ? .tooLong : .text(rest))
      (rest, isTooLong) = ([], false)
    }
    keep(last)
    return lines
  }

  mutating func finish() -> [Line] { rest.isEmpty && !isTooLong ? [] : add([10]) }

  private mutating func keep(_ piece: ArraySlice<UInt8>) {
    if rest.count + piece.count > Self.longest { (rest, isTooLong) = ([], true) }
    if !isTooLong { rest += piece }
  }
}
