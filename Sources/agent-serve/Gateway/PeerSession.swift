import Core
import Frames

/// The WebSocket of one client (RFC 6455): one task reads, one writes. What a client must not
/// send ends the connection with the code that says so.
@Poller
final class PeerSession {
  private static let patience = Duration.seconds(15)
  /// The longest message before that, bytes (Agent/OpenClaw/CONTRACT.md 3).
  private static let openingLimit = 64 * 1024
  /// Longer messages are read elsewhere: what takes a while must not hold up others.
  private static let shortMessage = 16 * 1024
  /// How much is put together for one call, bytes.
  private static let batchSize = 64 * 1024

  private let gateway: Gateway
  private let socket: Socket
  private let peer: Peer
  private let reader = FrameReader(
    from: .client, limit: openingLimit, mostFrames: 16_384)
  private let writer = FrameWriter(masks: false)
  private var region = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The payload of the newest ping that is not answered: older ones then need no answer
  /// (section 5.5.3), so that who does not read piles up nothing.
  private var ping: [UInt8]?
  private var isReadOver = false
  /// The part of a message that is not whole, of what all clients may send together.
  private var share = BodyPlan.budget.share()
  private var counted = 0

  init(_ socket: Socket, _ service: GatewayService, number: Int) {
    gateway = service.gateway
    self.socket = socket
    peer = Peer(socket, number: number, service.serving)
  }

  func run() async {
    socket.prepareForStream()
    // Until it has connected it may have to give way to others.
    socket.waitsSince = .now
    await gateway.greet(peer)
    async let writing: Void = write()
    do {
      try await read()
      isReadOver = true
      peer.wake()
      await writing
      try await socket.linger()
    } catch {
      isReadOver = true
      socket.abort()
      peer.wake()
      await writing
    }
    region.deallocate()
    peer.finish()
    await gateway.leave(peer)
    peer.isGone = true
  }

  // MARK: - What comes

  private func read() async throws {
    let patience = ContinuousClock.now + Self.patience
    while true {
      do {
        reader.limit = peer.isOpen ? Gateway.messageLimit : Self.openingLimit
        guard let item = try reader.next() else {
          guard count() else { return try await refuse(CloseCode.later, "too much at a time") }
          try await refill(until: peer.isOpen || peer.isClosed ? nil : patience)
          continue
        }
        switch item {
        case .message(let message):
          if peer.isClosed { continue }
          guard message.isText else {
            return try await refuse(CloseCode.unsupported, "text messages only")
          }
          let bytes = Array(message.bytes)
          if bytes.count <= Self.shortMessage {
            await gateway.receive(bytes, from: peer)
          } else {
            try await Poller.elsewhere { [gateway, peer] in
              await gateway.receive(bytes, from: peer)
            }
          }
          if peer.isOpen { socket.waitsSince = nil }
        case .oversize: return try await refuse(CloseCode.tooLarge, "message too long")
        case .ping(let payload):
          ping = Array(payload)
          peer.wake()
          // The answer leaves before the next one is looked at, if the client takes it.
          await Task.yield()
        case .close(let close):
          peer.close(close.code.map(Int.init), "")
          return
        }
      } catch Socket.Failure.late where !peer.isClosed {
        peer.close(CloseCode.policy, "connect timed out")
      } catch let fault as FrameFault {
        if fault.isOfClose { return peer.close(CloseCode.protocolError, "") }
        let code = Int(fault.code)
        return try await refuse(code, code == CloseCode.tooLarge ? "message too long" : "")
      }
    }
  }

  /// Closes the connection for what a client must not send.
  private func refuse(_ code: Int, _ reason: String) async throws {
    peer.close(code, reason)
    try await discard()
  }

  /// Counts what is kept of a message, which a client may leave unfinished for long; false when
  /// there is no room for it.
  private func count() -> Bool {
    let held = reader.heldBytes
    if held < counted { (share, counted) = (BodyPlan.budget.share(), 0) }
    guard share.take(held - counted) else { return false }
    counted = held
    return true
  }

  private func refill(until deadline: ContinuousClock.Instant?) async throws {
    region.deallocate()
    region = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    if socket.received.isEmpty, try await !socket.fill(until: deadline) {
      // A client that closes only its half cannot take part any more.
      throw Socket.Failure.aborted
    }
    socket.received.read { bytes, used in
      region = .allocate(byteCount: bytes.count, alignment: 1)
      region.copyMemory(from: bytes)
      used = bytes.count
    }
    reader.supply(region)
  }

  private func discard() async throws {
    while try await socket.fill(until: nil) { socket.received = Inbox() }
  }

  // MARK: - What is sent

  private func write() async {
    do {
      while !isReadOver || peer.isClosed {
        if let ping {
          self.ping = nil
          writer.add(.pong, ping)
          try await socket.write(writer.take(), pause: nil)
        }
        guard let outgoing = peer.takeOutgoing() else {
          if isReadOver { return }
          if ping == nil { await peer.wait() }
          continue
        }
        var count = 0
        for each in outgoing {
          switch each {
          case .text(let message):
            writer.add(.text, message)
            count += message.count
          case .close(let code, let reason):
            writer.add(
              .close, code.map { CloseFrame.payload(UInt16($0), reason) } ?? [])
          }
          if writer.unsent >= Self.batchSize {
            try await socket.write(writer.take(), pause: nil)
            peer.noteSent(count)
            count = 0
          }
        }
        try await socket.write(writer.take(), pause: nil)
        peer.noteSent(count)
        if case .close = outgoing.last { return }
      }
    } catch {
      // The reader sees it, too.
      socket.abort()
    }
  }
}

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
