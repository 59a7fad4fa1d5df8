import Core

/// What the gateway can be asked: who may, and with which parameters
/// (Agent/OpenClaw/CONTRACT.md 6). Nothing else passes.
struct GatewayMethod: Sendable {
  /// `chat.send`.
  let name: String
  /// Who may ask; nil for everybody who is connected.
  let scope: Scope?
  let params: ClosedObject

  private init(_ name: String, _ scope: Scope?, _ params: ClosedObject = [:]) {
    (self.name, self.scope, self.params) = (name, scope, params)
  }

  static func named(_ name: String) -> GatewayMethod? { byName[name] }

  func check(_ params: JSONValue?) throws(GatewayFault) {
    guard let params = params ?? (try? JSONValue.parse(text: "{}")) else { return }
    try self.params.check(params, "invalid \(name) params")
  }

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
  private static let key = MemberShape.text(1...512)
  private static let page = MemberShape.integer(1...1000)
  private static let decision = MemberShape.word(ApprovalDecision.allCases.map(\.rawValue))
  private static let attachments = MemberShape.list(.anyObject, atMost: 16)

  private static let run: ClosedObject = [
    "message": .words, "idempotencyKey": .name, "agentId?": .name, "sessionKey?": key,
    "sessionId?": .name, "to?": .name, "thinking?": .words, "deliver?": .bool,
    "attachments?": attachments, "channel?": .words, "timeout?": .count, "lane?": .words,
    "extraSystemPrompt?": .words, "label?": .words,
  ]
  private static let approvalRequest: ClosedObject = [
    "id?": .name, "command?": .text(1...65536), "commandArgv?": .list(.words, atMost: 1000),
    "commandPreview?": .words, "env?": .anyObject, "cwd?": .any, "nodeId?": .any, "host?": .any,
    "security?": .any, "ask?": .any, "agentId?": .any, "resolvedPath?": .any,
    "sessionKey?": .any, "allowedDecisions?": .list(decision, atMost: 3),
    "turnSourceChannel?": .any, "turnSourceTo?": .any, "turnSourceAccountId?": .any,
    "turnSourceThreadId?": .any, "timeoutMs?": .integer(1...86_400_000), "twoPhase?": .bool,
  ]

  static let all: [GatewayMethod] = [
    GatewayMethod("health", nil, ["probe?": .bool]),
    GatewayMethod("status", .read),
    GatewayMethod("system-presence", .read),
    GatewayMethod("config.get", .read),
    GatewayMethod("agents.list", .read),
    GatewayMethod("models.list", .read, ["view?": .words]),
    GatewayMethod(
      "cron.list", .read, ["includeDisabled?": .bool, "limit?": page, "offset?": .count]),
    GatewayMethod(
      "chat.send", .write,
      [
        "sessionKey": key, "message": .words, "idempotencyKey": .name, "thinking?": .words,
        "deliver?": .bool, "attachments?": attachments, "timeoutMs?": .count,
        "queueMode?": .word(["steer", "followup", "collect", "interrupt"]),
      ]),
    GatewayMethod("chat.abort", .write, ["sessionKey": key, "runId?": .name]),
    GatewayMethod(
      "chat.history", .read,
      [
        "sessionKey": key, "limit?": page, "offset?": .count,
        "maxChars?": .integer(1...500_000),
      ]),
    GatewayMethod("agent", .write, run),
    GatewayMethod("agent.wait", .read, ["runId": .name, "timeoutMs?": .count]),
    GatewayMethod(
      "sessions.list", .read,
      [
        "limit?": page, "activeMinutes?": .count, "includeGlobal?": .bool,
        "includeUnknown?": .bool, "includeDerivedTitles?": .bool, "includeLastMessage?": .bool,
        "agentId?": .name, "search?": .words,
      ]),
    GatewayMethod("sessions.subscribe", .read),
    GatewayMethod("sessions.unsubscribe", .read),
    GatewayMethod(
      "sessions.messages.subscribe", .read, ["key": key, "includeApprovals?": .bool]),
    GatewayMethod("sessions.messages.unsubscribe", .read, ["key": key]),
    GatewayMethod("exec.approval.list", .approvals),
    GatewayMethod("exec.approval.get", .approvals, ["id": .name]),
    GatewayMethod("exec.approval.resolve", .approvals, ["id": .name, "decision": decision]),
    GatewayMethod("exec.approval.request", .approvals, approvalRequest),
    GatewayMethod("exec.approval.waitDecision", .approvals, ["id": .name]),
    GatewayMethod("plugin.approval.list", .approvals),
    GatewayMethod("openclaw.approval.list", .approvals),
    GatewayMethod("approval.get", .approvals, ["id": .name]),
    GatewayMethod(
      "approval.resolve", .approvals,
      ["id": .name, "kind?": .word(["exec"]), "decision": decision, "grantExpiresInDays?": .count]),
    GatewayMethod("device.pair.list", .pairing),
    GatewayMethod("device.pair.approve", .pairing, ["requestId": .name]),
    GatewayMethod("device.pair.reject", .pairing, ["requestId": .name]),
  ]

  static let events = [
    "connect.challenge", "chat", "agent", "session.message", "sessions.changed", "tick", "shutdown",
    "exec.approval.requested", "exec.approval.resolved", "device.pair.requested",
    "device.pair.resolved",
  ]
}

enum ApprovalDecision: String, CaseIterable, Sendable {
  case once = "allow-once"
  case always = "allow-always"
  case deny
}

indirect enum MemberShape: Sendable {
  /// A text of so many UTF-16 units.
  case text(ClosedRange<Int>)
  case word([String])
  case integer(ClosedRange<Int64>)
  case bool
  case list(MemberShape, atMost: Int)
  case object(ClosedObject)
  case anyObject
  case any

  static let name = MemberShape.text(1...512)
  static let words = MemberShape.text(0...Int.max)
  static let count = MemberShape.integer(0...9_007_199_254_740_991)
}

/// The gateway refuses what it does not know (Agent/OpenClaw/CONTRACT.md 1).
struct ClosedObject: Sendable, ExpressibleByDictionaryLiteral {
  private let members: [String: (shape: MemberShape, isRequired: Bool)]

  init(dictionaryLiteral members: (String, MemberShape)...) {
    self.members = Dictionary(
      members.map { name, shape in
        let isOptional = name.hasSuffix("?")
        return (isOptional ? String(name.dropLast()) : name, (shape, !isOptional))
      }, uniquingKeysWith: { first, _ in first })
  }

  func check(_ value: JSONValue, _ place: String) throws(GatewayFault) {
    guard value.isObject else { throw .invalid("\(place): not an object") }
    var missing = Set(members.filter(\.value.isRequired).keys)
    for (name, member) in value.members {
      guard let known = members[name] else {
        throw .invalid("\(place): unexpected property '\(name.prefix(80))'")
      }
      missing.remove(name)
      try Self.check(member, known.shape, "\(place).\(name)")
    }
    if let name = missing.min() { throw .invalid("\(place): must have property '\(name)'") }
  }

  private static func check(
    _ value: JSONValue, _ shape: MemberShape, _ place: String
  ) throws(GatewayFault) {
    switch shape {
    case .any: return
    case .anyObject where value.isObject: return
    case .bool where value.kind == .bool: return
    case .text(let range):
      if let text = value.string, range.contains(text.utf16.count) { return }
      if value.string != nil {
        throw .invalid("\(place): \(range.lowerBound) to \(range.upperBound) characters")
      }
    case .word(let words):
      if let text = value.string, words.contains(text) { return }
      throw .invalid("\(place): not one of \(words.joined(separator: ", "))")
    case .integer(let range):
      if let number = value.integer, range.contains(number) { return }
      throw .invalid(
        "\(place): not a whole number from \(range.lowerBound) to \(range.upperBound)")
    case .list(let shape, let limit):
      if value.kind == .array, value.count <= limit {
        for (index, element) in value.elements.enumerated() {
          try check(element, shape, "\(place)[\(index)]")
        }
        return
      }
    case .object(let object): return try object.check(value, place)
    case .anyObject, .bool: break
    }
    throw .invalid("\(place): of another type")
  }
}
