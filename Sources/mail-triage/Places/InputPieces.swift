import CLibc
import Core

/// A file in pieces of lines, of which it never holds more than one buffer.
final class InputPieces {
  /// One piece, valid until the next is read.
  struct Piece {
    /// With the LF, if it ends the line.
    let bytes: UnsafeRawBufferPointer
    let isStart: Bool
    /// Whether the line ends with it: by a LF, or the end of the file.
    let isEnd: Bool
  }

  private let descriptor: Int32
  private let beforeReading: () throws -> Void
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)
  private var start = 0
  private var end = 0
  private var isAtEnd = false
  private var isLineStart = true

  init(_ descriptor: Int32, beforeReading: @escaping () throws -> Void) {
    (self.descriptor, self.beforeReading) = (descriptor, beforeReading)
  }

  /// Up to the end of its first line or a buffer of it; `next` reads it once more.
  func first<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws -> Result {
    while buffer[start..<end].withUnsafeBytes({ $0.placeOfLineFeed }) == nil, !isAtEnd,
      end < buffer.count
    { try fill() }
    return buffer[start..<end].withUnsafeBytes(body)
  }

  /// The next piece. Returns false at the end.
  func next(_ body: (Piece) throws -> Void) throws -> Bool {
    while true {
      let held = end - start
      let newline = buffer[start..<end].withUnsafeBytes { $0.placeOfLineFeed }
      if newline == nil, !isAtEnd, held < buffer.count {
        try fill()
        continue
      }
      if held == 0 { return false }
      let count = newline.map { $0 + 1 } ?? held
      let isEnd = newline != nil || isAtEnd
      defer {
        start += count
        isLineStart = isEnd
      }
      try buffer[start..<start + count].withUnsafeBytes { bytes in
        try body(Piece(bytes: bytes, isStart: isLineStart, isEnd: isEnd))
      }
      return true
    }
  }

  private func fill() throws {
    if start > 0 {
      let count = end - start
      buffer.withUnsafeMutableBytes { bytes in
        if let base = bytes.baseAddress { memmove(base, base + start, count) }
      }
      (start, end) = (0, count)
    }
    while true {
      try beforeReading()
      let count = buffer.withUnsafeMutableBytes { bytes in
        CLibc.read(descriptor, bytes.baseAddress.map { $0 + end }, bytes.count - end)
      }
      if count < 0 {
        if systemError == EINTR || systemError == EAGAIN { continue }
        throw Failure(code: systemError)
      }
      isAtEnd = count == 0
      end += count
      return
    }
  }
}
