import Foundation

/// The connections that are open, no more of them than there are descriptors for.
final class Connections: @unchecked Sendable {
  /// What the store, the listener and the rest need beside the connections.
  private static let reserve = 32
  /// Who came just now may be about to say what it wants.
  private static let patience = Duration.milliseconds(200)

  private let limit: Int
  private let lock = NSLock()
  private var open: [ObjectIdentifier: Connection] = [:]
  private var dropped: Set<ObjectIdentifier> = []

  /// - Parameter descriptors: how many the process may have.
  init(descriptors: Int) { limit = max(8, descriptors - Self.reserve) }

  /// Takes a connection.
  func add(_ connection: Connection) {
    lock.withLock { open[ObjectIdentifier(connection)] = connection }
  }

  /// Forgets a connection that is closed.
  func remove(_ connection: Connection) {
    lock.withLock {
      open[ObjectIdentifier(connection)] = nil
      dropped.remove(ObjectIdentifier(connection))
    }
  }

  /// Whether there are too many.
  var areTooMany: Bool { lock.withLock { open.count > limit } }

  /// Breaks off those that have kept us waiting for longest, a few more than must be,
  /// unless enough are being closed already. Streams, and requests that are being
  /// worked on, go on.
  ///
  /// - Parameter least: how many must be, whatever the limit.
  func dropOldest(atLeast least: Int = 0, at now: ContinuousClock.Instant = .now) {
    let oldest = lock.withLock { () -> [Connection] in
      let excess = max(open.count - limit, least) - dropped.count
      guard excess > 0 else { return [] }
      let waiting = open.filter { !dropped.contains($0.key) }
        .compactMap { entry in entry.value.waitsSince.map { (since: $0, entry: entry) } }
        .filter { now - $0.since >= Self.patience }
        .sorted { $0.since < $1.since }.prefix(excess + limit / 8).map(\.entry)
      dropped.formUnion(waiting.map(\.key))
      return waiting.map(\.value)
    }
    for connection in oldest { connection.abort() }
  }

  /// Ends those whose time is over. Called some ten times a second.
  func beat(at now: ContinuousClock.Instant = .now) {
    for connection in lock.withLock({ Array(open.values) }) { connection.beat(at: now) }
  }
}
