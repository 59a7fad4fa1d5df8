import Core
import Frames

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
