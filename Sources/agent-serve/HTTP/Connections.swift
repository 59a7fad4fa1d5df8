import Core

/// The connections that are open, no more of them than there are descriptors for.
@Poller
final class Connections {
  /// What the store, the listener and the rest need beside the connections.
  nonisolated private static let reserve = 32
  /// Who came just now may be about to say what it wants.
  private static let patience = Duration.milliseconds(200)

  private let limit: Int
  private let diagnostics: Diagnostics
  private var open: [ObjectIdentifier: Socket] = [:]
  private var dropped: Set<ObjectIdentifier> = []
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  nonisolated init(descriptors: Int, diagnostics: Diagnostics) {
    limit = max(8, descriptors - Self.reserve)
    self.diagnostics = diagnostics
  }

  var count: Int { open.count }

  func add(_ socket: Socket) { open[ObjectIdentifier(socket)] = socket }

  func remove(_ socket: Socket) {
    open[ObjectIdentifier(socket)] = nil
    dropped.remove(ObjectIdentifier(socket))
    wakeWaiters()
  }

  var areTooMany: Bool { open.count > limit }

  /// For a moment at most: more of them may have been silent for long enough by then.
  func waitForRoom() async {
    await withUnsafeContinuation { waiter in
      waiters.append(waiter)
      Poller.after(.milliseconds(50)) { self.wakeWaiters() }
    }
  }

  private func wakeWaiters() {
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  /// Breaks off those that have kept us waiting for longest, a few more than must be,
  /// unless enough are being closed already. Streams, and requests that are being
  /// worked on, go on.
  func dropOldest(atLeast least: Int = 0, at now: ContinuousClock.Instant = .now) {
    let excess = max(open.count - limit, least) - dropped.count
    guard excess > 0 else { return }
    let waiting = open.filter { !dropped.contains($0.key) }
      .compactMap { entry in entry.value.waitsSince.map { (since: $0, entry: entry) } }
      .filter { now - $0.since >= Self.patience }
      .sorted { $0.since < $1.since }.prefix(excess + limit / 8).map(\.entry)
    for (key, socket) in waiting {
      dropped.insert(key)
      socket.abort()
      noteCut("others need its place, and it was silent longest")
    }
  }

  /// Says that a client is cut off and why, once a minute for each reason.
  nonisolated func noteCut(_ reason: String) {
    diagnostics.noteRarely("a client is cut off: \(reason)")
  }
}
