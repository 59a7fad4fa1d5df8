import Core
import Synchronization

/// Counts what all clients together have of something: the bytes of bodies that are kept, by what
/// came and not by what was announced, so that who sends nothing keeps nobody out; or requests.
final class Budget: Sendable {
  private let limit: Int
  private let state = Guarded((used: 0, isClosed: false))

  init(limit: Int = .max) { self.limit = limit }

  var count: Int { state.withLock { $0.used } }

  /// Gives nothing more.
  func close() { state.withLock { $0.isClosed = true } }

  func share() -> Share { Share(self) }

  /// So much of it; nil where there is no room.
  func share(_ count: Int) -> Share? {
    let share = share()
    return share.take(count) ? share : nil
  }

  /// What one has of it, given back when nothing holds it any more.
  final class Share: Sendable {
    private let budget: Budget
    private let taken = Atomic(0)

    fileprivate init(_ budget: Budget) { self.budget = budget }

    deinit {
      let count = taken.load(ordering: .relaxed)
      budget.state.withLock { $0.used -= count }
    }

    /// Asks for so much more. Returns false, and nothing changes, where there is no room.
    func take(_ count: Int) -> Bool {
      let hasRoom = budget.state.withLock { state in
        guard !state.isClosed, state.used + count <= budget.limit else { return false }
        state.used += count
        return true
      }
      if hasRoom { taken.add(count, ordering: .relaxed) }
      return hasRoom
    }
  }
}

struct BodyPlan: Sendable {
  /// The bodies of all clients together: thirty-six of the largest ones.
  static let budget = Budget(limit: 36 * RequestBody.limit)

  /// Whether it is kept; otherwise only its end is wanted.
  var keeps = false
  /// The longest one, bytes.
  var limit = RequestBody.limit
  /// Counts what is kept, until the request is answered; nil where nobody does.
  var share: Budget.Share?
  /// Whether the answer waits for something to happen: its task is cancelled when the client has
  /// gone, or says that it sends nothing more.
  var isHeld = false
}

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
