public import Core

/// What is known of a request over all its redirects, of which the origin is compared at each
/// (`Request.redirected`): libcurl itself would carry the user's headers along.
struct RequestRoute {
  /// The most redirects that are followed.
  private static let most = 20

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

  /// The request goes out once more, with another token.
  mutating func renew(_ request: Request) { mask = request.mask }

  var origin: Origin { first.origin }

  /// The address of the request on its way, for messages.
  func place(of request: Request, as shown: (WebAddress) -> String) -> String {
    redirects == 0 || isMasked ? shown(first) : mask.hide(shown(request.address))
  }

  func hide(_ reason: String) -> String {
    isMasked ? "the redirect failed" : mask.hide(reason)
  }

  mutating func next(
    _ request: Request, _ head: ResponseHead, to location: String
  ) throws(Failure) -> Request {
    redirects += 1
    isMasked = isMasked || mask.hide(location) != location
    let next = try Failure.rethrowing(
      try request.redirected(status: head.status, to: location),
      as: { Failure("\(head.summary): bad location: \($0.reason)") })
    if redirects > Self.most { throw Failure("\(head.summary): too many redirects", .failure) }
    return next
  }
}

/// How a request with its redirects ended, or one of its transfers.
public enum ExchangeEnd: Equatable, Sendable {
  /// The whole response came.
  case complete
  /// The owner ended it.
  case stopped
  /// The network failed; a later try may work. One line.
  case network(String)
  /// What no later try betters: redirects that make no sense, a body that is encoded in a way
  /// that cannot be read, or, `denied`, another certificate than the profile's.
  case unusable(Failure)
}

/// A request whose redirects are followed.
public class Exchange {
  private let client: WebClient
  private var transfer: Transfer?
  private var route: RequestRoute
  private var next: Result<Request, Failure>?
  /// The same request with another token, as the one that it had was refused.
  private var renewed: Request?
  private var hasRenewed = false
  /// That of the body, for messages.
  private(set) final var encoding = ""
  private var receivedBefore: Int64 = 0
  /// The request on its way now; after redirects, the last one.
  public private(set) var request: Request

  /// Whether it failed since the server's certificate is not trusted, or it speaks no TLS.
  public private(set) var isMistrusted = false

  private let onSend: (() -> Bool)?

  /// - Parameters:
  ///   - client: whose `perform` drives it.
  ///   - request: what to ask.
  ///   - onSend: asked when there is a connection, before a byte of a request is on it, again
  ///     behind each redirect; false ends the exchange. Without an answer to it nothing was sent.
  init(_ client: WebClient, _ request: Request, onSend: (() -> Bool)? = nil) {
    self.client = client
    var request = request
    request.token?.authorize(&request)
    self.request = request
    route = RequestRoute(request)
    self.onSend = onSend
  }

  deinit { cancel() }

  /// The last head; false ends the exchange.
  func received(_ head: ResponseHead) -> Bool { true }
  /// A piece of the last body.
  func received(_ bytes: UnsafeRawBufferPointer) -> BodyFlow { .taken }
  /// The end, once, unless `cancel` came first.
  func ended(_ end: ExchangeEnd) {}

  /// Ends the exchange; nothing more is told.
  public final func cancel() {
    if let transfer { client.cancel(transfer) }
    transfer = nil
  }

  /// Goes on after `BodyFlow.pause`.
  final func resume() {
    if let transfer { client.resume(transfer) }
  }

  /// Bytes that came so far, over all redirects: it grows while the peer lives.
  final var receivedCount: Int64 { receivedBefore + (transfer?.received ?? 0) }

  /// The address of the request on its way, for messages.
  final var currentPlace: String { route.place(of: request) { $0.display } }

  /// Sends the request.
  final func start() {
    guard let transfer = Transfer(self, request, client) else {
      ended(.network("out of memory"))
      return
    }
    if !transfer.asks(onSend) {
      if let fault = request.trust.fault(of: nil, at: request.address) {
        return ended(.unusable(fault))
      }
      if onSend?() == false { return ended(.stopped) }
    }
    self.transfer = transfer
    client.start(transfer)
  }

  /// The head of a transfer; false ends that.
  final func transferred(_ head: ResponseHead) -> Bool {
    var head = head
    head.mask = route.mask
    encoding = head.value("Content-Encoding").map { " (\(head.quoted($0)))" } ?? ""
    if !hasRenewed, let other = request.renewed(after: head) {
      renewed = other
      return false
    }
    if request.followsRedirects, head.isRedirect, let location = head.value("Location"),
      !location.isEmpty
    {
      next = Result { () throws(Failure) in try route.next(request, head, to: location) }
      return false
    }
    return received(head)
  }

  /// The end of a transfer.
  final func transferred(_ end: ExchangeEnd) {
    receivedBefore += transfer?.received ?? 0
    isMistrusted = transfer?.isMistrusted ?? false
    transfer = nil
    if let other = renewed {
      (renewed, hasRenewed) = (nil, true)
      request = other
      route.renew(other)
      return start()
    }
    if let redirect = next {
      next = nil
      switch redirect {
      case .failure(let problem): ended(.unusable(problem))
      case .success(let request):
        self.request = request
        start()
      }
      return
    }
    if case .network(let reason) = end { return ended(.network(route.hide(reason))) }
    ended(end)
  }
}
