import Foundation

/// Counts the requests that are being answered, so that the server can stop
/// between two of them.
final class Tickets: @unchecked Sendable {
  private let lock = NSLock()
  private var open = 0
  private var isClosed = false

  /// A ticket for a request, nil when the server is stopping.
  func take() -> Ticket? {
    lock.withLock {
      if isClosed { return nil }
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
