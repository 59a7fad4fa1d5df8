import NIOConcurrencyHelpers
import NIOCore

/// One client of a stream and what it has not yet taken.
///
/// The hub offers blocks, the client's connection takes one whenever the one
/// before has left: nobody waits for anybody. Whoever reads too slowly fills its
/// backlog and is cut off.
final class Subscriber: Sendable {
  /// How a stream ends.
  enum Ending: Sendable {
    /// The server stops: what waits is still delivered.
    case finished
    /// The client is gone, or too slow: the connection is broken off.
    case cut
  }

  /// What the connection gets.
  enum Piece: Equatable, Sendable {
    /// Something to send.
    case bytes(ByteBuffer)
    /// Nothing for now: it will be woken.
    case nothing
    /// Nothing any more; said once.
    case finished
  }

  /// Thrown to who sends to a stream that ends.
  struct Dropped: Error {}

  private struct State {
    var backlog: Backlog
    var ending: Ending?
    /// Whether the connection was told so.
    var isOver = false
    /// Whether the connection knows that something waits for it.
    var isAwake = false
    /// Waits until all has been sent.
    var sender: CheckedContinuation<Void, any Error>?
  }

  private let state: NIOLockedValueBox<State>
  private let wake: @Sendable () -> Void

  /// - Parameters:
  ///   - limit: the backlog beyond which the client is cut off, bytes.
  ///   - wake: makes the connection ask for `next`, or look at `isCut`, soon.
  init(limit: Int, wake: @escaping @Sendable () -> Void) {
    state = NIOLockedValueBox(State(backlog: Backlog(limit: limit)))
    self.wake = wake
  }

  /// Adds blocks to the backlog; never waits.
  ///
  /// - Returns: false when the subscriber is cut off, now or before, and when its
  ///   stream has been told to end.
  func offer(_ blocks: [ByteBuffer]) -> Bool {
    let (ending, wakes) = state.withLockedValue { state -> (Ending?, Bool) in
      if let ending = state.ending { return (ending, false) }
      for block in blocks where !state.backlog.add(block) { return (.cut, false) }
      defer { state.isAwake = true }
      return (nil, !state.isAwake)
    }
    if wakes { wake() }
    // What comes after the end must not take away what waited before it.
    if ending == .cut { end(.cut) }
    return ending == nil
  }

  /// Sends what does not come from the hub, and waits until it has left.
  ///
  /// - Throws: `Dropped` when the stream ends.
  func send(_ block: ByteBuffer) async throws {
    try await withCheckedThrowingContinuation { sender in
      let isOpen = state.withLockedValue { state in
        guard state.ending == nil, state.backlog.add(block) else { return false }
        state.sender = sender
        state.isAwake = true
        return true
      }
      if isOpen { wake() } else { sender.resume(throwing: Dropped()) }
    }
  }

  /// Ends the stream; the first ending counts, but a cut is always possible.
  func end(_ ending: Ending) {
    let sender = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
      if state.ending == nil || ending == .cut { state.ending = ending }
      state.isAwake = true
      guard ending == .cut else { return nil }
      state.backlog.clear()
      defer { state.sender = nil }
      return state.sender
    }
    sender?.resume(throwing: Dropped())
    wake()
  }

  /// The next piece, asked for when all before it have left.
  func next() -> Piece {
    let (piece, sender) = state.withLockedValue {
      state -> (Piece, CheckedContinuation<Void, any Error>?) in
      if let bytes = state.backlog.take(atMost: 256 * 1024) {
        return (.bytes(bytes), nil)
      }
      let isFinished = state.ending == .finished && !state.isOver
      if isFinished { state.isOver = true }
      state.isAwake = false
      defer { state.sender = nil }
      return (isFinished ? .finished : .nothing, state.sender)
    }
    sender?.resume()
    return piece
  }

  /// Whether the stream has been told to end.
  var isEnding: Bool { state.withLockedValue { $0.ending != nil } }

  /// Whether the connection is to be broken off.
  var isCut: Bool { state.withLockedValue { $0.ending == .cut } }

  /// Sends what the client needs at the start, straight from the store and as
  /// fast as it reads; then the live events follow.
  ///
  /// The step from the store to the live events is exact: a subscriber becomes
  /// live only when the store has nothing that the hub gave to others
  /// (Agent/Clanky/CONTRACT.md 9.2).
  ///
  /// - Parameters:
  ///   - feed: what is streamed; its hub has the subscriber already.
  ///   - lastEventID: what the client says that it has; nil for a fresh start.
  func catchUp(with feed: ServedFeed, lastEventID: String?) async {
    do {
      let opening = try await feed.opening(feed.resumePoint(lastEventID))
      var cursor = opening.cursor
      if let frame = opening.frame { try await send(ByteBuffer(bytes: frame.bytes)) }
      while true {
        let (actions, newest) = try await feed.store.actions(
          after: cursor, limit: 500, bytes: 256 * 1024, kinds: feed.kinds)
        if let last = actions.last {
          cursor = last.id
          try await send(actions.reduce(into: ByteBuffer()) { $0.writeBytes(feed.frame($1).bytes) })
        } else {
          // What the hub gave to others may be of another kind, or deleted since.
          cursor = max(cursor, newest)
          if feed.hub.goLive(self, cursor: cursor) || isEnding { return }
        }
      }
    } catch {
      // Of the store, or because the stream ends: the client comes again.
      if !isEnding { end(.cut) }
    }
  }
}

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
