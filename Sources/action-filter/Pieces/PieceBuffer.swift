import CLibc
import Core

/// The bytes of one piece, on a page boundary. It is used for one piece after the other and
/// keeps its memory, so that this stays in the cache.
final class PieceBuffer {
  private var pages: PageBuffer
  /// How many bytes were put in.
  var count = 0
  /// Where the lines of the piece stand in them: whole lines, the last one without its LF
  /// if it is the last of its file and has none.
  var lines: Range<Int> = 0..<0
  /// What a source wants to have at hand again when it fills this buffer the next time; it
  /// is used by one thread at a time.
  var tool: AnyObject?

  init(capacity: Int) { pages = PageBuffer(capacity: capacity) }

  /// Where the bytes begin; moves when there is made room.
  var base: UnsafeMutableRawPointer { pages.base }

  var capacity: Int { pages.capacity }

  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + lines.lowerBound, count: lines.count)
  }

  /// Makes room for so many bytes in all, and keeps those that were put in.
  func reserve(_ wanted: Int) {
    if wanted <= capacity { return }
    pages.grow(to: max(wanted, capacity * 2), keeping: 0, count: count)
  }

  /// Puts a LF behind the last line if it has none, so that all lines can be written as they
  /// stand there; it does not count as one of their bytes.
  func endLastLine() {
    if lines.isEmpty || bytes.last == 10 { return }
    reserve(lines.upperBound + 1)
    base.storeBytes(of: 10, toByteOffset: lines.upperBound, as: UInt8.self)
  }

  /// Forgets the bytes, and gives back the memory that a long line took.
  func clear(keeping usual: Int) {
    (count, lines) = (0, 0..<0)
    if capacity > 4 * usual { pages = PageBuffer(capacity: usual) }
  }
}
