import CCrypto
import CLibc
public import Core
import Records
import Web

/// The way in to a gateway: what is shown at its door, and what its answer means
/// (Agent/OpenClaw/CONTRACT.md 4 and 5).
final class GatewayAuth {
  struct Wishes {
    var scopes: [GatewayScope] = [.read]
    /// What is asked for, too, and done without where it is not granted: the last first.
    var more: [GatewayScope] = []
    var caps: [String] = []
    var waitsForPairing = false
  }

  private let identity: DeviceIdentity
  private let server: AgentServer
  private var token: Secret?
  private var hasRenewed = false
  private let wishes: Wishes
  private var tokens: DeviceTokens
  private var shown: Secret?
  /// The gateway refused the profile's token, and would have the stored one alone.
  private var isTokenBad = false
  /// How far the gateway's clock is ahead of ours, milliseconds; nil when it does not say.
  private var ahead: Int64?
  /// Why the stored token is not good for what is wanted now; kept for who wants less.
  private var narrow: GatewayError?
  /// How much of what can be done without is asked for.
  private var kept: Int
  /// Why it is not all; nil where it is.
  private var refusal: String?
  /// What was not granted, told once.
  private var shortfall: [GatewayScope] = []
  private var hasTold = false

  init(_ keys: GatewayKeys, _ wishes: Wishes) {
    identity = keys.identity
    server = keys.server
    token = server.secret
    tokens = keys.tokens
    self.wishes = wishes
    kept = wishes.more.count
  }

  private var scopes: [GatewayScope] { wishes.scopes + wishes.more.prefix(kept) }

  /// That a scope was not granted which can be done without, and why; told once.
  ///
  /// - Parameter scope: nil for whichever.
  func notGranted(_ scope: GatewayScope? = nil) -> String? {
    let names = shortfall.filter { scope == nil || $0 == scope }
    shortfall.removeAll { names.contains($0) }
    if names.isEmpty { return nil }
    return "the gateway does not grant \(names.map(\.rawValue).joined(separator: ", "))"
      + (refusal.map { ": \($0)" } ?? "")
  }

  /// Whether the profile's token was refused, and that of the device lets it in.
  var isByDevice: Bool { token != nil && isTokenBad }
  static let byDevice = "the gateway refuses the token, and lets this device in by its own"

  /// What no message may quote.
  var secrets: [String] { ([token] + tokens.entries.map(\.token)).compactMap { $0?.reveal() } }

  var mask: SecretMask { SecretMask(secrets) }

  /// Nil for a challenge without a nonce; `now` serves a gateway that says no time.
  func answer(to challenge: JSONValue, now: Double) -> RecordText? {
    guard let nonce = challenge["nonce"]?.string, !nonce.isEmpty else { return nil }
    let time = challenge["ts"]?.integer
    ahead = time.map { $0 &- Int64(now * 1000) }
    shown = narrow == nil ? tokens.best(for: scopes)?.token : nil
    let handshake = GatewayHandshake(
      identity: identity, scopes: scopes, caps: wishes.caps,
      token: isTokenBad && shown != nil ? nil : token,
      deviceToken: shown)
    return handshake.parameters(nonce: nonce, time: time ?? Int64(now * 1000))
  }

  /// The greeting; nil where another try, which shows something else, may do at once.
  func judge(_ answer: GatewayAnswer) throws(LinkEnd) -> GatewayHello? {
    let payload: ScanValue
    switch answer {
    case .failure(let error): return try judge(error)
    case .success(let given): payload = given
    }
    guard var hello = GatewayHello(payload) else {
      throw .failed(Failure("not the greeting of a gateway", .failure))
    }
    hello.ahead = ahead
    guard GatewayHandshake.protocols.contains(Int(clamping: hello.version)) else {
      let words = "the gateway speaks protocol \(hello.version); this version 3 and 4"
      throw .failed(Failure(words, .failure))
    }
    let missing = wishes.scopes.map(\.rawValue).filter { hello.scopes?.contains($0) == false }
    guard missing.isEmpty else {
      let names = missing.joined(separator: ", ")
      throw .failed(Failure("the gateway does not grant \(names) to this device", .denied))
    }
    hasRenewed = false
    let more = wishes.more.enumerated().filter {
      $0.offset >= kept || hello.scopes?.contains($0.element.rawValue) == false
    }
    if !more.isEmpty, !hasTold { (hasTold, shortfall) = (true, more.map(\.element)) }
    return hello
  }

  func keep(_ hello: GatewayHello) throws(Failure) {
    guard let token = hello.deviceToken else { return }
    try tokens.keep(token, scopes: hello.scopes ?? scopes.map(\.rawValue))
  }

  /// Returns where another try may do at once.
  private func judge(_ error: GatewayError) throws(LinkEnd) -> GatewayHello? {
    let code = error.detail ?? error.code
    // The device's token alone is good, or nothing was better without it.
    let isTooMuch =
      error.reason == "scope-upgrade" || narrow != nil && code.hasPrefix("AUTH_")
      || code == "AUTH_SCOPE_MISMATCH" && shown != nil && (token == nil || isTokenBad)
    if isTooMuch, kept > 0 {
      kept -= 1
      refusal = error.isPairing ? Self.words(error) : (narrow ?? error).line
      narrow = nil
      return nil
    }
    if error.isPairing {
      let words = Self.words(error)
      throw wishes.waitsForPairing
        ? .waits(words, after: error.retryAfter) : .failed(Failure(words, .denied))
    }
    if error.isStarting || error.nextStep == "wait_then_retry" {
      throw .lost(error.line, after: error.retryAfter)
    }
    switch code {
    case "PROTOCOL_MISMATCH":
      let wanted = error.expectedProtocol.map { "protocol \($0)" } ?? "another protocol"
      let words = "the gateway wants \(wanted); this version speaks 3 and 4"
      throw .failed(Failure(words, .failure))
    case "AUTH_RATE_LIMITED", "UNAVAILABLE", "AGENT_TIMEOUT":
      throw .lost(error.line, after: error.retryAfter)
    case "AUTH_TOKEN_MISMATCH" where !isTokenBad && findsOther(): return nil
    case _ where error.nextStep == "retry_with_device_token" && shown != nil && !isTokenBad:
      isTokenBad = true
    case "AUTH_SCOPE_MISMATCH" where shown != nil: narrow = error
    case "AUTH_DEVICE_TOKEN_MISMATCH": try forget(error)
    // Without a token of the profile the device's went in its place.
    case "AUTH_TOKEN_MISMATCH" where token == nil || isTokenBad: try forget(error)
    case let code where code.hasPrefix("AUTH_"):
      throw .failed(Failure((narrow ?? error).line, .denied))
    case "FORBIDDEN", "MISSING_SCOPE", "NOT_LINKED": throw .failed(Failure(error.line, .denied))
    default: throw .failed(Failure(error.line, .failure))
    }
    return nil
  }

  private func findsOther() -> Bool {
    guard token != nil, !hasRenewed, let other = server.otherSecret() else { return false }
    (token, hasRenewed) = (other, true)
    return true
  }

  /// Without the refused token the next try may do; there are few, each is forgotten once.
  private func forget(_ error: GatewayError) throws(LinkEnd) {
    guard let shown else { throw .failed(Failure(error.line, .denied)) }
    // What cannot be saved is at least not shown again.
    try? tokens.forget(shown)
  }

  /// `not paired: run on the gateway: openclaw devices approve pr-9`.
  private static func words(_ error: GatewayError) -> String {
    let why =
      switch error.reason {
      case "role-upgrade", "scope-upgrade": "this device wants more than it was approved for"
      case "metadata-upgrade": "this device has changed and is to be approved again"
      default: "this device is not paired"
      }
    // What is to be typed into a shell must be nothing but a word.
    let id = error.requestID.flatMap { id in
      id.utf8.allSatisfy { $0.isOfName || $0 == 0x2e } && !id.isEmpty && !id.hasPrefix("-")
        ? id : nil
    }
    return id.map { "\(why): run on the gateway: openclaw devices approve \($0)" }
      ?? "\(why): run on the gateway: openclaw devices list"
  }
}

/// The Ed25519 key by which gateways know this user (RFC 8032; Agent/OpenClaw/CONTRACT.md 4).
///
/// It is made once and kept in the state folder, for its owner alone: the official
/// tools' key is not shared, for two users of one key lose each other's tokens.
public final class DeviceIdentity {
  /// The raw public key, 32 bytes.
  public let publicKey: [UInt8]
  private let key: OpaquePointer

  /// The length of seed and public key, bytes.
  private static let length = 32
  /// What stands before the seed in PKCS#8 (RFC 8410, section 7).
  private static let prefix: [UInt8] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
  ]
  private static let head = "-----BEGIN PRIVATE KEY-----"
  private static let tail = "-----END PRIVATE KEY-----"

  /// - Parameter seed: the private key, 32 bytes.
  /// - Returns: nil for another length, or without memory.
  public init?(seed: [UInt8]) {
    guard seed.count == Self.length,
      let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
    else { return nil }
    var raw = [UInt8](repeating: 0, count: Self.length)
    var count = raw.count
    guard EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1, count == raw.count else {
      EVP_PKEY_free(key)
      return nil
    }
    self.key = key
    publicKey = raw
  }

  deinit { EVP_PKEY_free(key) }

  /// The device's id: the SHA-256 of the raw public key, in lower-case hex.
  public var id: String { sha256(publicKey).hex }

  /// The signature of a text, 64 bytes; nil without memory. The same for the same text.
  public func signature(of text: String) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 64)
    var count = signature.count
    let bytes = Array(text.utf8)
    guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
      EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1, count == 64
    else { return nil }
    return signature
  }

  // MARK: - On disk

  /// The user's key, made if there is none yet.
  ///
  /// - Throws: `Failure` for a file that others can read (`denied`), that is no
  ///   such key, or cannot be written.
  public static func own(in folders: Folders) throws(Failure) -> DeviceIdentity {
    try Folders.make(folder(in: folders))
    let path = Folders.join(folder(in: folders), "device.pem")
    if let found = try read(path) { return found }
    var seed = [UInt8](repeating: 0, count: length)
    guard RAND_bytes(&seed, Int32(seed.count)) == 1, let made = DeviceIdentity(seed: seed) else {
      throw Failure(path, "no random bytes to be had")
    }
    // Of two that make one at the same time the first wins: a link is never replaced.
    let temporary = "\(path).\(getpid())"
    unlink(temporary)
    try StateFile(path: temporary).replace(with: Array(pem(seed).utf8))
    defer { unlink(temporary) }
    if link(temporary, path) == 0 { return made }
    guard systemError == EEXIST else { throw Failure(path, systemReason(systemError)) }
    guard let found = try read(path) else { throw Failure(path, "it came and went") }
    return found
  }

  static func folder(in folders: Folders) -> String { Folders.join(folders.state, "openclaw") }

  private static func read(_ path: String) throws(Failure) -> DeviceIdentity? {
    guard let bytes = try StateFile(path: path).readSecrets(limit: 4096) else { return nil }
    guard let seed = seed(pem: String(decoding: bytes, as: UTF8.self)),
      let identity = DeviceIdentity(seed: seed)
    else { throw Failure(path, "not an Ed25519 key in PKCS#8") }
    return identity
  }

  /// The key as `openssl pkey` writes it.
  static func pem(_ seed: [UInt8]) -> String {
    "\(head)\n\(Base64.text(prefix + seed))\n\(tail)\n"
  }

  static func seed(pem: String) -> [UInt8]? {
    let lines = pem.split(whereSeparator: \.isNewline)
    guard lines.count > 2, lines.first == head[...], lines.last == tail[...],
      let der = Base64.bytes(lines.dropFirst().dropLast().joined().utf8), der.starts(with: prefix),
      der.count == prefix.count + length
    else { return nil }
    return Array(der[prefix.count...])
  }
}

/// The tokens that a gateway gave this device, each with what it allows: they let in where
/// the profile has no token, and go to no other gateway.
struct DeviceTokens {
  struct Entry {
    var token: Secret
    var scopes: [String]
  }

  private let file: StateFile
  private let origin: String
  private(set) var entries: [Entry] = []

  /// The most that are kept for a gateway: one for each set of scopes that is in use.
  private static let most = 8

  init(origin: String, in folders: Folders) throws(Failure) {
    let folder = DeviceIdentity.folder(in: folders)
    try Folders.make(folder)
    let path = Folders.join(folder, "tokens-\(StateFile.name(of: origin)).json")
    file = StateFile(path: path)
    self.origin = origin
    guard let bytes = try file.readSecrets(), !bytes.isEmpty else { return }
    guard let value = try? JSONValue.parse(bytes), value["origin"]?.string == origin else {
      throw Failure(path, "does not hold the tokens of \(origin): remove it")
    }
    for each in value["tokens"]?.elements ?? [] {
      guard let token = each["token"]?.string else { continue }
      let scopes = each["scopes"]?.elements.compactMap(\.string) ?? []
      entries.append(Entry(token: Secret(token, source: path), scopes: scopes))
    }
  }

  /// The token that allows what is wanted and little more; without one such, the newest.
  func best(for scopes: [GatewayScope]) -> Entry? {
    let wanted = Set(scopes.map(\.rawValue))
    let fitting = entries.filter { wanted.isSubset(of: $0.scopes) }
    return fitting.min { $0.scopes.count < $1.scopes.count } ?? entries.last
  }

  /// Whether a gateway has granted this before.
  func allows(_ scope: GatewayScope) -> Bool {
    entries.contains { $0.scopes.contains(scope.rawValue) }
  }

  mutating func keep(_ token: Secret, scopes: [String]) throws(Failure) {
    if entries.contains(where: { $0.token.reveal() == token.reveal() && $0.scopes == scopes }) {
      return
    }
    entries.removeAll { Set($0.scopes) == Set(scopes) }
    entries.append(Entry(token: token, scopes: scopes))
    entries = entries.suffix(Self.most)
    try save()
  }

  mutating func forget(_ token: Secret) throws(Failure) {
    entries.removeAll { $0.token.reveal() == token.reveal() }
    try save()
  }

  private func save() throws(Failure) {
    let rows = entries.map {
      RecordText().string("token", $0.token.reveal()).strings("scopes", $0.scopes)
    }
    try file.replace(with: RecordText().string("origin", origin).objects("tokens", rows).line)
  }
}

struct GatewayKeys {
  let server: AgentServer
  let identity: DeviceIdentity
  let tokens: DeviceTokens

  init(_ agent: AgentAccess, folders: Folders = Folders()) throws(Failure) {
    server = agent.backend
    guard agent.profile.isSocket else {
      throw Failure(server.base.display, "the url of a gateway begins with ws:// or wss://")
    }
    try server.requirePrivacy()
    identity = try DeviceIdentity.own(in: folders)
    tokens = try DeviceTokens(origin: server.base.originText, in: folders)
  }
}
