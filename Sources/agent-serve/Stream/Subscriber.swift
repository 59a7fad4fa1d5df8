import Foundation

/// One client of a stream: its backlog and its connection.
///
/// The hub offers blocks, the client's own task takes them: nobody waits for
/// anybody. Whoever reads too slowly fills its backlog and is cut off.
final class Subscriber: @unchecked Sendable {
  /// How a stream ends.
  enum Ending: Sendable {
    /// The server stops: what waits is still delivered.
    case finished
    /// The client is gone, or too slow: the connection is broken off.
    case cut
  }

  /// Thrown to the HTTP server so that it drops the connection.
  struct Dropped: Error {}

  /// The connection.
  let connection: Connection
  private let lock = NSLock()
  private var backlog: Backlog
  private var waiter: CheckedContinuation<Void, Never>?
  private var ending: Ending?
  private var busySince: ContinuousClock.Instant? = .now

  /// - Parameters:
  ///   - connection: the client's.
  ///   - limit: the backlog beyond which it is cut off, bytes.
  init(connection: Connection, limit: Int) {
    self.connection = connection
    backlog = Backlog(limit: limit)
  }

  /// Adds blocks to the backlog; never waits.
  ///
  /// - Returns: false when the subscriber is cut off, now or before, and when its
  ///   stream has been told to end.
  func offer(_ blocks: [[UInt8]]) -> Bool {
    let outcome = lock.withLock { () -> Ending? in
      if let ending { return ending }
      for block in blocks where !backlog.add(block) { return .cut }
      wake()
      return nil
    }
    // What comes after the end must not take away what waited before it.
    if outcome == .cut { end(.cut) }
    return outcome == nil
  }

  /// Ends the stream; the first ending counts, but a cut is always possible.
  func end(_ ending: Ending) {
    lock.withLock {
      if self.ending == nil || ending == .cut { self.ending = ending }
      if ending == .cut { backlog.clear() }
      wake()
    }
    if ending == .cut { connection.abort() }
  }

  /// The next bytes to send, nil at the end.
  ///
  /// - Throws: `Dropped` when the subscriber was cut off.
  func next() async throws -> [UInt8]? {
    while true {
      let step = lock.withLock { () -> Result<[UInt8]?, Dropped>? in
        if ending == .cut { return .failure(Dropped()) }
        if let block = backlog.take(atMost: 256 * 1024) {
          busySince = .now
          return .success(block)
        }
        return ending == nil ? nil : .success(nil)
      }
      if let step { return try step.get() }
      await withCheckedContinuation { continuation in
        lock.withLock {
          busySince = nil
          if ending != nil || !backlog.isEmpty {
            continuation.resume()
          } else {
            waiter = continuation
          }
        }
      }
    }
  }

  /// Notes that bytes are about to be sent that did not come from the backlog.
  func beginSending() throws {
    try lock.withLock {
      if ending == .cut { throw Dropped() }
      busySince = .now
    }
  }

  /// How long the client has been taking the same piece; zero when it waits for
  /// us.
  func stalled(at now: ContinuousClock.Instant) -> Duration {
    lock.withLock { busySince.map { now - $0 } ?? .zero }
  }

  /// Whether the stream has been told to end.
  var isEnding: Bool { lock.withLock { ending != nil } }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}
