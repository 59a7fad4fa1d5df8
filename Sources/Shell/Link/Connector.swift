import Core

/// Chooses what carries a link.
public enum Connector {
  /// Begins a link by the transport that the request asks for, or that fits the host.
  /// Never blocks and never fails: what goes wrong is the link's ending.
  public static func link(for request: LinkRequest, now: Double) -> any Link {
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
