/// One client of a stream and what it has not yet taken.
///
/// The hub offers blocks, the client's connection takes them whenever those before have
/// left: nobody waits for anybody. Whoever reads too slowly fills its backlog and is cut off.
@Poller
final class Subscriber {
  /// How a stream ends.
  enum Ending {
    /// The server stops: what waits is still delivered.
    case finished
    /// The client is gone, or too slow: the connection is broken off.
    case cut
  }

  private(set) var ending: Ending?
  private var backlog: Backlog
  private var waiter: UnsafeContinuation<Void, Never>?
  private let whenCut: @Poller () -> Void

  /// - Parameters:
  ///   - limit: the backlog beyond which the client is cut off, bytes.
  ///   - whenCut: breaks the connection off.
  init(limit: Int, whenCut: @escaping @Poller () -> Void) {
    backlog = Backlog(limit: limit)
    self.whenCut = whenCut
  }

  /// Adds blocks to the backlog; never waits. What comes after the end takes nothing away of
  /// what waited before it.
  func offer(_ blocks: [Block]) {
    if ending != nil { return }
    for block in blocks where !backlog.add(block) { return end(.cut) }
    wake()
  }

  /// Ends the stream; the first ending counts, but a cut is always possible.
  func end(_ ending: Ending) {
    if self.ending == .cut { return }
    if self.ending == nil || ending == .cut { self.ending = ending }
    if ending == .cut {
      backlog.clear()
      whenCut()
    }
    wake()
  }

  /// What is to be sent next, asked for when all before it has left.
  ///
  /// - Returns: blocks that are small together, or one; none at the end.
  func next() async -> [Block] {
    while backlog.isEmpty && ending == nil {
      await withUnsafeContinuation { waiter in
        // Others may have had their turn.
        if backlog.isEmpty && ending == nil { self.waiter = waiter } else { waiter.resume() }
      }
    }
    return backlog.take(atMost: 256 * 1024)
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}

/// Some events, made once and sent to all clients.
struct Block: Equatable, Sendable {
  /// As a chunk (RFC 9112, section 7.1).
  let chunk: [UInt8]
  /// Where the events stand in it.
  let content: Range<Int>

  /// How long the events are, bytes.
  var count: Int { content.count }

  /// - Parameter pieces: one or more, never empty together.
  init(_ pieces: some Collection<[UInt8]>) {
    let count = pieces.reduce(0) { $0 + $1.count }
    let size = String(count, radix: 16)
    var chunk: [UInt8] = []
    chunk.reserveCapacity(count + size.utf8.count + 4)
    chunk += size.utf8
    chunk += [13, 10]
    let start = chunk.count
    for piece in pieces { chunk += piece }
    chunk += [13, 10]
    self.chunk = chunk
    content = start..<start + count
  }

  init(_ bytes: [UInt8]) { self.init(CollectionOfOne(bytes)) }
}

/// What one subscriber has not yet taken, and how much of it is too much.
struct Backlog {
  private var blocks: [Block] = []
  private var next = 0
  /// The bytes that wait.
  private(set) var count = 0
  /// The bytes beyond which nothing more is taken.
  let limit: Int

  /// - Parameter limit: bytes.
  init(limit: Int) { self.limit = limit }

  /// Whether nothing waits.
  var isEmpty: Bool { next == blocks.count }

  /// Adds a block; the bytes are shared, not copied.
  ///
  /// - Returns: false when the backlog would pass its limit. A block that finds
  ///   nothing before it is always taken, however large: who keeps up is never
  ///   cut off for an event's size.
  mutating func add(_ block: Block) -> Bool {
    guard isEmpty || count + block.count <= limit else { return false }
    blocks.append(block)
    count += block.count
    return true
  }

  /// Takes blocks from the front: one, or several that are small together.
  mutating func take(atMost size: Int) -> [Block] {
    let start = next
    var taken = 0
    while next < blocks.count, next == start || taken + blocks[next].count <= size {
      taken += blocks[next].count
      next += 1
    }
    defer {
      if next == blocks.count {
        blocks.removeAll(keepingCapacity: true)
        next = 0
      } else if next >= 64 {
        blocks.removeFirst(next)
        next = 0
      }
    }
    count -= taken
    return Array(blocks[start..<next])
  }

  /// Drops everything.
  mutating func clear() { self = Backlog(limit: limit) }
}
