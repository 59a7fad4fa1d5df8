import CLibc
import CSSH2
import Core

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
