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
    case .next, .room: deadline = end
    }
  }

  /// Takes note of bytes of the client.
  mutating func noteInput(at now: ContinuousClock.Instant) {
    switch kind {
    case .first, .next: self = ClientWait(.head, at: now)
    case .body: deadline = min(now + .seconds(10), end)
    case .head, .room: break
    }
  }
}
