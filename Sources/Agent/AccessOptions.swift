public import Core
import Web

/// The options that say whose backend is asked, and how it is let in: the same
/// in every command that uses the network.
public struct AccessOptions: Sendable {
  /// The argument of `--profile`, nil when not given.
  public var profile: String?
  /// The argument of `--token-file`.
  public var tokenFile: String?
  /// Whether the token may go over plain http to any host.
  public var allowPlaintext = false
  /// Whether nothing can be asked without the token; a profile's own may be what is to be
  /// fetched.
  public var needsToken = true
  /// The file of certificate authorities, the argument of `--cacert`.
  public var authorities: String?

  /// Nothing given.
  public init() {}

  /// The same for another command, but for the profile.
  public var words: [String] {
    (tokenFile.map { ["--token-file", $0] } ?? []) + (authorities.map { ["--cacert", $0] } ?? [])
      + (allowPlaintext ? ["--allow-plaintext"] : [])
  }

  /// `-p` of a command that asks one backend.
  public static let profile = Option<AccessOptions>(
    "p", "profile", "NAME", "use this profile, see agentutils.conf(5)",
    .text.offering(CompletionNames.profiles)
  ) { $0.profile = $1 }.once("agent-tail follows several")

  /// How the backend of any profile lets us in.
  public static let credentials: [Option<AccessOptions>] = [
    Option(nil, "token-file", "FILE", "read the token from FILE", .path) { $0.tokenFile = $1 }.rare,
    Option(nil, "allow-plaintext", "send the token over plain http to any host") {
      $0.allowPlaintext = true
    }.rare,
    Option(nil, "cacert", "FILE", "trust the certificate authorities in FILE", .path) {
      $0.authorities = $1
    }.rare,
  ]

  /// All of them.
  public static let options = [profile] + credentials
}
