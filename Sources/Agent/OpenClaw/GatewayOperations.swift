import Core
import Records
import Turns
import Web

/// What a gateway can be asked for by a word (Agent/OpenClaw/CONTRACT.md 6).
enum GatewayOperations {
  static let all: [Operation] = [
    list("agents", "agents.list", in: ["agents"], .gatewayAgents),
    list(
      "threads", "sessions.list", in: ["sessions"], .gatewayThreads,
      params: GatewayLists.sessions, late: "includeDerivedTitles"),
    list("models", "models.list", in: ["models"], .gatewayModels),
    list("devices", "device.pair.list", in: ["pending", "paired"], .gatewayDevices, [.pairing]),
    list("cron", "cron.list", in: ["jobs", "items"], .gatewayCron),
    Operation("health", listing: .health, run: health),
    Operation(
      "actions", options: ["count", "since"], listing: .gatewayUsage, run: usage),
    Operation("audit", options: ["count"], listing: .gatewayAudit, run: audit),
    Operation("scopes", listing: .gatewayScopes, run: scopes),
    Operation(
      "rpc", Operation.Operand("METHOD", isNeeded: true), options: ["data"], run: anything),
  ]

  private static func list(
    _ name: String, _ method: String, in members: [String], _ listing: Listing,
    _ scopes: [GatewayScope] = [.read], params: RecordText = RecordText(), late: String? = nil
  ) -> Operation {
    Operation(name, options: ["count"], listing: listing) { call in
      let caller = GatewayCaller(call.caller, scopes: scopes)
      let payload =
        try late.map { try caller.call(method, params, late: $0, "true") }
        ?? caller.call(method, params)
      let rows = rows(members, payload)
      let answer = try? JSONValue.parse(payload)
      if let words = GatewayLists.shortfall(answer), call.arguments.count ?? .max > rows.count {
        call.diagnostics.error(method, words)
      }
      return try call.finish(rows, listing)
    }
  }

  private static func rows(_ members: [String], _ payload: [UInt8]) -> [[UInt8]] {
    payload.withUnsafeBytes { bytes in
      let value = ScanValue(bytes)
      if value.isArray { return GatewayLists.elements("", in: value) }
      return members.flatMap { GatewayLists.elements($0, in: value) }
    }
  }

  /// The most that a gateway gives at a time; who gives more pages than this never ends.
  private static let (page, mostPages) = (500, 10_000)

  private static func audit(_ call: OperationCall) throws -> ExitStatus {
    let caller = GatewayCaller(call.caller, scopes: [.read])
    let most = call.arguments.count ?? .max
    var found: [[UInt8]] = []
    var cursor: String?
    for _ in 0..<mostPages {
      let params = RecordText().number("limit", min(page, most - found.count))
        .string("cursor", cursor)
      let payload = try caller.call("audit.activity.list", params)
      found += rows(["events"], payload)
      let next = payload.withUnsafeBytes {
        (try? ScanMembers.value(of: "nextCursor", in: $0))?.string
      }
      if found.count >= most || next == nil { return try call.finish(found, .gatewayAudit) }
      if next == cursor { break }
      cursor = next
    }
    throw Failure("audit.activity.list", "the pages of the list have no end", .failure)
  }

  /// Asks for all that the commands do, so that one approval lets the device in for all.
  private static func scopes(_ call: OperationCall) throws -> ExitStatus {
    let more: [GatewayScope] = [.write, .approvals, .questions]
    let wanted = [.read] + more
    let caller = GatewayCaller(call.caller, scopes: [.read], more: more)
    _ = try caller.call("agents.list")
    let rows = wanted.map { scope in
      RecordText().string("scope", scope.rawValue)
        .bool("granted", caller.granted.contains(scope.rawValue)).bytes
    }
    return try call.finish(rows, .gatewayScopes)
  }

  // MARK: - Any method

  private static func anything(_ call: OperationCall) throws -> ExitStatus {
    let method = call.arguments.operand ?? ""
    var params = RecordText()
    if let data = call.arguments.data { params = try members(data) }
    var scopes = scopes(of: method)
    let payload: [UInt8]
    let first = GatewayCaller(call.caller, scopes: scopes)
    do throws(Failure) {
      payload = try first.call(method, params)
    } catch {
      // A gateway knows best what its method needs, and has done nothing.
      guard let missing = first.refusal?.missingScope.flatMap(GatewayScope.init),
        !scopes.contains(missing)
      else { throw error }
      scopes.append(missing)
      payload = try GatewayCaller(call.caller, scopes: scopes).call(method, params)
    }
    try call.output.record(payload, facts: nil)
    return payload == Array("null".utf8) ? .negative : .success
  }

  private static func members(_ data: String) throws(Failure) -> RecordText {
    let bytes: [UInt8]
    bytes = try RequestArguments.data(data)
    if let (fault, offset) = bytes.withUnsafeBytes({ ScanValidator.firstFault($0) }) {
      throw Failure("--data", "not JSON: \(fault.reason) at byte \(offset)", .failure)
    }
    let line = RowText.line(bytes)
    guard line.first == UInt8(ascii: "{") else {
      throw Failure("--data", "not a JSON object", .failure)
    }
    let inner = RowText.line(Array(line.dropFirst().dropLast()))
    return inner.isEmpty ? RecordText() : RecordText().members(inner)
  }

  static func scopes(of method: String) -> [GatewayScope] {
    let verb = method.split(separator: ".").last.map(String.init) ?? method
    let isApproval = ["exec.approval.", "plugin.approval.", "approval."]
    if isApproval.contains(where: method.hasPrefix) { return [.approvals] }
    if method.hasPrefix("device.") { return [.pairing] }
    if method.hasPrefix("exec.approvals.") || method.hasPrefix("config.") { return [.admin] }
    let isRead =
      [
        "list", "get", "history", "health", "status", "tail", "preview", "describe", "catalog",
        "effective", "wait", "system-presence",
      ].contains(verb) || method == "sessions.resolve"
    return isRead ? [.read] : [.read, .write]
  }
}

extension Listing {
  static let gatewayScopes = Listing(
    columns: [.text("SCOPE", "scope"), .text("GRANTED", "granted")], fields: ["scope", "granted"])

  static let gatewayAgents = Listing(
    columns: [
      .text("ID", "id"),
      Column("NAME", gives: true) {
        .first([.text($0["identity"]?["name"]), .text($0["name"]), .text($0["id"])])
      },
      Column("EMOJI") { .text($0["identity"]?["emoji"]) },
      .text("MODEL", "model", gives: true), .text("WORKSPACE", "workspace", gives: true),
    ], fields: ["id", "name", "identity", "model", "workspace"])

  static let gatewayThreads = Listing(
    origin: "agent-chat MESSAGE begins one",
    columns: [
      .text("KEY", "key", gives: true),
      Column("TITLE", gives: true) {
        .first(
          ["displayName", "label", "derivedTitle", "title"].map { [row = $0] in .text(row[$0]) })
      },
      .text("KIND", "kind"), .text("MODEL", "model", gives: true),
      Column("UPDATED") { .instant($0["updatedAt"]) },
    ],
    fields: [
      "key", "sessionId", "displayName", "label", "kind", "model", "updatedAt", "derivedTitle",
    ])

  static let gatewayAudit = Listing(
    columns: [
      Column("TIME") { .instant($0["occurredAt"]) }, .text("ACTION", "action"),
      .status("STATUS", "status"),
      Column("ABOUT", gives: true) { .first([.text($0["toolName"]), .text($0["channel"])]) },
      .text("THREAD", "sessionKey", gives: true), .text("RUN", "runId", gives: true),
      .error("ERROR", "errorCode"),
    ],
    fields: [
      "sequence", "occurredAt", "action", "status", "agentId", "sessionKey", "runId", "toolName",
      "channel", "errorCode",
    ])

  static let gatewayModels = Listing(
    columns: [
      .text("ID", "id", gives: true), .text("PROVIDER", "provider"),
      .text("NAME", "name", gives: true), .number("CONTEXT", "contextWindow"),
    ], fields: ["id", "provider", "name", "contextWindow"])

  static let gatewayDevices = Listing(
    columns: [
      Column("STATE") {
        $0["requestId"] == nil ? .words("paired", .good) : .words("pending", .odd)
      },
      .text("REQUEST", "requestId"),
      Column("NAME", gives: true) { .first([.text($0["displayName"]), .text($0["clientId"])]) },
      .text("ROLE", "role"), .text("SCOPES", "scopes", gives: true),
      .text("DEVICE", "deviceId", gives: true),
    ], fields: ["requestId", "deviceId", "displayName", "clientId", "platform", "role", "scopes"])

  static let gatewayCron = Listing(
    origin: "the agent makes one when it is asked to do something later",
    columns: [
      .text("ID", "id"), .text("NAME", "name", gives: true),
      Column("STATE") { .state($0["enabled"], yes: "on", no: "off") },
      .text("SCHEDULE", "schedule", gives: true),
      Column("NEXT") { .instant($0["state"]?["nextRunAtMs"]) },
      Column("LAST") { .instant($0["state"]?["lastRunAtMs"]) },
    ], fields: ["id", "name", "enabled", "schedule", "agentId", "state"])
}

extension Cell {
  /// An instant in milliseconds since 1970; what is none is shown as it is.
  fileprivate static func instant(_ value: JSONValue?) -> Cell {
    guard let time = value?.instant?.rfc3339 else { return .text(value) }
    return .time(try? JSONValue.parse(text: JSONQuote.string(time)))
  }
}
