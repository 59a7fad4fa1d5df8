import CLibc
import Core

/// A connection that another process of the user has: commands go to its control
/// socket. Where that process does not answer, or takes no more commands, a connection
/// of our own is made.
final class SharedLink: Link {
  private let request: LinkRequest
  private let path: String
  /// Asks whether the other process answers; the first command then goes over it.
  private var contact: MuxConnection?
  /// When the other process must have answered.
  private let limit: Double
  private var isReady = false
  private var isClosed = false
  private var own: SSH2Link?
  private var calls: [SharedChannel] = []

  /// Seconds: one that is stopped never answers.
  private static let patience = 0.3

  /// - Returns: nil when nobody serves what is asked for.
  init?(_ request: LinkRequest, now: Double) {
    guard !request.isForTerminal, !request.isFresh,
      let place = try? ControlPlace(shared: request), let contact = MuxConnection(place.socket)
    else { return nil }
    clibc_signal_ignore(SIGPIPE)
    self.request = request
    self.contact = contact
    path = place.socket
    limit = now + Self.patience
  }

  deinit { close() }

  let transport = TransportName.libssh2

  var state: LinkState {
    if isClosed { return .ended(.closed) }
    return own?.state ?? (isReady ? .ready : .opening)
  }

  var deadline: Double? {
    guard !isClosed else { return nil }
    var times = calls.map(\.deadline)
    times.append(own?.deadline)
    if own == nil { times.append(contact?.phase == .gone ? 0 : isReady ? nil : limit) }
    return times.compactMap { $0 }.min()
  }

  func wants(_ set: inout PollSet) {
    contact?.wants(&set)
    own?.wants(&set)
    for call in calls { call.wants(&set) }
  }

  func advance(_ set: PollSet, now: Double) {
    guard !isClosed else { return }
    own?.advance(set, now: now)
    if own == nil { look(now) }
    for call in calls {
      call.advance(set, now: now)
      if call.needsConnection { connect(now, "it does not take the command") }
      if let own { call.advance(over: own) }
    }
    calls.removeAll { $0.ending != nil }
  }

  /// There are none: a terminal has a connection of its own.
  func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel {
    MuxChannel(failing: .local(why: "no terminal on a shared connection"))
  }

  func run(_ command: String) -> any Channel {
    if let own { return own.run(command) }
    guard case .ready = state else { return MuxChannel(failing: .local(why: "not ready")) }
    guard command.utf8.count <= SSH2Link.longestCommand else {
      return MuxChannel(failing: .tooLong)
    }
    let now = Clock.monotonic
    let call = SharedChannel(
      command, path, over: contact, patience: request.options.keepalive * 3 + 1, now: now)
    contact = nil
    if call.needsConnection { connect(now, "it has gone") }
    calls.append(call)
    return call
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    for call in calls { call.close() }
    calls = []
    contact = nil
    own?.close()
  }

  private func look(_ now: Double) {
    guard let contact else { return }
    contact.advance()
    switch contact.phase {
    case .gone: connect(now, "it has gone")
    case .refused(let why): connect(now, why)
    default:
      if isReady { return }
      if let process = contact.master {
        isReady = true
        request.note(
          "\(request.destination.name): by libssh2: shares the connection of process \(process)")
      } else if now >= limit {
        connect(now, "it does not answer")
      }
    }
  }

  private func connect(_ now: Double, _ why: String) {
    guard own == nil else { return }
    request.note("\(request.destination.name): shares no connection: \(why)")
    contact = nil
    own = SSH2Link(request, now: now)
  }
}

/// A command over another process's connection; when that does not take it, over one of
/// our own.
final class SharedChannel: Channel {
  private let command: String
  private let patience: Double
  private var shared: MuxChannel?
  private var own: (any Channel)?
  private var isFinishing = false
  private var result: Ending?

  /// Goes to a control socket.
  ///
  /// - Parameters:
  ///   - contact: a connection to it that nothing was asked of yet.
  ///   - patience: seconds in which the host must answer.
  init(
    _ command: String, _ path: String, over contact: MuxConnection?, patience: Double, now: Double
  ) {
    self.command = command
    self.patience = patience
    let call = MuxChannel(command)
    if call.start(path, over: contact, patience: patience, now: now) { shared = call }
  }

  /// Whether it has reached nobody, and is to go over a connection of our own.
  var needsConnection: Bool { shared == nil && own == nil && result == nil }

  var ending: Ending? { result ?? shared?.ending ?? own?.ending }
  var isStarted: Bool { active?.isStarted ?? false }
  var isDrained: Bool { active?.isDrained ?? true }
  var room: Int { active?.room ?? 0 }
  var deadline: Double? { result == nil ? shared?.deadline : nil }

  func wants(_ set: inout PollSet) {
    if result == nil { shared?.wants(&set) }
  }

  func advance(_ set: PollSet, now: Double) {
    guard result == nil, let shared else { return }
    let need = shared.advance(set, now: now)
    if shared.isRefused {
      self.shared = nil
    } else if need != .nothing {
      // It may have reached the host all the same: nobody does it twice.
      fail(
        now >= shared.limit
          ? .silent(seconds: patience) : .linkLost(why: "the process that had it is gone"))
    } else if shared.isCut {
      fail(.linkLost(why: "the shared connection is gone"))
    }
  }

  /// Goes over a connection of our own, once that is there.
  func advance(over link: any Link) {
    guard needsConnection else { return }
    switch link.state {
    case .opening: break
    case .ended(let failure): result = .failed(failure)
    case .ready:
      own = link.run(command)
      if isFinishing { own?.finishWriting() }
    }
  }

  func read(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    active?.read(&buffer, atMost: limit) ?? 0
  }

  func readError(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    active?.readError(&buffer, atMost: limit) ?? 0
  }

  /// Before the host runs it nothing is taken: it may have to go another way.
  func write(_ bytes: ArraySlice<UInt8>) -> Int { active?.write(bytes) ?? 0 }

  func finishWriting() {
    isFinishing = true
    shared?.finishWriting()
    own?.finishWriting()
  }

  func resize(_ size: WindowSize) {}

  func close() {
    shared?.close()
    own?.close()
    result = ending ?? .failed(.closed)
  }

  private var active: (any Channel)? {
    if let own { return own }
    guard let shared, shared.isStarted else { return nil }
    return shared
  }

  private func fail(_ failure: HostFailure) {
    shared?.close()
    result = .failed(failure)
  }
}
