import CLibc
import Core

/// The spans of a plain file: each thread reads its own with pread(2).
///
/// A line belongs to the span that its LF before it is in, and is read to its end wherever
/// that is: every line is in one piece, and no span has to be read to know where the next
/// one begins.
final class FileSpans: PieceSource {
  private let file: Int32
  private let path: String
  private let range: Range<Int64>
  private let size: Int
  private var place: Int64

  init(of file: Int32, _ range: Range<Int64>, path: String, size: Int) {
    (self.file, self.range, self.path, self.size) = (file, range, path, max(size, 1))
    place = range.lowerBound
  }

  func next(_ buffer: PieceBuffer) throws(Failure) -> Piece? {
    if place >= range.upperBound { return nil }
    let span = place..<min(place + Int64(size), range.upperBound)
    place = span.upperBound
    let isFirst = span.lowerBound == range.lowerBound
    return Piece(path: path, firstLine: isFirst ? 1 : nil) {
      [file] (buffer) throws(Failure) in
      try Self.fill(buffer, from: file, span, isFirst: isFirst)
    }
  }

  /// Reads a span, and on to the end of its last line.
  private static func fill(
    _ buffer: PieceBuffer, from file: Int32, _ span: Range<Int64>, isFirst: Bool
  ) throws(Failure) {
    var wanted = span.count + min(span.count, PieceSize.slack)
    var scanned = span.count
    var start: Int? = isFirst ? 0 : nil
    while true {
      let failure = read(buffer, from: file, at: span.lowerBound, upTo: wanted)
      let isEnd = buffer.count < wanted
      if start == nil {
        let inSpan = min(span.count, buffer.count)
        start = newline(in: buffer, from: 0, to: inSpan).map { $0 + 1 }
        // The end, if it is within this span, is the last line's of another one.
        if start == nil, inSpan == span.count || failure == nil { return }
      }
      let rest = min(scanned, buffer.count)
      if let start, let end = newline(in: buffer, from: rest, to: buffer.count) {
        buffer.lines = start..<end + 1
        return
      }
      if let failure {
        // Half a line counts for nothing.
        if let start, let last = clibc_memrchr(buffer.base + start, 10, buffer.count - start) {
          buffer.lines = start..<last - UnsafeRawPointer(buffer.base) + 1
        }
        throw failure
      }
      if isEnd {
        buffer.lines = (start ?? 0)..<max(start ?? 0, buffer.count)
        return
      }
      scanned = buffer.count
      wanted = 2 * wanted
    }
  }

  private static func newline(in buffer: PieceBuffer, from start: Int, to end: Int) -> Int? {
    guard start < end else { return nil }
    return memchr(buffer.base + start, 10, end - start).map { $0 - buffer.base }
  }

  /// Reads until there are so many bytes, or the file ends.
  private static func read(
    _ buffer: PieceBuffer, from file: Int32, at place: Int64, upTo wanted: Int
  ) -> Failure? {
    buffer.reserve(wanted)
    while buffer.count < wanted {
      let count = pread(
        file, buffer.base + buffer.count, wanted - buffer.count,
        off_t(place) + off_t(buffer.count))
      if count == 0 { return nil }
      if count > 0 {
        buffer.count += count
      } else if systemError != EINTR {
        return Failure(code: systemError)
      }
    }
    return nil
  }
}
