import Core

final class RequestRoute {
  /// What no message may quote, whatever server on the way sends it.
  private(set) var mask: SecretMask
  private let first: WebAddress
  private var redirects = 0
  /// A location may have put a secret into a host or a path, in part.
  private var isMasked = false

  init(_ request: Request) {
    mask = request.mask
    first = request.address
  }

  func renew(_ request: Request) { mask = request.mask }

  var origin: Origin { first.origin }

  func place(of request: Request) -> String {
    if redirects == 0 || isMasked { return first.socketDisplay }
    return mask.hide(request.address.socketDisplay)
  }

  func hide(_ reason: String) -> String {
    isMasked ? "the redirect failed" : mask.hide(reason)
  }

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
