import CSSH2
import Core

extension SSH2Link {
  /// Moves all bytes that can be moved, both ways, until only the network, or a reader
  /// of ours, can bring it on.
  func pump() {
    guard let session else { return }
    let wire = session.wire
    var rounds = 0
    repeat {
      rounds += 1
      for channel in channels {
        channel.advance(session)
        guard case .up = phase else { return }
        if wire.isDamaged { return end(.linkLost(why: wire.ending ?? "")) }
      }
      channels.removeAll { $0.isOver }
      close(session)
      read(session)
      guard case .up = phase else { return }
    } while !wire.isDrained && canRead && rounds < 32
    hasMore = !wire.isDrained && canRead
    wire.flush()
    if let why = wire.ending, !hasMore { end(.linkLost(why: wire.farewell?.words ?? why)) }
  }

  /// Whether there is a channel through which libssh2 can be made to read.
  private var canRead: Bool {
    parked != nil || !retired.isEmpty || channels.contains { $0.handle != nil || $0.isOpening }
  }

  /// Reads on behalf of no channel: answers to probes, the host's own probes, new keys.
  private func read(_ session: SSH2Session) {
    if channels.contains(where: { $0.handle != nil }) { return }
    guard let parked else { return session.wire.fill() }
    check(parked.readOn(), session)
  }

  /// Ends the link for an error of the session; those of one channel pass.
  ///
  /// - Returns: whether the link is still there.
  @discardableResult func check(_ result: Int32, _ session: SSH2Session) -> Bool {
    switch result {
    case LIBSSH2_ERROR_SOCKET_SEND, LIBSSH2_ERROR_SOCKET_RECV, LIBSSH2_ERROR_SOCKET_DISCONNECT,
      LIBSSH2_ERROR_PROTO, LIBSSH2_ERROR_INVALID_MAC, LIBSSH2_ERROR_DECRYPT,
      LIBSSH2_ERROR_ENCRYPT, LIBSSH2_ERROR_KEX_FAILURE, LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE,
      LIBSSH2_ERROR_OUT_OF_BOUNDARY, LIBSSH2_ERROR_ALLOC, LIBSSH2_ERROR_SOCKET_NONE:
      let wire = session.wire
      end(.linkLost(why: wire.farewell?.words ?? wire.ending ?? session.lastReason))
      return false
    default: return true
    }
  }

  // MARK: - channels that are given up

  /// Closes a channel that nobody wants any more, in the background.
  func retire(_ handle: SSH2Handle, _ session: SSH2Session) {
    retired.append((handle, session.wire.now + request.connectTimeout))
    close(session)
  }

  private func close(_ session: SSH2Session) {
    retired.removeAll { handle, limit in
      // What is late is left to itself, and goes with the session.
      let isWaiting = handle.close() == LIBSSH2_ERROR_EAGAIN
      if isWaiting, session.wire.now < limit { return false }
      park(handle)
      return true
    }
  }

  /// Keeps a closed channel, and frees the one kept so far.
  func park(_ handle: SSH2Handle) {
    parked?.free()
    parked = handle
  }

  // MARK: - a host that is silent

  /// When the next probe, or the end, is due.
  func nextProbe(_ wire: SSH2Wire) -> Double {
    let interval = request.options.keepalive
    return probed.map { $0 + 2 * interval } ?? wire.lastInbound + interval
  }

  /// Probes a host that has been silent, and gives it up when it stays so.
  func probe(_ now: Double) {
    guard let session else { return }
    let wire = session.wire
    if let since = probed, now >= since + 2 * request.options.keepalive {
      // Not before a look: who was stopped meanwhile may have been answered.
      wire.mayRead = true
      pump()
      guard case .up = phase else { return }
    }
    if let since = probed, wire.lastInbound > since { probed = nil }
    guard now >= nextProbe(wire) else { return }
    if probed != nil { return end(.silent(seconds: now - wire.lastInbound)) }
    probed = now
    if let channel = channels.first(where: \.canProbe) {
      channel.probe()
      pump()
    } else {
      // libssh2 keeps the answers to these for good, so this is for the time without a
      // channel only. It sends none when it has sent one less than two seconds ago.
      session.keepAlive()
    }
    wire.flush()
  }
}
