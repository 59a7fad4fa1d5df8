import Core
import Records
import Web

/// The way in to a gateway: what is shown at its door, and what its answer means
/// (Agent/OpenClaw/CONTRACT.md 4 and 5).
struct GatewayAuth {
  enum Verdict {
    case open(GatewayHello)
    case pairing(String, after: Double?)
    case again
    /// A later try may do, not before that many seconds.
    case later(String, after: Double?)
    case refused(Failure)
  }

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
  mutating func notGranted(_ scope: GatewayScope? = nil) -> String? {
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

  var waitsForPairing: Bool { wishes.waitsForPairing }

  var mask: SecretMask { SecretMask(secrets) }

  /// Nil for a challenge without a nonce; `now` serves a gateway that says no time.
  mutating func answer(to challenge: JSONValue, now: Double) -> RecordText? {
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

  mutating func judge(_ answer: GatewayAnswer) -> Verdict {
    switch answer {
    case .failure(let error): return refused(error)
    case .success(let payload):
      guard var hello = GatewayHello(payload) else {
        return .refused(Failure("not the greeting of a gateway", .failure))
      }
      hello.ahead = ahead
      guard GatewayHandshake.protocols.contains(Int(clamping: hello.version)) else {
        return .refused(
          Failure(
            "the gateway speaks protocol \(hello.version); this version 3 and 4", .failure))
      }
      let missing = wishes.scopes.map(\.rawValue).filter { hello.scopes?.contains($0) == false }
      guard missing.isEmpty else {
        let names = missing.joined(separator: ", ")
        return .refused(
          Failure("the gateway does not grant \(names) to this device", .denied))
      }
      hasRenewed = false
      let more = wishes.more.enumerated().filter {
        $0.offset >= kept || hello.scopes?.contains($0.element.rawValue) == false
      }
      if !more.isEmpty, !hasTold { (hasTold, shortfall) = (true, more.map(\.element)) }
      return .open(hello)
    }
  }

  mutating func keep(_ hello: GatewayHello) -> Failure? {
    guard let token = hello.deviceToken else { return nil }
    do throws(Failure) {
      try tokens.keep(token, scopes: hello.scopes ?? scopes.map(\.rawValue))
    } catch {
      return error
    }
    return nil
  }

  private mutating func refused(_ error: GatewayError) -> Verdict {
    let code = error.detail ?? error.code
    // The device's token alone is good, or nothing was better without it.
    let isTooMuch =
      error.reason == "scope-upgrade" || narrow != nil && code.hasPrefix("AUTH_")
      || code == "AUTH_SCOPE_MISMATCH" && shown != nil && (token == nil || isTokenBad)
    if isTooMuch, kept > 0 {
      kept -= 1
      refusal = error.isPairing ? Self.words(error) : (narrow ?? error).line
      narrow = nil
      return .again
    }
    if error.isPairing { return .pairing(Self.words(error), after: error.retryAfter) }
    if error.isStarting || error.nextStep == "wait_then_retry" {
      return .later(error.line, after: error.retryAfter)
    }
    switch error.detail ?? error.code {
    case "PROTOCOL_MISMATCH":
      let wanted = error.expectedProtocol.map { "protocol \($0)" } ?? "another protocol"
      return .refused(
        Failure("the gateway wants \(wanted); this version speaks 3 and 4", .failure))
    case "AUTH_RATE_LIMITED", "UNAVAILABLE", "AGENT_TIMEOUT":
      return .later(error.line, after: error.retryAfter)
    case "AUTH_TOKEN_MISMATCH" where !isTokenBad && findsOther(): return .again
    case _ where error.nextStep == "retry_with_device_token" && shown != nil && !isTokenBad:
      isTokenBad = true
      return .again
    case "AUTH_SCOPE_MISMATCH" where shown != nil:
      narrow = error
      return .again
    case "AUTH_DEVICE_TOKEN_MISMATCH": return stale(error)
    // Without a token of the profile the device's went in its place.
    case "AUTH_TOKEN_MISMATCH" where token == nil || isTokenBad: return stale(error)
    case let code where code.hasPrefix("DEVICE_"):
      return .refused(Failure(error.line, .failure))
    case let code where code.hasPrefix("AUTH_"):
      return .refused(Failure((narrow ?? error).line, .denied))
    case "FORBIDDEN", "MISSING_SCOPE", "NOT_LINKED":
      return .refused(Failure(error.line, .denied))
    default: return .refused(Failure(error.line, .failure))
    }
  }

  private mutating func findsOther() -> Bool {
    guard token != nil, !hasRenewed, let other = server.otherSecret() else { return false }
    (token, hasRenewed) = (other, true)
    return true
  }

  /// Without the refused token the next try may do; there are few, each is forgotten once.
  private mutating func stale(_ error: GatewayError) -> Verdict {
    guard let shown else { return .refused(Failure(error.line, .denied)) }
    // What cannot be saved is at least not shown again.
    try? tokens.forget(shown)
    return .again
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
