import CLibc
import CSSH2
public import Core

/// A connection made by libssh2, in this process.
public final class SSH2Link: Link {
  enum Phase {
    case dialling(SSH2Dial)
    case shaking(SSH2Session)
    case signingIn(SSH2Session, SSH2SignIn)
    case up(SSH2Session)
    case over
  }

  /// How far it is.
  public internal(set) var state = LinkState.opening
  /// Always `libssh2`.
  public let transport = TransportName.libssh2

  let request: LinkRequest
  let host: String
  let port: Int
  var phase = Phase.over
  /// When it must be ready.
  var limit: Double
  var policy: HostKeyPolicy?
  var channels: [SSH2Channel] = []
  /// The channel that is being opened: libssh2 can open one at a time.
  weak var opener: SSH2Channel?
  /// Whether the host has opened one.
  var hasOpened = false
  /// Channels given up, until the host has agreed or the time is over.
  var retired: [(handle: SSH2Handle, limit: Double)] = []
  /// A closed channel, kept to read the connection with while no other is open.
  var parked: SSH2Handle?
  /// When a probe went out that nothing has come after yet.
  var probed: Double?
  /// The end has been seen: it may come before the first `advance`, or between two.
  private var isTold = false
  /// libssh2 still has packets to look at.
  var hasMore = false

  /// How much may wait for a slow connection, or a slow reader, before more is held back.
  static let queueLimit = 256 << 10

  /// Begins to connect. What goes wrong is told by `state`.
  public init(_ request: LinkRequest, now: Double) {
    self.request = request
    host = request.destination.host
    port = request.destination.port ?? 22
    limit = now + request.connectTimeout
    do throws(SettingsError) {
      policy = try HostKeyPolicy(pins: request.pins, knownHosts: request.options.knownHosts)
      for note in policy?.notes ?? [] { request.note(note) }
    } catch {
      end(.hostKeyUnknown(why: error.message))
      return
    }
    phase = .dialling(SSH2Dial(host: host, port: port, limit: limit))
  }

  deinit { close() }

  /// Adds the descriptors that it waits for.
  public func wants(_ set: inout PollSet) {
    switch phase {
    case .dialling(let dial): dial.wants(&set)
    case .shaking(let session): wants(session.wire, &set)
    case .signingIn(let session, let signIn):
      wants(session.wire, &set)
      signIn.wants(&set)
    case .up(let session): wants(session.wire, &set)
    case .over: break
    }
  }

  private func wants(_ wire: SSH2Wire, _ set: inout PollSet) {
    set.add(wire.descriptor, reading: wire.hasRoom, writing: wire.queued > 0)
  }

  /// The time at which `advance` is to be called at the latest.
  public var deadline: Double? {
    switch phase {
    case .dialling(let dial): min(limit, dial.deadline)
    case .shaking: limit
    case .signingIn(_, let signIn): min(limit, signIn.deadline ?? limit)
    case .up(let session):
      hasMore ? 0 : (channels.compactMap(\.nextTry) + [nextProbe(session.wire)]).min()
    case .over: isTold ? nil : 0
    }
  }

  /// Goes on as far as it can without blocking; the user may be asked for a passphrase.
  public func advance(_ set: PollSet, now: Double) {
    defer { if case .over = phase { isTold = true } }
    if let wire {
      wire.now = now
      // Strangers, with whom libssh2 deals byte by byte, get less.
      wire.budget = session == nil ? SSH2Wire.turnBudget / 16 : SSH2Wire.turnBudget
      if set.isReadable(wire.descriptor) { wire.mayRead = true }
      wire.flush()
    }
    if case .up = phase {
      pump()
      probe(now)
    } else {
      open(set, now)
    }
  }

  /// Starts a command on a terminal of the host's.
  public func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel {
    start(SSH2Channel(self, command: command, terminal: (term, size)))
  }

  /// Starts a command without a terminal.
  public func run(_ command: String) -> any Channel {
    start(SSH2Channel(self, command: command, terminal: nil))
  }

  /// Ends everything at once. The host is told, if that goes without waiting.
  public func close() {
    for channel in channels { channel.giveUp() }
    if case .up(let session) = phase { session.disconnect() }
    end(.closed)
  }

  /// libssh2 takes no request of more than 35000 bytes in all, and says so in odd words.
  static let longestCommand = 32_000

  private func start(_ channel: SSH2Channel) -> SSH2Channel {
    if case .ended(let failure) = state {
      channel.end(.failed(failure))
    } else if channel.command.utf8.count > Self.longestCommand {
      channel.end(.failed(.tooLong))
    } else {
      channels.append(channel)
      if let session { channel.advance(session) }
    }
    return channel
  }

  /// The session, once channels can be opened.
  var session: SSH2Session? {
    if case .up(let session) = phase { session } else { nil }
  }

  private var wire: SSH2Wire? {
    switch phase {
    case .shaking(let session), .signingIn(let session, _), .up(let session): session.wire
    case .dialling, .over: nil
    }
  }

  /// It is over, for all channels too.
  func end(_ failure: HostFailure) {
    if case .ended = state { return }
    state = .ended(failure)
    let session = session
    let left = channels
    channels = []
    // What has come is still read.
    for channel in left { channel.finish(failure, session) }
    retired = []
    parked = nil
    // The last reference to the session, which closes the connection.
    phase = .over
  }
}

extension SSH2Link {
  /// Goes on with whatever comes before `ready`.
  func open(_ set: PollSet, _ now: Double) {
    var before = -1
    while before != step, case .opening = state {
      before = step
      switch phase {
      case .dialling(let dial): connect(dial.advance(set, now: now), now)
      case .shaking(let session): shake(session, now)
      case .signingIn(let session, let signIn): signIn.advance(now: now, in: self, session)
      case .up, .over: return
      }
    }
    if case .opening = state, now >= limit {
      end(.connectFailed(why: "no answer in time"))
    }
  }

  /// A number for each phase, to see that one has passed.
  private var step: Int {
    switch phase {
    case .dialling: 0
    case .shaking: 1
    case .signingIn: 2
    case .up, .over: 3
    }
  }

  /// The host, for messages.
  var place: String { Destination.pinName(host: host, port: port) }

  private func connect(_ progress: SSH2Dial.Progress, _ now: Double) {
    switch progress {
    case .waiting: break
    case .failed(let why): end(.connectFailed(why: why))
    case .connected(let descriptor):
      let wire = SSH2Wire(descriptor: descriptor, now: now)
      let known = policy?.preferredTypes(host: host, port: port) ?? []
      guard let session = SSH2Session(wire: wire, hostKeyTypes: known) else {
        return end(.local(why: "libssh2 cannot be used"))
      }
      phase = .shaking(session)
    }
  }

  private func shake(_ session: SSH2Session, _ now: Double) {
    let result = session.handshake()
    if result == LIBSSH2_ERROR_EAGAIN {
      if session.wire.ending != nil, session.wire.isDrained { end(failure(session)) }
      return
    }
    guard result == 0 else { return end(failure(session)) }
    session.wire.dropGreeting()
    request.note("\(place): \(session.banner ?? "?") (\(session.agreement))")
    if let failure = judge(session) { return end(failure) }
    let user = request.destination.user ?? Self.localUser
    phase = .signingIn(
      session, SSH2SignIn(session: session, request: request, user: user, now: now))
  }

  /// Whether to go on with the host's key: nothing of signing in has been sent yet.
  private func judge(_ session: SSH2Session) -> HostFailure? {
    guard let policy, let key = session.hostKey else {
      return .hostKeyUnknown(why: "\(place): no host key")
    }
    switch policy.judge(host: host, port: port, key: key) {
    case .known: return nil
    case .refused(let failure): return failure
    case .new(let fingerprint):
      do throws(SettingsError) {
        try policy.pin(host: host, port: port, key: key)
      } catch {
        return .hostKeyUnknown(why: error.message)
      }
      let kind = HostKey(blob: key)?.kind ?? "host"
      request.tell("\(place): new host, pinned its \(kind) key \(fingerprint)")
      return nil
    }
  }

  /// Why the way to `ready` ended.
  func failure(_ session: SSH2Session, tried: [String]? = nil) -> HostFailure {
    let wire = session.wire
    if let theirs = KeyExchangeOffer(greeting: wire.greeting),
      let detail = session.offer.mismatch(with: theirs)
    {
      return .noCommonAlgorithm(detail: detail)
    }
    if let farewell = wire.farewell {
      // It is keys that a host has had enough of, once it was shown some.
      if let tried, !tried.isEmpty, farewell.isRefusal {
        return .authFailed(tried: tried + ["host: \(farewell.words)"])
      }
      return .connectFailed(why: farewell.words)
    }
    if let line = KeyExchangeOffer.strangeLine(wire.greeting) {
      return .connectFailed(why: "not an SSH server, it says: \(line)")
    }
    return .connectFailed(why: wire.ending ?? session.lastReason)
  }

  private static var localUser: String {
    guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else {
      return Process.environment("LOGNAME") ?? "root"
    }
    return String(cString: name)
  }
}

extension SSH2SignIn {
  /// Goes on, and takes the link to what comes next.
  fileprivate func advance(now: Double, in link: SSH2Link, _ session: SSH2Session) {
    let asked = secondsAsked
    let progress = advance(now: now)
    link.limit += secondsAsked - asked
    switch progress {
    case .waiting:
      if session.wire.ending != nil, session.wire.isDrained {
        link.end(link.failure(session, tried: tried))
      }
    case .failed(let failure): link.end(failure)
    case .broken: link.end(link.failure(session, tried: tried))
    case .done(let how):
      link.request.note("signed in with \(how)")
      link.phase = .up(session)
      link.state = .ready
      link.pump()
    }
  }
}

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
