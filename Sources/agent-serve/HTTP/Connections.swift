import NIOConcurrencyHelpers
import NIOCore

/// The connections that are open, no more of them than there are descriptors for.
final class Connections: @unchecked Sendable {
  /// What the store, the listener and the rest need beside the connections.
  private static let reserve = 32
  /// Who came just now may be about to say what it wants.
  private static let patience = Duration.milliseconds(200)

  /// How many descriptors the process may have.
  let descriptors: Int
  private let limit: Int
  private let lock = NIOLock()
  private var open: [ObjectIdentifier: Connection] = [:]
  private var dropped: Set<ObjectIdentifier> = []

  /// - Parameter descriptors: how many the process may have.
  init(descriptors: Int) {
    self.descriptors = descriptors
    limit = max(8, descriptors - Self.reserve)
  }

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

/// A client's connection as others see it: how long the client has kept the
/// server waiting, and how to end that.
final class Connection: Sendable {
  /// Sent to the connection's handlers when the client did not do in time what was
  /// expected of it.
  struct Overdue: Sendable {
    /// What was expected.
    let kind: ClientWait.Kind
  }

  /// The connection itself.
  let channel: any Channel
  private let wait = NIOLockedValueBox<ClientWait?>(nil)

  /// - Parameter channel: accepted just now; the client has its first request to send.
  init(_ channel: any Channel) {
    self.channel = channel
    expect(.first)
  }

  /// Notes what is expected of the client from now on; nil when it is our turn.
  func expect(_ kind: ClientWait.Kind?) {
    wait.withLockedValue { $0 = kind.map { ClientWait($0, at: .now) } }
  }

  /// Notes that bytes came.
  func noteInput() {
    wait.withLockedValue { $0?.noteInput(at: .now) }
  }

  /// Since when the client has kept us waiting; nil when it is our turn, or that of a stream.
  var waitsSince: ContinuousClock.Instant? {
    wait.withLockedValue { wait in wait.flatMap { $0.kind == .piece ? nil : $0.since } }
  }

  /// Tells the handlers of a client whose time is over, once.
  func beat(at now: ContinuousClock.Instant) {
    let kind = wait.withLockedValue { wait -> ClientWait.Kind? in
      guard let overdue = wait, overdue.deadline <= now else { return nil }
      wait = nil
      return overdue.kind
    }
    guard let kind else { return }
    channel.pipeline.fireUserInboundEventTriggered(Overdue(kind: kind))
  }

  /// Breaks the connection off, whatever is under way.
  func abort() { channel.close(promise: nil) }
}

/// What a client is expected to do, and by when.
struct ClientWait: Sendable {
  /// What it is.
  enum Kind: Sendable {
    /// To begin a first request.
    case first
    /// To begin another one.
    case next
    /// To send the rest of a request's head.
    case head
    /// To send the rest of its body.
    case body
    /// To read what it is sent.
    case room
    /// To read the next piece of a stream.
    case piece
  }

  private(set) var kind: Kind
  private(set) var since: ContinuousClock.Instant
  private(set) var deadline: ContinuousClock.Instant
  private let end: ContinuousClock.Instant

  /// - Parameters:
  ///   - kind: what is expected.
  ///   - now: the clock.
  init(_ kind: Kind, at now: ContinuousClock.Instant) {
    self.kind = kind
    since = now
    // A body may take its time, but not pause for long.
    end = now + .seconds(60)
    switch kind {
    case .first, .head, .body: deadline = now + .seconds(10)
    case .next, .room, .piece: deadline = end
    }
  }

  /// Takes note of bytes of the client.
  mutating func noteInput(at now: ContinuousClock.Instant) {
    switch kind {
    case .first, .next: self = ClientWait(.head, at: now)
    case .body: deadline = min(now + .seconds(10), end)
    case .head, .room, .piece: break
    }
  }
}

/// Counts the requests that are being answered, so that the server can stop
/// between two of them.
final class Tickets: @unchecked Sendable {
  private let lock = NIOLock()
  private let limit: Int
  private var open = 0
  private var isClosed = false

  /// - Parameter limit: how many are given out at a time.
  init(limit: Int = .max) { self.limit = limit }

  /// A ticket for a request, nil when there are too many or the server is stopping.
  func take() -> Ticket? {
    lock.withLock {
      if isClosed || open >= limit { return nil }
      open += 1
      return Ticket(self)
    }
  }

  /// Gives out no more.
  func close() { lock.withLock { isClosed = true } }

  /// The requests that are not answered to the last byte.
  var count: Int { lock.withLock { open } }

  fileprivate func give() { lock.withLock { open -= 1 } }
}

/// Held while a request is answered.
final class Ticket: Sendable {
  private let tickets: Tickets

  fileprivate init(_ tickets: Tickets) { self.tickets = tickets }

  deinit { tickets.give() }
}
