import CSSH2
import Core

final class SSH2Channel: Channel {
  enum Step {
    case waiting, opening, askingTerminal, starting, running, over
  }

  private weak var link: SSH2Link?
  let command: String
  private let term: String?
  private var step = Step.waiting
  /// From when the host has opened the channel until it is closed.
  private(set) var handle: SSH2Handle?
  private var size: WindowSize?
  private var sentSize: WindowSize?
  private var outgoing = ByteQueue()
  /// What one piece and a little before it need stays, so that a key costs no memory anew.
  private var incoming = ByteQueue(keeps: 2 * piece)
  private var incomingError = ByteQueue()
  private var isFinishing = false
  private var hasSentEnd = false
  private var hasReadAll = false
  private var isGivenUp = false
  private var isProbing = false
  private var result: Ending?
  /// When it is asked for again, and until when: the host frees a session of its
  /// MaxSessions only a moment after the command has ended.
  private(set) var nextTry: Double?
  private var lastTry: Double?

  /// A terminal's output is for eyes, and held back early; files come over long distances.
  private var window: UInt32 { term == nil ? 2 << 20 : 512 << 10 }
  static let piece = 64 << 10

  init(_ link: SSH2Link, command: String, terminal: (term: String, size: WindowSize)?) {
    self.link = link
    self.command = command
    term = terminal?.term
    size = terminal?.size
  }

  var ending: Ending? { incoming.isEmpty && incomingError.isEmpty ? result : nil }
  private(set) var isStarted = false
  var isOver: Bool { step == .over }
  /// Whether its opening is under way, which makes libssh2 read.
  var isOpening: Bool { step == .opening }

  func read(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    incoming.take(into: &buffer, atMost: limit)
  }

  func readError(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    incomingError.take(into: &buffer, atMost: limit)
  }

  var room: Int {
    guard result == nil, !isFinishing, let link else { return 0 }
    if let wire = link.session?.wire, wire.queued > SSH2Link.queueLimit { return 0 }
    return max(0, SSH2Link.queueLimit - outgoing.count)
  }

  func write(_ bytes: ArraySlice<UInt8>) -> Int {
    let count = min(room, bytes.count)
    guard count > 0 else { return 0 }
    outgoing.append(bytes.prefix(count))
    send()
    return count
  }

  func finishWriting() {
    isFinishing = true
    send()
  }

  var isDrained: Bool {
    guard result == nil else { return true }
    let queued = link?.session?.wire.queued ?? 0
    return outgoing.isEmpty && queued == 0 && (!isFinishing || hasSentEnd)
  }

  func resize(_ size: WindowSize) {
    guard term != nil else { return }
    self.size = size
    send()
  }

  func close() {
    giveUp()
    if let link, let session = link.session, step != .over { advance(session) }
  }

  /// Ends it for its owner; what libssh2 still has of it is left to `advance`.
  func giveUp() {
    guard result == nil else { return }
    incoming.removeAll()
    incomingError.removeAll()
    outgoing.removeAll()
    isGivenUp = true
    result = .failed(.closed)
  }

  func end(_ ending: Ending) {
    if result == nil { result = ending }
    step = .over
    handle = nil
    outgoing.removeAll()
  }

  func finish(_ failure: HostFailure, _ session: SSH2Session?) {
    guard let handle, let session, step == .running, !isGivenUp else {
      return end(.failed(failure))
    }
    // The first call may still tell of the error that ended the link.
    _ = drain(handle)
    _ = drain(handle)
    let hasClosed =
      !session.wire.isDamaged && handle.hasEnded && handle.waitUntilClosed() == 0
    end(hasClosed ? handle.ending : .failed(failure))
  }

  // MARK: - driven by the link

  func advance(_ session: SSH2Session) {
    while true {
      let before = step
      switch step {
      case .waiting: begin()
      case .opening: open(session)
      case .askingTerminal: askTerminal(session)
      case .starting: start(session)
      case .running: transfer(session)
      case .over: return
      }
      guard step != before else { return }
    }
  }

  private func begin() {
    if isGivenUp {
      step = .over
      return
    }
    guard let link, link.opener == nil else { return }
    if let nextTry, let now = link.session?.wire.now, now < nextTry { return }
    nextTry = nil
    link.opener = self
    step = .opening
  }

  private func open(_ session: SSH2Session) {
    handle = SSH2Handle.open(session, window: window)
    if session.wire.isDamaged { return refused(LIBSSH2_ERROR_DECRYPT, "", session) }
    if handle == nil && session.lastError == LIBSSH2_ERROR_EAGAIN { return }
    link?.opener = nil
    guard let handle else { return notOpened(session) }
    link?.hasOpened = true
    if isGivenUp { return retire(session) }
    guard term != nil else {
      step = .starting
      return
    }
    // One stream: nothing of it could be told apart on a terminal.
    handle.mergeStreams()
    step = .askingTerminal
  }

  private func askTerminal(_ session: SSH2Session) {
    guard let handle, let term, let asked = sentSize ?? size else { return }
    sentSize = asked
    let result = handle.requestTerminal(term, asked)
    if result == LIBSSH2_ERROR_EAGAIN { return }
    if isGivenUp { return retire(session) }
    guard result == 0 else { return refused(result, "refused a terminal", session) }
    step = .starting
  }

  private func start(_ session: SSH2Session) {
    guard let handle else { return }
    let result = handle.start(command)
    if result == LIBSSH2_ERROR_EAGAIN { return }
    if isGivenUp { return retire(session) }
    guard result == 0 else { return refused(result, "refused the command", session) }
    isStarted = true
    step = .running
  }

  /// Tries again for a while where only channels that have ended can be in the way.
  private func notOpened(_ session: SSH2Session) {
    let code = session.lastError
    guard code == LIBSSH2_ERROR_CHANNEL_FAILURE, let link else {
      return refused(code, "refused a channel", session)
    }
    guard link.hasOpened else {
      return end(.failed(.unfit(why: "the host grants no session: \(session.lastReason)")))
    }
    let now = session.wire.now
    let last = lastTry ?? now + 5
    lastTry = last
    guard now < last, !link.channels.contains(where: { $0 !== self && $0.handle != nil }) else {
      return refused(code, "refused a channel", session)
    }
    nextTry = now + 0.05
    step = .waiting
  }

  private func refused(_ code: Int32, _ what: String, _ session: SSH2Session) {
    guard let link, link.check(code, session) else { return }
    let why = "the host \(what): \(session.lastReason)"
    // What sshd_config denies (PermitTTY) it denies the next time, too.
    let failure: HostFailure =
      code == LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED
      ? .unfit(why: why) : .connectFailed(why: why)
    if handle != nil { retire(session) }
    end(.failed(failure))
  }

  private func retire(_ session: SSH2Session) {
    if let handle { link?.retire(handle, session) }
    handle = nil
    step = .over
  }

  private func transfer(_ session: SSH2Session) {
    guard let handle else { return }
    if isGivenUp { return retire(session) }
    send()
    if isProbing { isProbing = handle.probe() == LIBSSH2_ERROR_EAGAIN }
    guard link?.session != nil else { return }
    receive(handle, session)
  }

  var canProbe: Bool { step == .running && !isGivenUp && !isProbing }

  /// Asks the host for a sign of life, with the next `advance`.
  func probe() { isProbing = true }

  // MARK: - to the host

  private func send() {
    guard step == .running, let handle, let link, let session = link.session else { return }
    if let size, size != sentSize {
      if handle.resize(size) != LIBSSH2_ERROR_EAGAIN { sentSize = size }
    }
    while !outgoing.isEmpty, session.wire.queued < SSH2Link.queueLimit {
      let count = handle.write(outgoing.bytes)
      if count == 0 || count == Int(LIBSSH2_ERROR_EAGAIN) { return }
      if count < 0 {
        // The other end takes no more.
        if link.check(Int32(count), session) { outgoing.removeAll() }
        return
      }
      outgoing.drop(count)
    }
    guard isFinishing, outgoing.isEmpty, !hasSentEnd else { return }
    hasSentEnd = handle.finishWriting() != LIBSSH2_ERROR_EAGAIN
  }

  // MARK: - from the host

  private func receive(_ handle: SSH2Handle, _ session: SSH2Session) {
    if !hasReadAll {
      if incoming.count + incomingError.count >= SSH2Link.queueLimit {
        // Held back: the connection is read all the same, or keepalives and new keys
        // would wait for our reader.
        let result = handle.waitForEnd()
        guard result == 0 else {
          link?.check(result, session)
          return
        }
      }
      let result = drain(handle)
      guard link?.check(result, session) ?? false else { return }
      hasReadAll = handle.hasEnded
    }
    guard hasReadAll else { return }
    let result = handle.waitUntilClosed()
    if result == LIBSSH2_ERROR_EAGAIN { return }
    guard link?.check(result, session) ?? false else { return }
    let ending = handle.ending
    // From here on nobody asks for more window on a channel that the host has forgotten.
    handle.fillWindow()
    self.handle = nil
    link?.retire(handle, session)
    end(ending)
  }

  /// Takes all: libssh2 gives the host new room with each call, whatever was taken.
  private func drain(_ handle: SSH2Handle) -> Int32 {
    let result = handle.drain(0, into: &incoming)
    guard term == nil, result == 0 else { return result }
    return handle.drain(SSH_EXTENDED_DATA_STDERR, into: &incomingError)
  }
}
