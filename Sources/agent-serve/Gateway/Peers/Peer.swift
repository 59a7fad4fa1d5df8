import Core

/// One WebSocket of a client, seen from the gateway: what is sent to it leaves in
/// order, and a client that does not read is cut off.
final class Peer: Sendable {
  enum Outgoing: Sendable {
    case text([UInt8])
    case close(Int?, String)
  }

  private struct State {
    var outgoing: [Outgoing] = []
    /// What was sent and has not left, bytes.
    var pending = 0
    var isClosed = false
    var isAwake = false
    var isOpen = false
    var isGone = false
  }

  /// The connection's number, never used twice.
  let number: Int
  let isLocal: Bool
  let address: String
  let nonce = Base64.random(bytes: 24)
  /// When it was greeted, in milliseconds.
  let greeted = Timestamp.now().milliseconds
  private let socket: Socket
  private let connections: Connections
  private let limit: Int
  private let state = Guarded(State())
  @Poller private var waiter: UnsafeContinuation<Void, Never>?
  @Poller private var isWriterAwake = false

  private static let closing = Duration.seconds(5)

  @Poller
  init(_ socket: Socket, number: Int, _ serving: Serving) {
    (self.socket, self.number, address) = (socket, number, socket.address)
    (connections, limit) = (serving.connections, serving.backlogLimit)
    isLocal = ListenAddress.isLoopback(address)
  }

  var isOpen: Bool {
    get { state.withLock { $0.isOpen } }
    set { state.withLock { $0.isOpen = newValue } }
  }

  var isGone: Bool {
    get { state.withLock { $0.isGone } }
    set { state.withLock { $0.isGone = newValue } }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Never waits; a message with nothing before it is taken, else the limit cuts the client off.
  func send(_ message: [UInt8]) {
    let (fits, wakes) = state.withLock { state -> (Bool, Bool) in
      if state.isClosed { return (true, false) }
      if state.pending > 0 && state.pending + message.count > limit { return (false, false) }
      state.pending += message.count
      state.outgoing.append(.text(message))
      defer { state.isAwake = true }
      return (true, !state.isAwake)
    }
    if wakes { Poller.start { self.wake() } }
    if !fits {
      close(CloseCode.policy, "slow consumer")
      connections.noteCut("a client of the gateway reads too slowly")
    }
  }

  /// Ends the connection; what was sent before leaves first, if the client takes it soon.
  func close(_ code: Int?, _ reason: String) {
    let isFirst = state.withLock { state in
      if state.isClosed { return false }
      state.isClosed = true
      state.isAwake = true
      state.outgoing.append(.close(code, reason))
      return true
    }
    guard isFirst else { return }
    Poller.start {
      if self.socket.limit == nil { self.socket.limit = .now + Self.closing }
      self.wake()
    }
  }

  /// What is to be sent, nil when there is nothing: then who waits is woken for more.
  func takeOutgoing() -> [Outgoing]? {
    state.withLock { state in
      guard !state.outgoing.isEmpty else {
        state.isAwake = false
        return nil
      }
      defer { state.outgoing = [] }
      return state.outgoing
    }
  }

  func noteSent(_ count: Int) { state.withLock { $0.pending -= count } }

  func finish() {
    state.withLock { state in
      state.isClosed = true
      state.outgoing = []
    }
  }

  @Poller
  func wake() {
    isWriterAwake = true
    waiter?.resume()
    waiter = nil
  }

  /// Waits until there is something to send, or to look at.
  @Poller
  func wait() async {
    await withUnsafeContinuation { waiter in
      if isWriterAwake { waiter.resume() } else { self.waiter = waiter }
    }
    isWriterAwake = false
  }
}
