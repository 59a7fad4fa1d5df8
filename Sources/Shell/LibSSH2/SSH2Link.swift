import CLibc
import CSSH2
import Core

/// A connection made by libssh2, in this process. One that a terminal has serves the user's other
/// processes, from when the terminal runs until it ends.
final class SSH2Link: Link {
  /// Why it is over.
  private(set) var ending: HostFailure?
  let transport = TransportName.libssh2

  /// Until it is over.
  private(set) var session: SSH2Session?
  let request: LinkRequest
  var channels: [SSH2Channel] = []
  /// The channel that is being opened: libssh2 can open one at a time.
  weak var opener: SSH2Channel?
  var hasOpened = false
  /// Channels given up, until the host has agreed or the time is over.
  private var retired: [(handle: SSH2Handle, limit: Double)] = []
  /// A closed channel, kept to read the connection with while no other is open.
  private var parked: SSH2Handle?
  /// When a probe went out that nothing has come after yet.
  private var probed: Double?
  /// libssh2 still has packets to look at.
  private var hasMore = false
  private var server: LinkServer?
  private var hasServed = false
  private weak var terminal: SSH2Channel?

  /// How much may wait for a slow connection, or a slow reader, before more is held back.
  static let queueLimit = 256 << 10

  /// Connects, and signs in.
  init(_ request: LinkRequest, _ wait: @escaping HostWait) throws(HostFailure) {
    self.request = request
    session = try SSH2Opening(request, wait).run()
    pump()
  }

  deinit { close() }

  func wants(_ set: inout PollSet) {
    session?.wire.wants(&set)
    server?.wants(&set)
  }

  var deadline: Double? {
    guard let session else { return server == nil ? nil : 0 }
    if hasMore || server?.hasMore == true { return 0 }
    return (channels.compactMap(\.nextTry) + [nextProbe(session.wire)]).min()
  }

  func advance(_ set: PollSet, now: Double) {
    if let wire = session?.wire {
      wire.now = now
      wire.budget = SSH2Wire.turnBudget
      if set.isReadable(wire.descriptor) { wire.mayRead = true }
      wire.flush()
      pump()
      probe(now)
    }
    // The terminal comes first: the host may grant no more than that.
    if !hasServed, ending == nil, terminal?.isStarted == true { serve(now) }
    server?.advance(set, self, now: now)
    if ending != nil { stopServing() }
  }

  private func stopServing() {
    server?.close()
    server = nil
  }

  private func serve(_ now: Double) {
    hasServed = true
    do throws(Failure) {
      server = try LinkServer(request, now: now)
    } catch {
      request.note("the connection is not shared: \(error.message)")
    }
  }

  func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel {
    let channel = start(command, (term, size))
    terminal = channel
    return channel
  }

  func run(_ command: String, _ wait: @escaping HostWait) -> any Channel { start(command) }

  /// Ends everything at once. The host is told, if that goes without waiting.
  func close() {
    stopServing()
    for channel in channels { channel.giveUp() }
    session?.disconnect()
    end(.closed)
  }

  /// libssh2 takes no request of more than 35000 bytes in all, and says so in odd words.
  static let longestCommand = 32_000

  /// Starts a command, perhaps on a terminal. Nothing of it waits.
  func start(
    _ command: String, _ terminal: (term: String, size: WindowSize)? = nil
  ) -> SSH2Channel {
    let channel = SSH2Channel(self, command: command, terminal: terminal)
    if let ending {
      channel.end(.failed(ending))
    } else if command.utf8.count > Self.longestCommand {
      channel.end(.failed(.tooLong))
    } else {
      channels.append(channel)
      if let session { channel.advance(session) }
    }
    return channel
  }

  /// It is over, for all channels too.
  private func end(_ failure: HostFailure) {
    guard ending == nil else { return }
    ending = failure
    // The last reference closes the connection.
    let left = session
    session = nil
    let leftChannels = channels
    channels = []
    // What has come is still read.
    for channel in leftChannels { channel.finish(failure, left) }
    retired = []
    parked = nil
  }
  /// Moves all bytes that can be moved, both ways, until only the network, or a reader
  /// of ours, can bring it on.
  private func pump() {
    guard let session else { return }
    let wire = session.wire
    var rounds = 0
    repeat {
      rounds += 1
      for channel in channels {
        channel.advance(session)
        guard ending == nil else { return }
        if wire.isDamaged { return end(.linkLost(why: wire.ending ?? "")) }
      }
      channels.removeAll { $0.isOver }
      close(session)
      read(session)
      guard ending == nil else { return }
    } while !wire.isDrained && canRead && rounds < 32
    hasMore = !wire.isDrained && canRead
    wire.flush()
    if let why = wire.ending, !hasMore { end(.linkLost(why: wire.farewell?.words ?? why)) }
  }

  private var canRead: Bool {
    parked != nil || !retired.isEmpty || channels.contains { $0.handle != nil || $0.isOpening }
  }

  /// Reads on behalf of no channel: answers to probes, the host's own probes, new keys.
  private func read(_ session: SSH2Session) {
    if channels.contains(where: { $0.handle != nil }) { return }
    guard let parked else { return session.wire.fill() }
    check(parked.readOn(), session)
  }

  /// Ends the link for an error of the session, not of one channel: whether it is still there.
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

  func retire(_ handle: SSH2Handle, _ session: SSH2Session) {
    retired.append((handle, session.wire.now + request.connectTimeout))
    close(session)
  }

  private func close(_ session: SSH2Session) {
    retired.removeAll { handle, limit in
      // What is late is left to itself, and goes with the session.
      let isWaiting = handle.close() == LIBSSH2_ERROR_EAGAIN
      if isWaiting, session.wire.now < limit { return false }
      // One that is closed is kept, for `read`; the one kept so far is freed.
      parked?.free()
      parked = handle
      return true
    }
  }

  // MARK: - a host that is silent

  /// When the next probe, or the end, is due.
  private func nextProbe(_ wire: SSH2Wire) -> Double {
    let interval = request.options.keepalive
    return probed.map { $0 + 2 * interval } ?? wire.lastInbound + interval
  }

  /// Probes a host that has been silent, and gives it up when it stays so.
  private func probe(_ now: Double) {
    guard let session else { return }
    let wire = session.wire
    if let since = probed, now >= since + 2 * request.options.keepalive {
      // Not before a look: who was stopped meanwhile may have been answered.
      wire.mayRead = true
      pump()
      guard ending == nil else { return }
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
