import NIOConcurrencyHelpers
import NIOCore

/// Core has one too.
typealias ByteBuffer = NIOCore.ByteBuffer

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

  /// Since when the client has kept us waiting; nil when it is our turn.
  var waitsSince: ContinuousClock.Instant? { wait.withLockedValue { $0?.since } }

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
