import CCrypto
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

/// The public half of an nkey: what a server knows a user by (github.com/nats-io/nkeys).
///
/// A key is base32 (RFC 4648, without padding) of a prefix, 32 bytes of Ed25519, and their
/// CRC-16, the lower byte first.
enum BusKey {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
  /// Five bits each: S for a seed, U for a user.
  private static let seedMark: UInt8 = 18 << 3
  private static let userMark: UInt8 = 20 << 3

  /// The line of a file that holds a seed: the first one that begins with `SU`.
  static func seed(in text: String) -> String? {
    text.split { $0.isNewline || $0 == " " }.first { $0.hasPrefix("SU") }.map(String.init)
  }

  /// The public half. Returns `U...`; nil for what is no user's seed.
  static func userKey(ofSeed seed: String) -> String? {
    guard let raw = decode(seed), raw.count == 36 else { return nil }
    let sum = UInt16(raw[34]) | UInt16(raw[35]) << 8
    guard crc(raw[..<34]) == sum, raw[0] & 0xf8 == seedMark else { return nil }
    // The second prefix is spread over the first two bytes.
    guard (raw[0] & 7) << 5 | raw[1] >> 3 == userMark else { return nil }
    let bytes = Array(raw[2..<34])
    guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else {
      return nil
    }
    defer { EVP_PKEY_free(key) }
    var half = [UInt8](repeating: 0, count: 32)
    var count = half.count
    guard EVP_PKEY_get_raw_public_key(key, &half, &count) == 1, count == 32 else { return nil }
    let body = [userMark] + half
    let check = crc(body[...])
    return encode(body + [UInt8(truncatingIfNeeded: check), UInt8(check >> 8)])
  }

  /// CRC-16/XMODEM.
  private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { crc, byte in
      (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in
        crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021
      }
    }
  }

  private static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var (bits, count) = (0 as UInt32, 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(letters[Int(bits >> UInt32(count) & 31)])
      }
    }
    if count > 0 { text.append(letters[Int(bits << UInt32(5 - count) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (0 as UInt32, 0)
    for letter in text.utf8 {
      guard let value = letters.firstIndex(of: letter) else { return nil }
      bits = bits << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }
}
