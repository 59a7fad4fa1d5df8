import Core
import Web

/// As nobody, until the server wants a login; then as the profile's identifier.
final class PDSVisit {
  var base: WebAddress { server.base }
  private let server: PDSServer
  private let session: PDSSession
  private var tokens: PDSTokens?
  /// How often in a row a token was refused, and whether the last was made just now.
  private var refusals = 0
  private var isNew = false

  /// The most tokens that are tried one after the other: those of other processes wear out, too.
  private static let mostRefusals = 3

  init(_ access: PDSAccess, _ diagnostics: Diagnostics) {
    server = access.server
    // Nothing else is done meanwhile. What did not work is tried again as a lost link is.
    let limits = PDSLimits(timeout: 10, maxRetries: 0)
    // The other transfers of a client must not go on from within a stream's tick.
    let client = WebClient(
      agent: access.client.agent, connectTimeout: limits.timeout,
      authorities: access.client.authorities)
    session = PDSSession(
      server, XRPCLine(client ?? access.client, limits, diagnostics), limits, diagnostics)
  }

  func request(
    _ method: String, _ query: [(name: String, value: String?)] = []
  ) throws(LinkEnd) -> Request {
    try LinkEnd.ifFailed(
      server.request(
        method, query: query, token: tokens?.access, secrets: tokens?.others ?? []))
  }

  /// Asks, and logs in where that is wanted; `limit`: the largest answer, bytes.
  func ask(
    _ follow: Follow, _ method: String, _ query: [(name: String, value: String?)], limit: Int
  ) throws(LinkEnd) -> XRPCLine.Reply {
    let silence = min(follow.policy.idleTimeout ?? .infinity, 30)
    while true {
      let (head, body) = try follow.answer(
        try request(method, query), silence: silence, limit: limit)
      let isPage = XRPCError.isPage(head, body)
      if (200...299).contains(head.status), !isPage { return .success((head, body)) }
      let error = XRPCError(head, body, now: Clock.unix)
      guard canEnter(error) else { return .failure(error) }
      try enter(error)
    }
  }

  func canEnter(_ error: XRPCError) -> Bool {
    if error.name.isEmpty { return false }
    return tokens == nil ? error.isLoginWanted && server.identifier != nil : error.isTokenRefused
  }

  /// Gets tokens, or others than those refused; `lost` where a later try may do.
  func enter(_ error: XRPCError) throws(LinkEnd) {
    if isNew || refusals >= Self.mostRefusals {
      throw .failed(Failure(error.line, .denied), at: base.display)
    }
    do throws(Failure) {
      try server.requirePrivacy("the token")
      if let old = tokens {
        let canRefresh = error.name == "ExpiredToken"
        (tokens, isNew) = try session.renewed(after: old, canRefresh: canRefresh)
      } else {
        tokens = try session.account()
      }
      refusals += 1
    } catch {
      throw error.mayPass ? .lost(error.message) : .failed(error, at: base.display)
    }
  }

  func succeeded() { (isNew, refusals) = (false, 0) }
}
