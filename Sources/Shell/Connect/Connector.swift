import CLibc
import Core

/// Chooses what carries a link.
public enum Connector {
  /// Makes a link by the transport that the request asks for, or that fits the host.
  public static func link(
    for request: LinkRequest, _ wait: @escaping HostWait
  ) throws(HostFailure) -> any Link {
    if request.destination.isHere { return LocalLink() }
    let choice = request.options.transport
    func note(_ transport: TransportName, _ why: String) {
      request.note("\(request.destination.name): by \(transport.rawValue): \(why)")
    }
    switch choice {
    case .libssh2:
      note(.libssh2, "asked for")
      return try libssh2(request, SharedLink(request), wait)
    case .ssh:
      note(.ssh, "asked for")
      return try openSSH(request, nil, wait)
    case .auto: break
    }
    if !request.isForTerminal, !request.isFresh, OpenSSHLink.hasMaster(request) {
      // Chosen before by the same request: there is nothing to ask.
      note(.ssh, "a connection is up already")
      return try openSSH(request, nil, wait)
    }
    if let shared = SharedLink(request) {
      note(.libssh2, "a terminal is attached by it")
      return try libssh2(request, shared, wait)
    }
    let settings = try SSHSettings.ask(request.destination, wait)
    let fit = TransportChoice.choose(facts(request), settings)
    note(fit.transport, fit.reason)
    if fit.transport == .ssh { return try openSSH(request, settings, wait) }
    do throws(HostFailure) {
      return try libssh2(request, SharedLink(request), wait)
    } catch .noCommonAlgorithm(let detail) where settings != nil {
      request.note(detail)
      note(.ssh, "libssh2 and the host do not agree")
      return try openSSH(request, settings, wait)
    }
  }

  /// By libssh2: a link for calls shares that of a terminal, if there is one that answers.
  private static func libssh2(
    _ request: LinkRequest, _ shared: SharedLink?, _ wait: @escaping HostWait
  ) throws(HostFailure) -> any Link {
    if let shared, try shared.isAnswered(wait) { return shared }
    return try SSH2Link(request, wait)
  }

  private static func openSSH(
    _ request: LinkRequest, _ settings: SSHSettings?, _ wait: @escaping HostWait
  ) throws(HostFailure) -> any Link {
    // What is written to an ssh that has ended must not end us.
    clibc_signal_ignore(SIGPIPE)
    return request.isForTerminal
      ? try SSHTerminalLink(request, settings, wait) : try OpenSSHLink(request, settings, wait)
  }

  private static func facts(_ request: LinkRequest) -> TransportChoice.Facts {
    let destination = request.destination
    var facts = TransportChoice.Facts(
      host: destination.host, user: destination.user, login: login ?? "",
      port: destination.port)
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

  /// The user's name on this machine; nil where nobody knows it.
  static var login: String? {
    guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return nil }
    return String(cString: name)
  }
}
