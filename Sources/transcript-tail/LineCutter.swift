import CLibc
import Core

/// Cuts the bytes of a file into lines, wherever the pieces that it is read in end. Each byte is
/// looked at once, and of a line that is too long none is kept.
struct LineCutter: ~Copyable {
  /// A line that has ended.
  enum Line {
    /// The bytes without the LF.
    case whole(UnsafeRawBufferPointer)
    /// It is longer than allowed.
    case tooLong
  }

  private enum Mode {
    case keeping
    /// Up to the next LF there is the rest of a line that began earlier.
    case passing
    case tooLong
  }

  /// Where the first line begins that has not been handed out: a later run goes on there.
  private(set) var offset: Int64
  /// The next byte that is wanted.
  private(set) var position: Int64
  private let limit: Int
  private var mode: Mode
  private var partial = ByteBuffer()

  /// - Parameters:
  ///   - offset: lines that begin there or later are wanted. It need not be the beginning of
  ///     one: the byte before it is read, too, and tells.
  ///   - limit: of a line, bytes.
  init(offset: Int64, limit: Int) {
    self.offset = offset
    self.limit = limit
    position = max(0, offset - 1)
    mode = offset > 0 ? .passing : .keeping
  }

  /// Whether a file of this size has something that was not read.
  func isBehind(_ size: Int64) -> Bool { size > max(position, offset) }

  /// Takes the bytes at `position`.
  ///
  /// - Parameter line: told each line that ends in them, and where it began and ended, the LF
  ///   included.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer,
    line: (Line, _ begin: Int64, _ end: Int64) throws(WriteFailure) -> Void
  ) throws(WriteFailure) {
    var rest = bytes
    while let start = rest.baseAddress, let found = memchr(start, 10, rest.count) {
      let count = UnsafeRawPointer(found) - start
      let piece = UnsafeRawBufferPointer(rebasing: rest[..<count])
      position += Int64(count) + 1
      rest = UnsafeRawBufferPointer(rebasing: rest[(count + 1)...])
      try end(piece, line)
    }
    position += Int64(rest.count)
    guard mode == .keeping else { return }
    if partial.count + rest.count > limit {
      mode = .tooLong
      partial.removeAll(keepingAtMost: 0)
    } else {
      partial.append(rest)
    }
  }

  private mutating func end(
    _ piece: UnsafeRawBufferPointer,
    _ line: (Line, _ begin: Int64, _ end: Int64) throws(WriteFailure) -> Void
  ) throws(WriteFailure) {
    let begin = offset
    let ended = mode
    mode = .keeping
    // One that began before the offset may end before it.
    offset = max(offset, position)
    switch ended {
    case .passing: return
    case .tooLong: try line(.tooLong, begin, position)
    case .keeping where partial.count + piece.count > limit: try line(.tooLong, begin, position)
    case .keeping where partial.isEmpty: try line(.whole(piece), begin, position)
    case .keeping:
      partial.append(piece)
      try line(.whole(partial.bytes), begin, position)
    }
    partial.removeAll(keepingAtMost: 1 << 20)
  }
}
