import NIOCore

/// What one subscriber has not yet taken, and how much of it is too much.
struct Backlog: Sendable {
  private var blocks: [ByteBuffer] = []
  private var next = 0
  /// The bytes that wait.
  private(set) var count = 0
  /// The bytes beyond which nothing more is taken.
  let limit: Int

  /// - Parameter limit: bytes.
  init(limit: Int) { self.limit = limit }

  /// Whether nothing waits.
  var isEmpty: Bool { count == 0 }

  /// Adds a block; the bytes are shared, not copied.
  ///
  /// - Returns: false when the backlog would pass its limit. A block that finds
  ///   nothing before it is always taken, however large: who keeps up is never
  ///   cut off for an event's size.
  mutating func add(_ block: ByteBuffer) -> Bool {
    guard count == 0 || count + block.readableBytes <= limit else { return false }
    blocks.append(block)
    count += block.readableBytes
    return true
  }

  /// Takes blocks from the front: one, or several that are small together.
  mutating func take(atMost size: Int) -> ByteBuffer? {
    guard next < blocks.count else { return nil }
    var taken = blocks[next]
    next += 1
    while next < blocks.count, taken.readableBytes + blocks[next].readableBytes <= size {
      taken.writeImmutableBuffer(blocks[next])
      next += 1
    }
    count -= taken.readableBytes
    if next == blocks.count {
      blocks.removeAll(keepingCapacity: true)
      next = 0
    } else if next >= 64 {
      blocks.removeFirst(next)
      next = 0
    }
    return taken
  }

  /// Drops everything.
  mutating func clear() {
    blocks = []
    next = 0
    count = 0
  }
}
