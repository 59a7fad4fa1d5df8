import Core

struct GatewayRequest: Sendable {
  private static let form: ClosedObject = [
    "type": .word(["req"]), "id": .text(1...256), "method": .text(1...256), "params?": .any,
    "traceparent?": .text(0...256), "expectedProfileId?": .text(0...256),
  ]

  let id: String
  let method: String
  let params: JSONValue?

  init(_ frame: JSONValue) throws(GatewayFault) {
    try Self.form.check(frame, "invalid request frame")
    id = Self.id(of: frame)
    method = frame["method"]?.string ?? ""
    params = frame["params"]
  }

  /// By which a frame is answered, whatever else is wrong with it.
  static func id(of frame: JSONValue?) -> String {
    frame?["id"]?.string.flatMap { (1...256).contains($0.utf16.count) ? $0 : nil } ?? "invalid"
  }

  func text(_ name: String) -> String { params?[name]?.string ?? "" }

  func number(_ name: String) -> Int? { params?[name]?.integer.map { Int($0) } }

  func isTrue(_ name: String) -> Bool { params?[name]?.bool ?? false }

  static func value(_ bytes: [UInt8]) throws(GatewayFault) -> JSONValue {
    let parsed = bytes.withUnsafeBytes { bytes -> JSONValue? in
      // JSONValue mends what is not JSON; a request has to be.
      guard ScanValidator.isValue(bytes) else { return nil }
      return try? JSONValue.parse(bytes)
    }
    guard let parsed else { throw .invalid("invalid request frame: not JSON") }
    return parsed
  }
}

/// The frames that the gateway sends (Agent/OpenClaw/CONTRACT.md 1).
extension Peer {
  func answer(_ id: String, _ payload: JSONNode) {
    let frame: JSONNode = ["type": "res", "id": .text(id), "ok": true, "payload": payload]
    send(frame.bytes)
  }

  func refuse(_ id: String, _ fault: GatewayFault, payload: JSONNode = .absent) {
    let frame: JSONNode = [
      "type": "res", "id": .text(id), "ok": false, "payload": payload, "error": fault.node,
    ]
    send(frame.bytes)
  }

  /// An event.
  static func event(_ name: String, _ payload: [UInt8], sequence: Int?) -> [UInt8] {
    let frame: JSONNode = [
      "type": "event", "event": .text(name), "payload": .raw(payload), "seq": .number(sequence),
    ]
    return frame.bytes
  }
}

/// Why the gateway refuses a request (Agent/OpenClaw/CONTRACT.md 5).
struct GatewayFault: Error, Sendable {
  let code: String
  let message: String
  /// What a client decides by: `code`, `reason` and more.
  var details: JSONNode = .absent
  var isRetryable: Bool?
  /// When, in milliseconds.
  var retryAfter: Int?
  var closeCode = CloseCode.policy

  var node: JSONNode {
    [
      "code": .text(code), "message": .text(message), "details": details,
      "retryable": isRetryable.map { .bool($0) } ?? .absent, "retryAfterMs": .number(retryAfter),
    ]
  }

  static func invalid(_ message: String) -> GatewayFault {
    GatewayFault(code: "INVALID_REQUEST", message: message)
  }

  static func refused(
    _ detail: String, _ message: String, reason: String? = nil, next: String? = nil
  ) -> GatewayFault {
    GatewayFault(
      code: "INVALID_REQUEST", message: message,
      details: [
        "code": .text(detail), "reason": .text(reason), "recommendedNextStep": .text(next),
      ])
  }

  static func missing(_ scope: Scope) -> GatewayFault {
    GatewayFault(
      code: "FORBIDDEN", message: "missing scope: \(scope.rawValue)",
      details: [
        "code": "MISSING_SCOPE", "missingScope": .text(scope.rawValue),
        "requiredScopes": .texts([scope.rawValue]),
      ])
  }

  static func unavailable(_ message: String, retryAfter: Int? = nil) -> GatewayFault {
    GatewayFault(
      code: "UNAVAILABLE", message: message, isRetryable: retryAfter != nil,
      retryAfter: retryAfter)
  }

  /// An approval that is not there (any more). Older clients know another code.
  static func noApproval(protocol version: Int) -> GatewayFault {
    GatewayFault(
      code: version >= 4 ? "APPROVAL_NOT_FOUND" : "INVALID_REQUEST",
      message: "unknown or expired approval id",
      details: version >= 4 ? ["code": "APPROVAL_NOT_FOUND"] : .absent)
  }
}

/// How a WebSocket is closed (RFC 6455, section 7.4; Agent/OpenClaw/CONTRACT.md 3).
enum CloseCode {
  static let protocolError = 1002
  static let unsupported = 1003
  static let policy = 1008
  static let tooLarge = 1009
  static let restart = 1012
  static let later = 1013
}

enum Scope: String, CaseIterable, Sendable {
  case read = "operator.read"
  case write = "operator.write"
  case approvals = "operator.approvals"
  case pairing = "operator.pairing"
  case admin = "operator.admin"
  case questions = "operator.questions"
  case talk = "operator.talk"
  case talkSecrets = "operator.talk.secrets"

  /// The words for some, in their own order.
  static func names(_ scopes: Set<Scope>) -> [String] {
    allCases.filter(scopes.contains).map(\.rawValue)
  }

  /// The administrator's scope is all of them, and who may write may read.
  func isReached(by scopes: Set<Scope>) -> Bool {
    scopes.contains(self) || scopes.contains(.admin) || (self == .read && scopes.contains(.write))
  }
}
