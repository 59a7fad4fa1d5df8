import CLibc
import Core

/// The lines of standard input, of which none is held that is longer than the server takes.
///
/// It reads only when it is told to, so that whoever writes waits while nothing can be sent.
struct InputLines: ~Copyable {
  enum Found {
    /// A line without its line feed, valid until the next call.
    case line(UnsafeRawBufferPointer, number: Int)
    case tooLong(bytes: Int, number: Int)
    case nothing
  }

  private var buffer = ByteQueue(keeps: 512 << 10)
  private var skipped = 0
  private var number = 0
  /// How many bytes of the line at the front are known to hold no line feed.
  private var looked = 0
  private var given = 0
  private(set) var hasEnded = false

  private static let step = 256 << 10

  mutating func read() throws(Failure) {
    drop()
    let room = buffer.room(Self.step)
    let count = CLibc.read(0, room.baseAddress, room.count)
    if count < 0 {
      if systemError == EINTR || systemError == EAGAIN { return }
      throw Failure(code: systemError, place: "standard input")
    }
    if count == 0 { hasEnded = true }
    buffer.put(max(count, 0))
    if number == 0, skipped == 0, let reason = ForeignText.reason(of: buffer.bytes) {
      throw Failure(reason, place: "standard input")
    }
  }

  /// The next line of what was read; the last one needs no line feed.
  mutating func next(longest: Int) -> Found {
    drop()
    let bytes = buffer.bytes
    let rest = UnsafeRawBufferPointer(rebasing: bytes[looked...])
    guard let start = rest.baseAddress, let feed = memchr(start, 10, rest.count) else {
      looked = bytes.count
      return unfinished(longest: longest)
    }
    let length = UnsafeRawPointer(feed) - bytes.baseAddress!
    (given, looked) = (length + 1, 0)
    return finish(length, longest)
  }

  private mutating func unfinished(longest: Int) -> Found {
    let count = buffer.count
    if hasEnded {
      guard count > 0 || skipped > 0 else { return .nothing }
      (given, looked) = (count, 0)
      return finish(count, longest)
    }
    if count > longest || skipped > 0 {
      skipped += count
      buffer.drop(count)
      looked = 0
    }
    return .nothing
  }

  private mutating func finish(_ length: Int, _ longest: Int) -> Found {
    number += 1
    let total = skipped + length
    skipped = 0
    if total > longest { return .tooLong(bytes: total, number: number) }
    let line = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<length])
    let hasMark = number == 1 && line.starts(with: [0xef, 0xbb, 0xbf])
    return .line(hasMark ? UnsafeRawBufferPointer(rebasing: line[3...]) : line, number: number)
  }

  private mutating func drop() {
    buffer.drop(given)
    given = 0
  }

  var hasMore: Bool { buffer.count > max(given, looked) || hasEnded && buffer.count > given }
}
