@Poller
protocol BlockTaker: AnyObject {
  /// Sends what the client takes of a block now. Called when all before it has left. Returns
  /// whether that is all of it; else the taker is behind until it has sent the rest.
  func receive(_ block: Block) -> Bool

  var isBehind: Bool { get }

  func abort(_ reason: String)
}

/// One client of a stream and what it has not yet taken.
///
/// The hub offers blocks; the client's connection takes them at once where it can, and those
/// that wait whenever those before have left: nobody waits for anybody. Whoever reads too slowly
/// fills its backlog and is cut off.
@Poller
final class Subscriber {
  enum Ending {
    /// The server stops: what waits is still delivered.
    case finished
    /// The client is gone, or too slow: the connection is broken off.
    case cut
  }

  // Of the hub: where it is there, and what it gets.
  var place: Int?
  var isLive = false
  var cursor: Int64 = 0
  var (heartbeatDue, updateDue) = (ContinuousClock.now, ContinuousClock.now)
  private(set) var ending: Ending?
  private var backlog: Backlog
  private var waiter: UnsafeContinuation<Void, Never>?
  private let taker: any BlockTaker
  private var isCatchingUp = false
  private var failure: (any Error)?

  init(_ taker: any BlockTaker, limit: Int) {
    backlog = Backlog(limit: limit)
    self.taker = taker
  }

  /// Brings the client up to date first, by a task of its own: what that needs of memory goes
  /// with it. `next` waits for that.
  func catchUp(_ body: @escaping @Poller @Sendable () async throws -> Void) {
    isCatchingUp = true
    Poller.start { [self] in
      do { try await body() } catch { failure = error }
      isCatchingUp = false
      wake()
    }
  }

  /// Never waits; what comes after the end takes nothing away of what waited before it.
  func offer(_ blocks: [Block]) {
    if ending != nil { return }
    for block in blocks {
      if waiter != nil && !isCatchingUp {
        // Its task waits: nothing is before this one.
        if !taker.receive(block) { wake() }
      } else if !backlog.add(block) {
        return end(.cut)
      }
    }
  }

  /// Ends the stream; the first ending counts, but a cut is always possible.
  func end(_ ending: Ending) {
    if self.ending == .cut { return }
    if self.ending == nil || ending == .cut { self.ending = ending }
    if ending == .cut {
      backlog.clear()
      taker.abort("it reads too slowly")
    }
    wake()
  }

  /// What is to be sent next, asked for when all before it has left: behind what the taker has
  /// yet to send of a block, if it is behind. Returns blocks that are small together, or one; nil
  /// at the end.
  func next() async throws -> [Block]? {
    // Who is woken while it catches up waits on.
    while isIdle {
      await withUnsafeContinuation { waiter in
        // Others may have had their turn.
        if isIdle { self.waiter = waiter } else { waiter.resume() }
      }
    }
    if let failure { throw failure }
    if ending == .cut || (backlog.isEmpty && !taker.isBehind) { return nil }
    return backlog.take(atMost: 256 * 1024)
  }

  private var isIdle: Bool {
    isCatchingUp || (backlog.isEmpty && !taker.isBehind && ending == nil)
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}

struct Block: Equatable, Sendable {
  /// As a chunk (RFC 9112, section 7.1).
  let chunk: [UInt8]
  let content: Range<Int>

  /// How long the events are, bytes.
  var count: Int { content.count }

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

struct Backlog {
  private var blocks: [Block] = []
  private var next = 0
  private(set) var count = 0
  /// The bytes beyond which nothing more is taken.
  let limit: Int

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { next == blocks.count }

  /// Adds a block; the bytes are shared, not copied. Returns false when the backlog would pass its
  /// limit. A block that finds nothing before it is always taken, however large: who keeps up is
  /// never cut off for an event's size.
  mutating func add(_ block: Block) -> Bool {
    guard isEmpty || count + block.count <= limit else { return false }
    blocks.append(block)
    count += block.count
    return true
  }

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

  mutating func clear() { self = Backlog(limit: limit) }
}
