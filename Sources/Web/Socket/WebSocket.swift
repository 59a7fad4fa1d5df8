import Core
import Frames

/// One connection of a WebSocket, as its client (RFC 6455). It connects once: for more,
/// see `SocketStream`.
public final class WebSocket {
  enum State {
    case connecting
    /// The request is on its way, or the body of another answer than 101.
    case asking(AnswerReader, until: Double)
    case open
    /// A close frame is on its way. The end is told when the other side has done its
    /// part, or at a time at the latest; nil while its close frame is awaited.
    case closing(SocketEnd?, until: Double)
    case ended
  }

  let client: WebClient
  let options: SocketOptions
  unowned let handler: (any SocketHandler)
  var request: Request
  /// Whether the token was refused, and another one was found.
  var hasRenewed = false
  let route: RequestRoute
  var state = State.connecting
  var upgrade: Upgrade
  var connection: RawConnection?
  var writer = FrameWriter()
  var reader: FrameReader?
  let region = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 4096)
  /// Whether frames of the region wait for `release`.
  var isHeld = false
  var hasFrames = false
  /// The payload of the newest ping that is not answered, because the network takes
  /// nothing. Older ones then need no answer (RFC 6455, section 5.5.3), so that a flood of
  /// them fills no memory.
  var duePong: [UInt8]?

  /// How much is read at a time before others get their turn, bytes.
  static let share = 1 << 20
  /// With more than this unsent, pings are answered later, bytes.
  static let crowded = 1 << 16

  /// The time of the last bytes received, seconds of `Clock.monotonic`; before any, of
  /// the beginning.
  public internal(set) var lastHeard = Clock.monotonic

  /// Connects at once. Its owner keeps it until `socketEnded`, or cancels it.
  ///
  /// - Parameters:
  ///   - client: whose `perform` drives it.
  ///   - request: the address, and the headers with the token; `http` means `ws`.
  ///     Redirects are followed; across origins private headers stay behind.
  ///   - options: what is asked of it.
  ///   - handler: told what happens, never from within this call; not retained, and
  ///     outlives the socket.
  public init(
    _ client: WebClient, _ request: Request, options: SocketOptions,
    handler: any SocketHandler
  ) {
    self.client = client
    var request = request
    request.token?.authorize(&request)
    self.request = request
    self.options = options
    self.handler = handler
    route = RequestRoute(request)
    upgrade = Upgrade(request, subprotocols: options.subprotocols, agent: client.agent)
    connect()
  }

  deinit {
    cancel()
    region.deallocate()
  }

  /// Whether messages can be sent: after `socketOpened`, until a close from either side.
  public var isOpen: Bool { if case .open = state { true } else { false } }

  /// Bytes that were not yet given to the network.
  public var unsent: Int { writer.unsent }

  /// Sends a text. It waits in memory until the network takes it.
  ///
  /// - Parameter text: UTF-8. Before the socket is open, and after its end, nothing is
  ///   sent.
  public func send(text: [UInt8]) { send(.text, text) }

  /// Sends bytes. They wait in memory until the network takes them.
  ///
  /// - Parameter binary: a message; nothing is sent while the socket is not open.
  public func send(binary: [UInt8]) { send(.binary, binary) }

  /// Asks the other side for a sign of life, which `lastHeard` then shows.
  public func ping() { send(.ping, []) }

  /// Ends the connection in order. `socketEnded` follows within `closeWait`; until then
  /// messages may still come.
  ///
  /// - Parameters:
  ///   - code: 1000 for a usual end; 3000 to 4999 have a meaning of the application's.
  ///   - reason: for people; cut off after 123 bytes.
  public func close(_ code: UInt16, _ reason: String) {
    guard isOpen else { return }
    beginClose(CloseFrame.payload(code, reason), nil)
  }

  /// Ends the connection at once; nothing more is told. The other side still gets what
  /// waits for it and a close frame, as far as the network takes them without a wait.
  ///
  /// - Parameter code: why; as for `close`.
  public func cancel(_ code: UInt16 = 1000) {
    takeLeave(code)
    state = .ended
    disconnect()
  }

  func send(_ opcode: FrameWriter.Opcode, _ payload: [UInt8]) {
    guard isOpen else { return }
    writer.add(opcode, payload)
    connection?.isReady = true
  }

  /// Takes no more bytes until `release`: TCP holds the other side back.
  public func hold() {
    isHeld = true
    connection?.wantsRead = false
  }

  /// Goes on after `hold`, with the next `perform`.
  public func release() {
    guard isHeld else { return }
    isHeld = false
    lastHeard = Clock.monotonic
    connection?.wantsRead = true
    connection?.isReady = true
  }

  /// Ends what has waited for too long.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  public func tick(now: Double) -> Double {
    switch state {
    case .connecting, .open, .ended: return .infinity
    case .asking(var reader, let until):
      if now < until { return until }
      if !reader.hasHead {
        finish(.network("no answer within \(StreamPolicy.seconds(options.answerWait)) s"))
      } else {
        take(reader.finish())
      }
    case .closing(let end, let until):
      if now < until { return until }
      finish(end ?? .closed(code: nil, reason: ""))
    }
    return .infinity
  }
}

// MARK: - The connection

extension WebSocket {
  func connect() {
    state = .connecting
    guard let made = RawConnection(request, client) else { Diagnostics.outOfMemory() }
    connection = made
    made.wantsRead = !isHeld
    hasFrames = false
    made.onOpen = { [weak self] in self?.ask() }
    made.onFailure = { [weak self] in self?.finish($1 ? .network($0) : .notSocket($0)) }
    made.onReady = { [weak self] in self?.drive() }
    client.start(made)
  }

  func disconnect() {
    guard let connection else { return }
    client.end(connection)
    self.connection = nil
  }

  func finish(_ end: SocketEnd) {
    if case .ended = state { return }
    if case .network(let reason) = end {
      // Nobody is there to whom a code could say anything (RFC 6455, section 7.1.5: 1006).
      state = .ended
      disconnect()
      return handler.socketEnded(.network(route.hide(reason)))
    }
    cancel()
    handler.socketEnded(end)
  }

  private func ask() {
    upgrade = Upgrade(request, subprotocols: options.subprotocols, agent: client.agent)
    writer = FrameWriter()
    writer.add(raw: upgrade.bytes)
    lastHeard = Clock.monotonic
    state = .asking(AnswerReader(mask: route.mask), until: lastHeard + options.answerWait)
    flush()
  }

  /// Writes and reads what can be without waiting.
  private func drive() {
    flush()
    var share = Self.share
    // A redirect brings another connection.
    guard let current = connection else { return }
    while let connection, connection === current, !isHeld {
      if hasFrames {
        handleNext()
        continue
      }
      guard share > 0 else {
        connection.isReady = true
        break
      }
      switch connection.read(into: region) {
      case .bytes(let count):
        share -= count
        lastHeard = Clock.monotonic
        take(UnsafeMutableRawBufferPointer(rebasing: region[..<count]))
      case .nothing: share = .min
      case .end: hangUp()
      case .failed(let reason): hangUp(reason)
      }
      if share == .min { break }
    }
    guard connection === current else { return }
    answerPing()
    flush()
  }

  private func flush() {
    guard let connection else { return }
    guard writer.flush(connection.write) else { return hangUp("the connection is broken") }
    connection.wantsWrite = writer.unsent > 0
  }

  /// The network has nothing more for us. The other side may still read: it gets the
  /// close frame, or the pong, that is due.
  private func hangUp(_ reason: String? = nil) {
    if reason == nil, let connection {
      answerPing()
      _ = writer.flush(connection.write)
    }
    switch state {
    case .connecting, .ended: break
    case .asking(var reader, _):
      if let reason { finish(.network(reason)) } else { take(reader.finish()) }
    case .open: finish(.network(reason ?? "the connection ended without a close frame"))
    case .closing(let end, _): finish(end ?? .closed(code: nil, reason: ""))
    }
  }

  private func take(_ bytes: UnsafeMutableRawBufferPointer) {
    switch state {
    case .asking(var reader, let until):
      let progress = reader.take(UnsafeRawBufferPointer(bytes))
      let isNew = reader.hasHead
      state = .asking(reader, until: isNew ? min(until, lastHeard + StreamPolicy.errorWait) : until)
      take(progress, bytes)
    case .open, .closing(nil, _):
      reader?.supply(bytes)
      hasFrames = true
    case .connecting, .closing, .ended: break
    }
  }
}

// MARK: - The answer

extension WebSocket {
  func take(
    _ progress: AnswerReader.Progress, _ bytes: UnsafeMutableRawBufferPointer? = nil
  ) {
    switch progress {
    case .more: break
    case .bad(let reason): finish(.network(reason))
    case .answered(let head, let body): answer(head, body)
    case .switched(let head, let rest):
      if let fault = upgrade.fault(of: head) { return finish(.notSocket(fault)) }
      state = .open
      let reader = FrameReader(from: .server, limit: options.maxMessageBytes)
      self.reader = reader
      handler.socketOpened(
        route.place(of: request), subprotocol: upgrade.subprotocol(of: head))
      guard let bytes, rest < bytes.count else { return }
      reader.supply(UnsafeMutableRawBufferPointer(rebasing: bytes[rest...]))
      hasFrames = true
    }
  }

  private func answer(_ head: ResponseHead, _ body: [UInt8]) {
    if !hasRenewed, let other = request.renewed(after: head) {
      hasRenewed = true
      disconnect()
      request = other
      route.renew(other)
      return connect()
    }
    guard head.isRedirect, let location = head.value("Location"), !location.isEmpty else {
      return finish(.refused(head, body))
    }
    disconnect()
    switch route.next(request, head, to: WebAddress.webText(location)) {
    case .failure(let problem): finish(.redirects(problem.reason))
    case .success(let next) where options.staysAtOrigin && next.address.origin != route.origin:
      finish(.redirects("\(head.summary): the redirect leads to another server"))
    case .success(let next):
      request = next
      connect()
    }
  }
}

// MARK: - Frames

extension WebSocket {
  /// Handles the next of what lies in the region.
  private func handleNext() {
    do throws(FrameFault) {
      switch try reader?.next() {
      case nil: hasFrames = false
      case .message(let message): handler.socketMessage(message)
      case .oversize(let bytes): handler.socketOversize(bytes: bytes)
      case .ping(let payload):
        duePong = payload
        answerPing()
      case .close(let frame):
        // Behind the other side's close nothing counts.
        hasFrames = false
        handle(frame)
      }
    } catch {
      hasFrames = false
      fail(error)
    }
  }

  private func handle(_ close: CloseFrame) {
    let end = SocketEnd.closed(code: close.code, reason: route.hide(close.reason))
    if case .closing = state {
      // Our close frame was first, and this is the answer.
      state = .closing(end, until: Clock.monotonic + options.closeWait)
      return
    }
    beginClose(close.code.map { CloseFrame.payload($0, "") } ?? [], end)
  }

  private func fail(_ fault: FrameFault) {
    let end = SocketEnd.violated(code: fault.code, fault.reason)
    if case .closing = state { return finish(end) }
    beginClose(CloseFrame.payload(fault.code, fault.reason), end)
  }

  func beginClose(_ payload: [UInt8], _ end: SocketEnd?) {
    answerPing()
    writer.add(.close, payload)
    state = .closing(end, until: Clock.monotonic + options.closeWait)
    // The end of the connection must be seen.
    if end != nil { isHeld = false }
    connection?.wantsRead = !isHeld
    connection?.isReady = true
  }

  /// Says that nothing more is wanted. Nobody waits for the echo.
  func takeLeave(_ code: UInt16) {
    guard let connection else { return }
    switch state {
    case .open: writer.add(.close, CloseFrame.payload(code, ""))
    case .closing: break
    case .connecting, .asking, .ended: return
    }
    _ = writer.flush(connection.write)
  }

  private func answerPing() {
    guard isOpen, let payload = duePong, writer.unsent < Self.crowded else { return }
    duePong = nil
    writer.add(.pong, payload)
  }
}
