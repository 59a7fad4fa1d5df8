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
  private let line: PeerLine
  private let limit: Int
  private let state = Guarded(State())

  init(_ line: PeerLine, address: String, number: Int, limit: Int) {
    (self.line, self.number, self.limit, self.address) = (line, number, limit, address)
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
    if wakes { Poller.start { [line] in line.wake() } }
    if !fits {
      close(CloseCode.policy, "slow consumer")
      Poller.start { [line] in line.noteSlow() }
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
    if isFirst { Poller.start { [line] in line.beginClosing() } }
  }

  /// What is to be sent, nil when there is nothing: then `line` is told of more.
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
}

@Poller
final class PeerLine {
  private static let closing = Duration.seconds(5)

  private let socket: Socket
  private let connections: Connections
  private var waiter: UnsafeContinuation<Void, Never>?
  private var isAwake = false

  init(_ socket: Socket, _ connections: Connections) {
    (self.socket, self.connections) = (socket, connections)
  }

  func wake() {
    isAwake = true
    waiter?.resume()
    waiter = nil
  }

  func beginClosing() {
    if socket.limit == nil { socket.limit = .now + Self.closing }
    wake()
  }

  func noteSlow() { connections.noteCut("a client of the gateway reads too slowly") }

  func wait() async {
    await withUnsafeContinuation { waiter in
      if isAwake { waiter.resume() } else { self.waiter = waiter }
    }
    isAwake = false
  }
}
