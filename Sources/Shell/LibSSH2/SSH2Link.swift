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
