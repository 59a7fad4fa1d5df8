import Core

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

  private var isIdle: Bool { isCatchingUp || (backlog.isEmpty && !taker.isBehind && ending == nil) }

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

protocol EventSource: Sendable { @Poller func send(to client: EventSink) async throws }

@Poller
final class EventSink: BlockTaker {
  /// Where the backlog of a client ends, bytes.
  let backlogLimit: Int
  let lastEventID: String?
  let lastEventTime: String?
  private let socket: Socket
  private let connections: Connections
  /// A client of HTTP/1.0 knows no chunks: the end of the connection ends the stream.
  private let isChunked: Bool
  private let closes: Bool
  private let pause: Duration
  private var isCut = false
  /// What the kernel did not take of a block.
  private var rest: [UInt8] = []
  private var unsent = 0..<0

  init(
    _ socket: Socket, _ head: RequestHead, _ connections: Connections, backlogLimit: Int,
    pause: Duration
  ) {
    (self.socket, self.connections, self.backlogLimit) = (socket, connections, backlogLimit)
    self.pause = pause
    lastEventID = head["last-event-id"]
    lastEventTime = head["x-last-event-time"]
    isChunked = !head.isOld
    closes = !head.keepsAlive
  }

  func whenLeft(_ body: @escaping @Poller () -> Void) { socket.whenLeft = body }

  func abort(_ reason: String) {
    if !isCut { connections.noteCut(reason) }
    isCut = true
    socket.abort(forgets: true)
  }

  func begin() async throws(Socket.Failure) {
    socket.prepareForStream()
    var head = WholeAnswer.statusLine(200)
    head += "Date: \(Timestamp.now().sharedDate)\r\nContent-Type: text/event-stream\r\n"
    head += "Cache-Control: no-cache\r\nConnection: \(closes ? "close" : "keep-alive")\r\n"
    head += "X-Accel-Buffering: no\r\n"
    if isChunked { head += "Transfer-Encoding: chunked\r\n" }
    try await socket.write(Array((head + "\r\n").utf8), pause: pause)
  }

  var isBehind: Bool { !unsent.isEmpty }

  func receive(_ block: Block) -> Bool {
    let range = isChunked ? block.chunk.indices : block.content
    unsent = socket.writeNow(block.chunk, range)
    if unsent.isEmpty { return true }
    rest = block.chunk
    return false
  }

  /// A client that took nothing for as long as `pause` is as good as gone.
  func send(_ blocks: [Block]) async throws(Socket.Failure) {
    do throws(Socket.Failure) {
      if isBehind {
        try await socket.write(rest, unsent, pause: pause)
        (rest, unsent) = ([], 0..<0)
      }
      if blocks.count == 1 {
        let block = blocks[0]
        try await socket.write(
          block.chunk, isChunked ? nil : block.content, pause: pause)
      } else if !blocks.isEmpty {
        let bytes = blocks.flatMap { isChunked ? $0.chunk[...] : $0.chunk[$0.content] }
        try await socket.write(bytes, pause: pause)
      }
    } catch {
      if error == .late { abort("it took nothing of a stream for too long") }
      throw error
    }
  }

  /// Ends the stream. Returns false when the connection was broken off.
  func end() async throws(Socket.Failure) -> Bool {
    socket.whenLeft = nil
    if isCut { return false }
    if isChunked { try await socket.write(Array("0\r\n\r\n".utf8), pause: pause) }
    return true
  }
}
