import Core
import Records
import Web

/// One text frame from a gateway, by what it is (Agent/OpenClaw/CONTRACT.md 1). The slices are
/// valid as long as the frame's bytes are.
enum GatewayFrame {
  case event(GatewayEvent)
  /// The answer to a request; one may get two.
  case response(id: String, GatewayAnswer)
  case other

  private enum Member: Int, ScanName {
    case type, id, event, payload, error, seq, ok
    static let table = NameTable<Member>()
  }

  /// `mask` hides secrets in what a gateway says went wrong.
  init(_ bytes: UnsafeRawBufferPointer, _ mask: SecretMask) throws(ScanFault) {
    var fields = ScanFields<Member>()
    try fields.read(bytes)
    switch fields[.type].string {
    case "event":
      guard fields[.event].isString, let name = fields[.event].string else {
        self = .other
        return
      }
      self = .event(
        GatewayEvent(
          name: name, payload: fields[.payload], seq: Self.number(fields[.seq]), bytes: bytes))
    case "res":
      guard let id = fields[.id].string else {
        self = .other
        return
      }
      let ok = fields[.ok]
      let isFine = ok.string == "true" && ok.isString == false
      self = .response(
        id: id, isFine ? .success(fields[.payload]) : .failure(GatewayError(fields[.error], mask)))
    default: self = .other
    }
  }
}

extension GatewayFrame {
  /// A number among events; nil for what JavaScript could not count up to.
  private static func number(_ value: ScanValue) -> Int64? {
    guard value.isNumber, let number = value.string.flatMap({ Int64($0) }) else { return nil }
    return (0..<1 << 53).contains(number) ? number : nil
  }
}

typealias GatewayAnswer = Result<ScanValue, GatewayError>

struct GatewayEvent {
  let name: String
  let payload: ScanValue
  /// Its number among the broadcasts; nil for what is aimed at this connection.
  let seq: Int64?
  let bytes: UnsafeRawBufferPointer

  var frame: [UInt8] { Array(bytes) }

  var object: JSONValue? {
    guard payload.isObject else { return nil }
    return try? JSONValue.parse(payload.bytes)
  }
}

/// Why a gateway refuses (Agent/OpenClaw/CONTRACT.md 5).
struct GatewayError: Error, Equatable {
  /// The code at the top: `INVALID_REQUEST`, `UNAVAILABLE`, ...
  var code: String
  var message: String
  /// The code of the details, which is the more exact one.
  var detail: String?
  /// `not-paired`, `scope-upgrade`, `startup-sidecars`, ...
  var reason: String?
  var requestID: String?
  var nextStep: String?
  var missingScope: String?
  var expectedProtocol: Int64?
  /// Not before that many seconds.
  var retryAfter: Double?
  var isRetryable = false

  init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  init(_ value: ScanValue, _ mask: SecretMask = SecretMask([])) {
    let error = value.isObject ? try? JSONValue.parse(value.bytes) : nil
    let details = error?["details"]
    func word(_ value: JSONValue?) -> String? { value?.string(bytes: 400).map(mask.hide) }
    code = word(error?["code"]) ?? ""
    message = word(error?["message"]) ?? ""
    detail = word(details?["code"])
    reason = word(details?["reason"])
    requestID = word(details?["requestId"])
    nextStep = word(details?["recommendedNextStep"])
    missingScope = word(details?["missingScope"])
    expectedProtocol = details?["expectedProtocol"]?.integer
    let wait = error?["retryAfterMs"]?.number ?? details?["retryAfterMs"]?.number
    retryAfter = wait.map { min(max($0 / 1000, 0), 3600) }
    isRetryable = error?["retryable"]?.bool == true
  }

  var isPairing: Bool { detail == "PAIRING_REQUIRED" || code == "NOT_PAIRED" }

  /// Whether the gateway is only starting up.
  var isStarting: Bool { code == "UNAVAILABLE" && (retryAfter != nil || isRetryable) }

  /// Whether it is about a member of the request, which an early gateway may not know.
  func names(_ member: String) -> Bool { message.holds(member) }

  var isScope: Bool {
    detail == "MISSING_SCOPE" || code == "FORBIDDEN" || message.hasPrefix("missing scope")
  }

  /// The reason for people: `pairing required (NOT_PAIRED)`.
  var line: String {
    let code = detail ?? code
    let scope = missingScope.flatMap { message.holds($0) ? nil : $0 }
    let words = [message, scope.map { "\($0) is missing" } ?? ""].filter { !$0.isEmpty }
      .joined(separator: ": ")
    switch (words.isEmpty, code.isEmpty) {
    case (false, false): return "\(words) (\(code))"
    case (false, true): return words
    case (true, false): return code
    case (true, true): return "refused without a reason"
    }
  }
}
