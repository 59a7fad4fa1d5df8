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
