import CLibc
import Core

extension LinkRequest {
  /// Makes a link by the transport that is asked for, or that fits the host.
  public func link(_ wait: @escaping HostWait) throws(HostFailure) -> any Link {
    if destination.isHere { return LocalLink() }
    func note(_ transport: TransportName, _ why: String) {
      self.note("\(destination.name): by \(transport.rawValue): \(why)")
    }
    switch options.transport {
    case .libssh2:
      note(.libssh2, "asked for")
      return try libssh2(SharedLink(self), wait)
    case .ssh:
      note(.ssh, "asked for")
      return try openSSH(nil, wait)
    case .auto: break
    }
    if !isForTerminal, !isFresh, OpenSSHLink.hasMaster(self) {
      // Chosen before by the same request: there is nothing to ask.
      note(.ssh, "a connection is up already")
      return try openSSH(nil, wait)
    }
    if let shared = SharedLink(self) {
      note(.libssh2, "a terminal is attached by it")
      return try libssh2(shared, wait)
    }
    let settings = try SSHSettings.ask(destination, wait)
    if let settings, let reason = transportFacts.reasonForOpenSSH(settings) {
      note(.ssh, reason)
      return try openSSH(settings, wait)
    }
    note(.libssh2, settings == nil ? "no ssh here" : "a plain host")
    do throws(HostFailure) {
      return try libssh2(SharedLink(self), wait)
    } catch .noCommonAlgorithm(let detail) where settings != nil {
      self.note(detail)
      note(.ssh, "libssh2 and the host do not agree")
      return try openSSH(settings, wait)
    }
  }

  /// By libssh2: a link for calls shares that of a terminal, if there is one that answers.
  private func libssh2(
    _ shared: SharedLink?, _ wait: @escaping HostWait
  ) throws(HostFailure) -> any Link {
    if let shared, try shared.isAnswered(wait) { return shared }
    return try SSH2Link(self, wait)
  }

  private func openSSH(
    _ settings: SSHSettings?, _ wait: @escaping HostWait
  ) throws(HostFailure) -> any Link {
    // What is written to an ssh that has ended must not end us.
    clibc_signal_ignore(SIGPIPE)
    return isForTerminal
      ? try SSHTerminalLink(self, settings, wait) : try OpenSSHLink(self, settings, wait)
  }

  private var transportFacts: TransportFacts {
    let (host, port) = (destination.host, destination.port ?? 22)
    // A file that is damaged is the chosen link's to tell.
    let policy = try? HostKeyPolicy(pins: pins, knownHosts: options.knownHosts)
    return TransportFacts(
      host: host, user: destination.user, login: Self.login ?? "", port: destination.port,
      usesAgent: options.usesAgent, keyProblem: identity.flatMap(TransportFacts.problem),
      knownTypes: policy?.preferredTypes(host: host, port: port) ?? [],
      needsCertificate: policy?.needsCertificate(host: host, port: port) ?? false)
  }

  /// The user's name on this machine; nil where nobody knows it.
  static var login: String? {
    guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return nil }
    return String(cString: name)
  }
}
