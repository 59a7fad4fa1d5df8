import Core

/// The way of a request over its redirects: what may be said of it, and where it goes
/// next.
final class RequestRoute {
  /// What no message may quote, whatever server on the way sends it.
  private(set) var mask: SecretMask
  private let first: WebAddress
  private var redirects = 0
  /// Whether a location that was followed had a secret in it, of which a part may have
  /// become a host or a path of its own.
  private var isMasked = false

  init(_ request: Request) {
    mask = request.mask
    first = request.address
  }

  /// Goes on with another token.
  func renew(_ request: Request) { mask = request.mask }

  /// Of the first request.
  var origin: Origin { first.origin }

  /// Where the request on its way goes, for messages.
  func place(of request: Request) -> String {
    if redirects == 0 || isMasked { return first.socketDisplay }
    return mask.hide(request.address.socketDisplay)
  }

  /// A reason as a message may have it.
  func hide(_ reason: String) -> String {
    isMasked ? "the redirect failed" : mask.hide(reason)
  }

  /// The request that a redirect asks for.
  func next(
    _ request: Request, _ head: ResponseHead, to location: String
  ) -> Result<Request, Failure> {
    redirects += 1
    isMasked = isMasked || mask.hide(location) != location
    do throws(Failure) {
      let next = try request.redirected(status: head.status, to: location)
      if redirects > Exchange.maxRedirects {
        return .failure(Failure("\(head.summary): too many redirects"))
      }
      return .success(next)
    } catch {
      return .failure(Failure("\(head.summary): bad location: \(error.reason)"))
    }
  }
}
