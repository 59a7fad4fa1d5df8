import CLibc
public import Core

/// Chooses what carries a link.
public enum Connector {
  /// Begins a link by the transport that the request asks for, or that fits the host.
  /// Never blocks and never fails: what goes wrong is the link's ending.
  public static func link(for request: LinkRequest, now: Double) -> any Link {
    if request.destination.isHere { return LocalLink() }
    let choice = request.options.transport
    if choice != .auto {
      request.note("\(request.destination.name): by \(choice.rawValue): asked for")
    }
    switch choice {
    case .auto: return AutoLink(request, now: now)
    case .libssh2: return libssh2(request, now: now)
    case .ssh: return OpenSSHLink(request, now: now)
    }
  }

  /// By libssh2: a terminal's link serves other processes, a link for calls shares it.
  static func libssh2(_ request: LinkRequest, now: Double) -> any Link {
    if request.isForTerminal { return ServingLink(SSH2Link(request, now: now), request) }
    return SharedLink(request, now: now) ?? SSH2Link(request, now: now)
  }
}

/// The link of `--transport auto`: asks OpenSSH what it would do for the host, chooses
/// what fits, and goes on with OpenSSH where libssh2 and the host have no algorithm in
/// common.
public final class AutoLink: Link {
  private let request: LinkRequest
  private var question: SSHQuestion?
  private var settings: SSHSettings?
  private var chosen: (any Link)?
  private var ending: HostFailure?

  /// Begins.
  public init(_ request: LinkRequest, now: Double) {
    self.request = request
    if !request.isForTerminal, !request.isFresh, Self.hasMaster(request) {
      // Chosen before by the same request: there is nothing to ask.
      choose(TransportChoice(transport: .ssh, reason: "a connection is up already"), now)
      return
    }
    if let shared = SharedLink(request, now: now) {
      choose(
        TransportChoice(transport: .libssh2, reason: "a terminal is attached by it"), now, shared)
      return
    }
    question = SSHQuestion(
      SSHCommand.question(program: OpenSSHLink.program, request.destination), now: now)
    look(now)
  }

  public var state: LinkState {
    if let ending { return .ended(ending) }
    guard let chosen else { return .opening }
    return mayFallBack ? .opening : chosen.state
  }

  public var transport: TransportName { chosen?.transport ?? .libssh2 }

  public func wants(_ set: inout PollSet) {
    question?.wants(&set)
    chosen?.wants(&set)
  }

  public var deadline: Double? {
    if ending != nil { return nil }
    if mayFallBack { return 0 }
    return question?.deadline ?? chosen?.deadline
  }

  public func advance(_ set: PollSet, now: Double) {
    guard ending == nil else { return }
    question?.advance(now: now)
    look(now)
    chosen?.advance(set, now: now)
    if mayFallBack {
      choose(TransportChoice(transport: .ssh, reason: "libssh2 and the host do not agree"), now)
    }
  }

  public func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel {
    guard let chosen else { return MuxChannel(failing: .local(why: "not ready")) }
    return chosen.openTerminal(command, size: size, term: term)
  }

  public func run(_ command: String) -> any Channel {
    guard let chosen else { return MuxChannel(failing: .local(why: "not ready")) }
    return chosen.run(command)
  }

  public func close() {
    chosen?.close()
    question = nil
    if chosen == nil { ending = ending ?? .closed }
  }

  /// Whether libssh2 has given up for a reason that OpenSSH may not have.
  private var mayFallBack: Bool {
    guard let link = chosen, link.transport == .libssh2, settings != nil,
      case .ended(.noCommonAlgorithm) = link.state
    else { return false }
    return true
  }

  private func look(_ now: Double) {
    guard let question else { return }
    switch question.answer {
    case .none: return
    case .settings(let found):
      settings = found
      choose(TransportChoice.choose(facts, found), now)
    case .missing: choose(TransportChoice.choose(facts, nil), now)
    case .failed(let why): ending = .local(why: why)
    }
    self.question = nil
  }

  private func choose(_ choice: TransportChoice, _ now: Double, _ shared: SharedLink? = nil) {
    if case .ended(.noCommonAlgorithm(let detail)) = chosen?.state { request.note(detail) }
    request.note("\(request.destination.name): by \(choice.transport.rawValue): \(choice.reason)")
    chosen?.close()
    switch choice.transport {
    case .ssh: chosen = OpenSSHLink(request, settings: settings, now: now)
    default: chosen = shared ?? Connector.libssh2(request, now: now)
    }
  }

  private var facts: TransportChoice.Facts {
    let destination = request.destination
    var facts = TransportChoice.Facts(
      host: destination.host, user: destination.user, login: Self.login, port: destination.port)
    facts.usesAgent = request.options.usesAgent
    facts.keyProblem = request.identity.flatMap(KeyFitness.problem)
    // A file that is damaged is the chosen link's to tell.
    if let policy = try? HostKeyPolicy(pins: request.pins, knownHosts: request.options.knownHosts) {
      facts.knownTypes = policy.preferredTypes(
        host: destination.host, port: destination.port ?? 22)
      facts.needsCertificate = policy.needsCertificate(
        host: destination.host, port: destination.port ?? 22)
    }
    return facts
  }

  private static var login: String {
    guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return "" }
    return String(cString: name)
  }

  private static func hasMaster(_ request: LinkRequest) -> Bool {
    guard let place = try? ControlPlace(request, program: OpenSSHLink.program) else { return false }
    return MuxConnection.isTaken(place.socket)
  }
}
