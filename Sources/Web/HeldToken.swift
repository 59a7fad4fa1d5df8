public import Core

/// The token of a server, and where another is to be had when it is refused. Of the commands'
/// one thread.
public final class HeldToken: @unchecked Sendable {
  public private(set) var token: Secret
  private let origin: Origin
  private let header: (Secret, Request) -> Header
  private let again: (_ runs: Bool) -> Secret?

  /// - Parameters:
  ///   - origin: the only place where it may go.
  ///   - again: reads it anew, where it may by running a command; nil where that cannot be done.
  public init(
    _ token: Secret, of origin: Origin, header: @escaping (Secret, Request) -> Header,
    again: @escaping (_ runs: Bool) -> Secret? = { _ in nil }
  ) {
    (self.token, self.origin, self.header, self.again) = (token, origin, header, again)
  }

  /// Puts the newest token that is known into a request to its server.
  public func authorize(_ request: inout Request) {
    guard request.address.origin == origin else { return }
    let header = header(token, request)
    request.privateHeaders.removeAll { $0.isNamed(header.name) }
    request.privateHeaders.append(header)
    request.unquotable.append(token.reveal())
    request.token = self
  }

  /// Looks for another token than a refused request had, and puts that in; whether there is one.
  func renew(_ request: inout Request, status: Int) -> Bool {
    guard request.address.origin == origin else { return false }
    // Another request may have found it; and a tunnel's 404 may say only that a path is not there.
    if request.privateHeaders.contains(header(token, request)), !isRenewed(runs: status != 404) {
      return false
    }
    authorize(&request)
    return true
  }

  /// Whether another token was found than the one that is known.
  public func isRenewed(runs: Bool) -> Bool {
    guard let other = again(runs), other.reveal() != token.reveal() else { return false }
    token = other
    return true
  }
}
