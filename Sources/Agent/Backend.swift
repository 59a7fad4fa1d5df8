import Core
import Web

/// The agent's dashboard as a profile names it: its address, and the token that
/// goes there and nowhere else.
public struct Backend: Sendable {
  /// The URL of the profile.
  public let base: WebAddress
  /// The profile's name, nil when no section of the configuration is in use.
  public let profileName: String?
  /// The guild that the profile wants where none is named.
  public let guild: String?

  private let token: Secret?
  private let allowPlaintext: Bool

  /// The backend of a profile.
  ///
  /// - Parameters:
  ///   - profile: the profile in use.
  ///   - settings: the configuration.
  ///   - tokenFile: the argument of `--token-file`, nil when not given.
  ///   - allowPlaintext: `--allow-plaintext`.
  /// - Throws: `SettingsError`: no URL, a token that cannot be
  ///   read (`denied`), or that would travel in clear text.
  public init(
    _ profile: Settings.Profile, settings: Settings, tokenFile: String?, allowPlaintext: Bool
  ) throws(SettingsError) {
    guard let url = profile.url else {
      throw SettingsError("no url", "set AGENT_URL, or a profile in agentutils.conf(5)")
    }
    let base: WebAddress
    do throws(AddressError) {
      base = try WebAddress(url)
    } catch {
      throw SettingsError("the profile's url", error.reason)
    }
    try self.init(
      base: base, settings: settings, profile: profile, tokenFile: tokenFile,
      allowPlaintext: allowPlaintext)
  }

  /// The backend at an address.
  ///
  /// - Parameters:
  ///   - base: where; the token is bound to its origin.
  ///   - settings: the configuration.
  ///   - profile: whose token may go there; nil leaves `--token-file` alone, for
  ///     an address that no profile stands for.
  ///   - tokenFile: the argument of `--token-file`, nil when not given.
  ///   - allowPlaintext: `--allow-plaintext`.
  /// - Throws: `SettingsError`, as above.
  public init(
    base: WebAddress, settings: Settings, profile: Settings.Profile?, tokenFile: String?,
    allowPlaintext: Bool
  ) throws(SettingsError) {
    self.base = base
    profileName = profile?.name
    guild = profile?.guild
    self.allowPlaintext = allowPlaintext
    guard profile != nil || tokenFile != nil else {
      token = nil
      return
    }
    token = try settings.credentials.token(option: tokenFile, profile: profile)
    if token == nil { return }
    let may = Credentials.mayTravel(
      scheme: base.scheme, host: base.host, allowPlaintext: allowPlaintext)
    guard may else {
      throw SettingsError(
        base.display, "the token would travel over plain http; see --allow-plaintext")
    }
  }

  /// Whoever answers at an address to which the command line itself brought a token.
  ///
  /// - Parameters:
  ///   - base: where.
  ///   - token: as it stands in the user's own header.
  public init(base: WebAddress, givenToken token: String) {
    self.base = base
    profileName = nil
    guild = nil
    allowPlaintext = true
    self.token = Secret(token, source: "the command line")
  }

  /// A request to the backend, with its token.
  ///
  /// - Parameters:
  ///   - path: behind the base, a slash in front or none: `api/actions?limit=5`.
  ///   - method: the verb.
  ///   - body: JSON text, nil for none.
  /// - Throws: `SettingsError` for a path that makes no URL.
  public func request(
    _ path: String, method: String = "GET", body: [UInt8]? = nil
  ) throws(SettingsError) -> Request {
    let address: WebAddress
    do throws(AddressError) {
      address = try base.appending(path.hasPrefix("/") ? String(path.dropFirst()) : path)
    } catch {
      throw SettingsError("path", error.reason)
    }
    var request = Request(
      address, method: method, headers: [Header("Accept", "application/json")], body: body)
    if body != nil { request.headers.append(Header("Content-Type", "application/json")) }
    authorize(&request)
    return request
  }

  /// Puts the token into a request to the backend's origin, in the place of any
  /// other; a request to another origin stays as it is.
  public func authorize(_ request: inout Request) {
    guard let token, request.address.origin == base.origin else { return }
    request.privateHeaders.removeAll { $0.isNamed("x-dashboard-token") }
    request.privateHeaders.append(Header("x-dashboard-token", token.reveal()))
    request.isDirect = base.scheme == "http" && !allowPlaintext
  }

  /// Whether requests carry a token.
  public var hasToken: Bool { token != nil }

  /// Which token was used and whose it is, never the token itself:
  /// `the token from FILE was refused (profile home)`.
  public var refusal: String {
    let profile = profileName.map { "profile \($0)" } ?? "no profile"
    guard let token else { return "no token was sent (\(profile)); see agentutils.conf(5)" }
    let source = token.source == "-" ? "standard input" : token.source
    return "the token from \(source) was refused (\(profile))"
  }
}
