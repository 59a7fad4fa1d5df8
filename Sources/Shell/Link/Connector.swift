import Core

/// Chooses what carries a link.
public enum Connector {
  /// Begins a link by the transport that the request asks for, or that fits the host.
  public static func link(for request: LinkRequest, now: Double) -> any Link {
    SSH2Link(request, now: now)
  }
}
