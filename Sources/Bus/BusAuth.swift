public import Core

/// Where a bus is and what lets us in: its servers, a secret from a file or a command, and the
/// certificates that are trusted or shown.
public struct BusAuth: Sendable {
  enum Pass: Sendable {
    case nothing
    case token(Secret)
    case user(name: Secret, password: Secret)
    case credentials(path: String)
    case key(user: String, path: String)
  }

  /// The servers that are named.
  public let servers: [BusServer]
  /// The stream that the section names.
  public let stream: String?
  private(set) var pass: Pass
  /// Looks that up again; nil where it cannot be had.
  private let again: @Sendable () -> Pass?
  let authorities: String?
  let certificate: (chain: String, key: String)?
  let allowsPlaintext: Bool

  /// - Parameters:
  ///   - options: what the command line says.
  ///   - settings: the configuration.
  /// - Throws: `Failure`; `denied` for a secret that is missing or that others can read, and
  ///   for one that would travel in plain text.
  public init(_ options: BusOptions, _ settings: Settings) throws(Failure) {
    var settings = settings
    if let time = options.maxWait, time > 0 { settings.tokenTime = time }
    let section = try settings.bus(options.bus)
    let own = try Self.servers(section?.servers ?? [])
    let isNamed = !options.servers.isEmpty
    servers = isNamed ? options.servers : own.isEmpty ? [.local] : own
    stream = options.stream ?? section?.stream
    allowsPlaintext = options.allowsPlaintext
    // What lets us in is for the servers that it was configured for.
    let isOwn = !isNamed || options.servers.allSatisfy(own.contains)
    pass = isOwn ? try Self.pass(section, settings.credentials) : .nothing
    let (credentials, patience) = (settings.credentials, settings.tokenTime ?? 60)
    again = {
      var credentials = credentials
      credentials.deadline = Clock.monotonic + patience
      return isOwn ? try? Self.pass(section, credentials) : nil
    }
    authorities = section?.files["ca"]
    switch (isOwn ? section?.files["cert"] : nil, isOwn ? section?.files["key"] : nil) {
    case (let chain?, let key?):
      _ = try settings.credentials.lines(inFile: key)
      certificate = (chain, key)
    case (nil, nil): certificate = nil
    default: throw Failure("the bus's certificate", "cert and key belong together")
    }
    if hasSecret, let open = servers.first(where: { !isSafe($0) }) {
      throw Failure(
        open.url, "a secret would travel there in plain text: tls://, or --allow-plaintext",
        .denied)
    }
  }

  /// Whether there is a secret to be kept.
  var hasSecret: Bool { if case .nothing = pass { false } else { true } }

  func isSafe(_ server: BusServer) -> Bool {
    Credentials.mayTravel(
      scheme: server.isTLS ? "https" : "http", host: server.host, allowPlaintext: allowsPlaintext)
  }

  func mayAskOthers(of server: BusServer) -> Bool { !hasSecret || server.isTLS }

  /// The servers among those that a cluster tells of that may be asked, too: all where there is
  /// no secret, else those that TLS verifies.
  func usable(_ told: [String]) -> [BusServer] {
    let tls = servers.allSatisfy(\.isTLS)
    return told.compactMap { text in (try? BusServer(text))?.speaking(tls: tls) }
      .filter { !servers.contains($0) && (tls || !hasSecret) }
  }

  private static func servers(_ texts: [String]) throws(Failure) -> [BusServer] {
    try texts.map { text throws(Failure) in
      do throws(Failure) {
        return try BusServer(text)
      } catch {
        throw Failure(text.holds("@") ? "servers of the bus" : text, error.reason)
      }
    }
  }

  /// Looks the secret up again, behind a refusal: it may have been replaced since. Files of keys
  /// and credentials are read with each connection anyway. Returns whether it is another one.
  mutating func renew() -> Bool {
    guard let old = Self.text(pass), let other = again(), let new = Self.text(other), new != old
    else { return false }
    pass = other
    return true
  }

  private static func text(_ pass: Pass) -> String? {
    switch pass {
    case .token(let token): token.reveal()
    case .user(let name, let password): "\(name.reveal()):\(password.reveal())"
    case .nothing, .credentials, .key: nil
    }
  }

  private static func pass(
    _ section: Configuration.BusSection?, _ credentials: Credentials
  ) throws(Failure) -> Pass {
    guard let section else { return .nothing }
    let files = section.files
    let given =
      ["creds-file", "nkey-file", "token-file", "user-file"].filter { files[$0] != nil }
      + (section.tokenCommand == nil ? [] : ["token-command"])
    if given.count > 1 {
      throw Failure("the bus's secret", "one of \(given.joined(separator: ", "))")
    }
    if let command = section.tokenCommand {
      return .token(
        try credentials.secret(fromCommand: command, source: "token-command of the bus"))
    }
    if let path = files["token-file"] { return .token(try credentials.secret(inFile: path)) }
    if let path = files["user-file"] {
      let text = try credentials.secret(inFile: path).reveal()
      guard let colon = text.firstIndex(of: ":") else {
        throw Failure(path, "not USER:PASSWORD")
      }
      return .user(
        name: Secret(String(text[..<colon])),
        password: Secret(String(text[text.index(after: colon)...])))
    }
    if let path = files["creds-file"] {
      let text = try credentials.lines(inFile: path).reveal()
      guard text.holds(" JWT---"), BusKey.seed(in: text).flatMap(BusKey.userKey) != nil else {
        throw Failure(path, "not a user's credentials, as nsc writes them")
      }
      return .credentials(path: path)
    }
    if let path = files["nkey-file"] {
      let text = try credentials.lines(inFile: path).reveal()
      guard let seed = BusKey.seed(in: text), let user = BusKey.userKey(ofSeed: seed) else {
        throw Failure(path, "not the seed of a user's nkey")
      }
      return .key(user: user, path: path)
    }
    return .nothing
  }
}
