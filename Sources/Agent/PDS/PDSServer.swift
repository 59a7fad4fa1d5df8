import Core
import Web

/// A personal data server, as a profile names it: where it is, who logs in there, and what is
/// known of the password.
public struct PDSServer: Sendable {
  let base: WebAddress
  /// Who logs in, and whose records are meant where nobody else is named.
  let identifier: Repository?
  let profile: Settings.Profile
  private let settings: Settings
  private let tokenFile: String?
  private let allowPlaintext: Bool

  init(
    _ profile: Settings.Profile, _ settings: Settings, _ options: AccessOptions
  ) throws(Failure) {
    self.profile = profile
    self.settings = settings
    base = try profile.address
    tokenFile = options.tokenFile
    allowPlaintext = options.allowPlaintext
    identifier = try profile.identifier.map { text throws(Failure) in
      guard let repository = Repository(text.hasPrefix("@") ? String(text.dropFirst()) : text)
      else {
        throw Failure("the profile's identifier", "neither a handle nor a DID: \(text)")
      }
      return repository
    }
  }

  /// The password of the account: an app password, from wherever tokens come from.
  func password() throws(Failure) -> Secret {
    guard
      let password = try settings.credentials.token(option: tokenFile, profile: profile)
    else {
      throw Failure(
        profile.name.map { "profile \($0)" } ?? base.display,
        "no app password: set token-file or token-command; see agentutils.conf(5)", .denied)
    }
    try requirePrivacy("the password")
    return password
  }

  /// Makes sure that nobody on the way can read a secret.
  func requirePrivacy(_ secret: String) throws(Failure) {
    try base.requirePrivacy("\(secret) would travel over plain http", allowPlaintext, .denied)
  }

  /// A call (Agent/PDS/CONTRACT.md 1): `body` nil for a query, empty for one without input;
  /// `type`: of the body.
  func request(
    _ method: String, query: [(name: String, value: String?)] = [], body: [UInt8]? = nil,
    type: String = "application/json", token: Secret? = nil, secrets: [Secret] = []
  ) throws(Failure) -> Request {
    // Who takes an address from an example of a call has its first word, too.
    let hasIt = ["/xrpc", "/xrpc/"].contains { base.text.hasSuffix($0) }
    let path = "\(hasIt ? "" : "xrpc/")\(method)\(QueryText.encode(query))"
    let address = try Failure.at("the profile's url", base.appending(path))
    var request = Request(
      address, method: body == nil ? "GET" : "POST",
      headers: [Header("Accept", "application/json")], body: body?.isEmpty == true ? nil : body)
    request.trust = profile.trust
    if body != nil {
      request.headers.append(
        body?.isEmpty == true
          ? Header("Content-Length", "0") : Header("Content-Type", type))
    }
    if let token {
      request.privateHeaders.append(Header("Authorization", "Bearer \(token.reveal())"))
    }
    request.unquotable = ([token].compactMap { $0 } + secrets).map { $0.reveal() }
    // What is read by everybody may be looked up elsewhere; the rest stays here.
    request.staysAtOrigin = body != nil || token != nil
    request.followsRedirects = !request.staysAtOrigin
    request.isDirect = request.staysAtOrigin && base.scheme == "http" && !allowPlaintext
    return request
  }
}
