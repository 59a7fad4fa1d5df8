import CLibc
import Core

/// Cuts the bytes of a file into lines, wherever the pieces that it is read in end. Each byte is
/// looked at once, and of a line that is too long none is kept.
struct LineCutter: ~Copyable {
  enum Line {
    /// The bytes without the LF.
    case whole(UnsafeRawBufferPointer)
    case tooLong
  }

  private enum Mode {
    case keeping
    /// Up to the next LF there is the rest of a line that began earlier.
    case passing
    case tooLong
  }

  private(set) var position: Int64
  /// Lines that end there or before are not wanted.
  private let floor: Int64
  private let limit: Int
  private var mode: Mode
  /// Where the line begins that `position` is in; unknown while passing.
  private var begin: Int64
  /// How far in front of the floor it is looked for the beginning of a line, bytes.
  private var back: Int64 = 1
  private var partial = ByteBuffer()

  /// From `offset` on, in a line or not: the bytes before it tell where that line begins.
  init(offset: Int64, limit: Int) {
    floor = offset
    self.limit = limit
    position = max(0, offset - 1)
    begin = position
    mode = offset > 0 ? .passing : .keeping
  }

  /// Where the first line begins that has not been handed out: a later run goes on there.
  var offset: Int64 { mode == .passing || position < floor ? floor : begin }

  /// How many bytes the file has at least.
  var reached: Int64 { max(position, floor) }

  func isBehind(_ size: Int64) -> Bool { size > reached }

  /// Takes the bytes at `position`, which may be an earlier place afterwards.
  mutating func append(
    _ bytes: UnsafeRawBufferPointer,
    line: (Line, _ begin: Int64, _ end: Int64) throws(WriteFailure) -> Void
  ) throws(WriteFailure) {
    var rest = bytes
    while let start = rest.baseAddress, let found = memchr(start, 10, rest.count) {
      let count = UnsafeRawPointer(found) - start
      let piece = UnsafeRawBufferPointer(rebasing: rest[..<count])
      position += Int64(count) + 1
      rest = UnsafeRawBufferPointer(rebasing: rest[(count + 1)...])
      if mode == .passing, position > floor { return stepBack() }
      try end(piece, line)
    }
    position += Int64(rest.count)
    if mode == .passing, position >= floor { return stepBack() }
    guard mode == .keeping else { return }
    if Self.isHole(rest) {
      // Of what a crash left, one byte tells that it is there.
      if let last = partial.bytes.last, last != 0 { partial.append(0) }
    } else if partial.count + rest.count > limit {
      mode = .tooLong
      partial.removeAll(keepingAtMost: 0)
    } else {
      partial.append(rest)
    }
  }

  /// Whether these are many NUL bytes and nothing else.
  private static func isHole(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 4096, let start = bytes.baseAddress, bytes[0] == 0 else { return false }
    return memcmp(start, start + 1, bytes.count - 1) == 0
  }

  private mutating func stepBack() {
    back = back == 1 ? 4096 : back * 16
    position = max(0, floor - back)
    begin = position
    mode = position > 0 ? .passing : .keeping
  }

  private mutating func end(
    _ piece: UnsafeRawBufferPointer,
    _ line: (Line, _ begin: Int64, _ end: Int64) throws(WriteFailure) -> Void
  ) throws(WriteFailure) {
    let start = begin
    let ended = mode
    mode = .keeping
    begin = position
    defer { partial.removeAll(keepingAtMost: 1 << 20) }
    if position <= floor { return }
    switch ended {
    case .passing: return
    case .tooLong: try line(.tooLong, start, position)
    case .keeping where partial.count + piece.count > limit: try line(.tooLong, start, position)
    case .keeping where partial.isEmpty: try line(.whole(piece), start, position)
    case .keeping:
      partial.append(piece)
      try line(.whole(partial.bytes), start, position)
    }
  }
}
