public import Core

/// How a request with its redirects ended.
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

/// A request whose redirects are followed, with the origin compared at each
/// (`Request.redirected`): libcurl itself would carry the user's headers along.
public class Exchange {
  /// The most redirects that are followed.
  public static let maxRedirects = 20

  private let client: WebClient
  private var transfer: Transfer?
  private var redirects = 0
  private var next: Result<Request, Failure>?
  private var redirectSummary = ""
  /// The same request with another token, as the one that it had was refused.
  private var renewed: Request?
  private var hasRenewed = false
  private var encoding = ""
  private var receivedBefore: Int64 = 0
  /// The request on its way now; after redirects, the last one.
  public private(set) var request: Request
  /// What no message may quote, whatever server on the way sends it.
  private var mask: SecretMask
  /// A location may have put a secret into a host or a path, in part.
  private var isMasked = false
  private let first: WebAddress

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
    mask = request.mask
    first = request.address
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
  final var currentPlace: String {
    if redirects == 0 || isMasked { return first.display }
    return mask.hide(request.address.display)
  }

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
    head.mask = mask
    encoding = head.value("Content-Encoding").map { " (\(head.quoted($0)))" } ?? ""
    if !hasRenewed, let other = request.renewed(after: head) {
      renewed = other
      return false
    }
    if request.followsRedirects, head.isRedirect, let location = head.value("Location"),
      !location.isEmpty
    {
      redirectSummary = head.summary
      isMasked = isMasked || mask.hide(location) != location
      do throws(Failure) {
        next = .success(try request.redirected(status: head.status, to: location))
      } catch {
        next = .failure(error)
      }
      return false
    }
    return received(head)
  }

  /// The end of a transfer.
  final func transferred(_ end: TransferEnd) {
    receivedBefore += transfer?.received ?? 0
    isMistrusted = transfer?.isMistrusted ?? false
    transfer = nil
    if let other = renewed {
      (renewed, hasRenewed) = (nil, true)
      request = other
      mask = other.mask
      return start()
    }
    if let redirect = next {
      next = nil
      redirects += 1
      switch redirect {
      case .failure(let error):
        unusable("\(redirectSummary): bad location: \(error.reason)")
      case .success where redirects > Self.maxRedirects:
        unusable("\(redirectSummary): too many redirects")
      case .success(let request):
        self.request = request
        start()
      }
      return
    }
    switch end {
    case .complete: ended(.complete)
    case .stopped: ended(.stopped)
    case .unreadable: unusable("the encoding of the answer cannot be read\(encoding)")
    case .final(let failure): ended(.unusable(failure))
    case .network(let reason):
      ended(.network(isMasked ? "the redirect failed" : mask.hide(reason)))
    }
  }

  private func unusable(_ reason: String) { ended(.unusable(Failure(reason, .failure))) }
}
