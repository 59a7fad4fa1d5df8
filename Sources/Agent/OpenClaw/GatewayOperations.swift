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
    let bytes = try RequestArguments.data(data)
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

/// How a gateway is, part by part: what agent-status(1) shows of it
/// (Agent/OpenClaw/CONTRACT.md 6.2).
extension GatewayOperations {
  static func health(_ call: OperationCall) throws -> ExitStatus {
    let caller = GatewayCaller(call.caller, scopes: [.read])
    let start = Clock.monotonic
    let health = try JSONValue.parse(caller.call("health"))
    let latency = Int((Clock.monotonic - start) * 1000)
    let list = try JSONValue.parse(caller.call("sessions.list", GatewayLists.sessions))
    let sessions = list["sessions"]?.elements ?? []
    // Only what is at work can wait for a person.
    let waiting = sessions.contains(where: isBusy) ? try asking(call) : []
    let parts =
      [gateway(health, caller.hello)] + agents(health, sessions, waiting) + channels(health)
    return try call.finish(parts, latency: latency, at: call.caller.backend.base.socketDisplay)
  }

  private static func isBusy(_ session: JSONValue) -> Bool { session["hasActiveRun"]?.bool == true }

  /// The conversations that wait for a person, as far as this device may see that.
  private static func asking(_ call: OperationCall) throws -> Set<String> {
    let caller = GatewayCaller(call.caller, scopes: [.read], more: [.approvals])
    guard let answer = try? JSONValue.parse(caller.call("exec.approval.list")) else { return [] }
    let entries = answer["approvals"]?.elements ?? answer.elements
    return Set(entries.compactMap { $0["request"]?["sessionKey"]?.string })
  }

  private static func gateway(_ health: JSONValue, _ hello: GatewayHello?) -> HealthPart {
    var part = HealthPart(name: "gateway")
    if health["ok"]?.bool == false { part.troubles.append("it is not well, as it says") }
    if health["modelRuntime"]?["degraded"]?.bool == true {
      part.troubles.append("no model is ready")
    }
    for plugin in health["plugins"]?["errors"]?.elements ?? [] {
      part.troubles.append("the plug-in \(plugin["id"]?.string(bytes: 60) ?? "?") failed")
    }
    if let server = hello?.server { part.words.append("version \(server)") }
    if let uptime = hello?.uptime { part.words.append("up \(span(uptime))") }
    // Which passes.
    if health["eventLoop"]?["degraded"]?.bool == true { part.words.append("overloaded") }
    return part
  }

  private static func agents(
    _ health: JSONValue, _ sessions: [JSONValue], _ waiting: Set<String>
  ) -> [HealthPart] {
    (health["agents"]?.elements ?? []).compactMap { agent in
      guard let id = agent["agentId"]?.string else { return nil }
      let own = sessions.filter { session in
        let key = session["key"]?.string
        return (session["agentId"]?.string ?? key.flatMap(GatewayKey.init)?.agent) == id
      }
      // Its health may be older than the list.
      let told = (agent["sessions"]?["count"]?.integer).map(Int.init(clamping:)) ?? 0
      let count = max(told, own.count)
      var part = HealthPart(
        name: id, words: [count == 1 ? "1 conversation" : "\(count) conversations"])
      let busy = own.filter(isBusy).compactMap { $0["key"]?.string }
      let asking = busy.filter(waiting.contains)
      let working = busy.filter { !waiting.contains($0) }
      if !asking.isEmpty { part.words.append("waiting for a person: \(names(asking))") }
      if !working.isEmpty { part.words.append("at work: \(names(working))") }
      if busy.isEmpty { part.words.append("idle") }
      return part
    }
  }

  /// What people call conversations; not many.
  private static func names(_ keys: [String]) -> String {
    let most = 3
    let names = keys.prefix(most).map { GatewayKey($0)?.name ?? $0 }
    return names.joined(separator: " ")
      + (keys.count > most ? " and \(keys.count - most) more" : "")
  }

  private static func channels(_ health: JSONValue) -> [HealthPart] {
    (health["channels"]?.members ?? []).compactMap { name, channel in
      let accounts = channel["accounts"]?.members.map(\.value) ?? []
      let all = (accounts.isEmpty ? [channel] : accounts).filter {
        $0["configured"]?.bool != false && $0["enabled"]?.bool != false
      }
      if all.isEmpty { return nil }
      var part = HealthPart(name: name)
      for account in all {
        if let trouble = trouble(of: account) { part.troubles.append(trouble) }
      }
      return part
    }
  }

  /// Nil for a channel, or an account of one, that is well.
  private static func trouble(of channel: JSONValue) -> String? {
    let error = channel["lastError"]?.string(bytes: 200)
    if let state = channel["healthState"]?.string(bytes: 60), state != "healthy" {
      return [state, error].compactMap { $0 }.joined(separator: ": ")
    }
    if channel["linked"]?.bool == false { return "not linked" }
    if let probe = channel["probe"], probe["ok"]?.bool == false {
      return probe["error"]?.string(bytes: 200) ?? "it does not answer"
    }
    return error
  }

  private static func span(_ seconds: Int) -> String {
    switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3600: "\(seconds / 60)m"
    case ..<86_400: "\(seconds / 3600)h \(seconds % 3600 / 60)m"
    default: "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
    }
  }
}

/// What a gateway says of tokens and dollars, as actions that action-filter(1) sums up
/// (Agent/OpenClaw/CONTRACT.md 6.1).
extension GatewayOperations {
  private static let usageMethod = "sessions.usage"
  /// The most conversations that are asked for.
  private static let most = 1000
  /// How long a gateway may go on counting until what it has is taken, and between two questions,
  /// seconds.
  private static let (patience, pause) = (20.0, 1.0)

  static func usage(_ call: OperationCall) throws -> ExitStatus {
    let now = Timestamp.now()
    let since = call.arguments.since?.timestamp(now: now)
    let answer = try ask(call, since, now)
    let (rows, tokens) = rows(of: answer, since: since)
    let totals = answer["totals"]
    func warn(_ words: String) { call.diagnostics.error(usageMethod, words) }
    if let unpriced = totals?["missingCostEntries"]?.integer, unpriced > 0 {
      let models = unpricedModels(of: answer).joined(separator: ", ")
      let answers = unpriced == 1 ? "1 answer has" : "\(unpriced) answers have"
      warn(
        "\(answers) no price" + (models.isEmpty ? "" : " (\(models))")
          + ": the dollars are at least what was spent")
    }
    if let all = totals?["totalTokens"]?.number, all > tokens {
      warn("some was spent in conversations that the gateway does not list")
    }
    let isOld = isCounting(answer)
    if isOld { warn("the gateway still counts: the numbers are old") }
    let status = try call.finish(rows, .gatewayUsage)
    return isOld ? .temporary : status
  }

  /// A gateway counts when it is asked, and answers meanwhile what it has.
  private static func ask(
    _ call: OperationCall, _ since: Timestamp?, _ now: Timestamp
  ) throws -> JSONValue {
    let caller = GatewayCaller(call.caller, scopes: [.read])
    var params = RecordText().number("limit", most)
    if let since { params = params.string("startDate", day(since)).string("endDate", day(now)) }
    let end = min(Clock.monotonic + patience, call.caller.deadline)
    while true {
      let payload: [UInt8]
      do throws(Failure) {
        // Without it, a late gateway tells of the default agent alone.
        payload = try caller.call(usageMethod, params, late: "agentScope", #""all""#)
      } catch {
        // Who asks for costs has not asked for a method.
        guard call.diagnostics.program != "agent-call", error.reason.holds("unknown method") else {
          throw error
        }
        let name = call.caller.backend.profile?.name ?? call.caller.backend.base.display
        throw Failure(name, "this server does not tell what was spent")
      }
      let answer = try JSONValue.parse(payload)
      let next = Clock.monotonic + pause
      if !isCounting(answer) || next >= end { return answer }
      while Clock.monotonic < next { try call.caller.wait(until: next) }
    }
  }

  private static func isCounting(_ answer: JSONValue) -> Bool {
    answer["cacheStatus"]?["status"]?.string == "refreshing"
  }

  /// The date there (UTC).
  private static func day(_ time: Timestamp) -> String { String(time.rfc3339.prefix(10)) }

  private static func unpricedModels(of answer: JSONValue) -> [String] {
    let entries = answer["aggregates"]?["byModel"]?.elements ?? []
    return entries.filter { ($0["totals"]?["missingCostEntries"]?.integer ?? 0) > 0 }
      .compactMap { $0["model"]?.string }
  }

  // MARK: - Rows

  /// What was spent in a conversation within a time, by a model.
  private struct Part {
    var time: Timestamp
    var provider, model: JSONValue?
    /// Tokens; nil where they are not told apart.
    var tokens: JSONValue?
    var cost: Double

    /// A run that was ended has its quarter of an hour, too.
    var isSome: Bool { cost > 0 || tokens?["totalTokens"]?.number != 0 }
  }

  /// The newest first, and how many tokens the conversations have in all.
  private static func rows(
    of answer: JSONValue, since: Timestamp?
  ) -> (rows: [[UInt8]], tokens: Double) {
    var found: [(time: Timestamp, row: [UInt8])] = []
    var tokens = 0.0
    for session in answer["sessions"]?.elements ?? [] {
      guard let usage = session["usage"], usage.isObject else { continue }
      tokens += usage["totalTokens"]?.number ?? 0
      for part in parts(of: usage, session) where part.isSome && since ?? part.time <= part.time {
        found.append((part.time, row(part, session)))
      }
    }
    return (found.sorted { $0.time > $1.time }.map(\.row), tokens)
  }

  /// A part for each quarter of an hour, or where several models were used in a day, for each of
  /// these.
  private static func parts(of usage: JSONValue, _ session: JSONValue) -> [Part] {
    let last = usage["lastActivity"]?.instant
    return (usage["dailyBreakdown"]?.elements ?? []).flatMap { day -> [Part] in
      guard let date = day["date"]?.string, let start = Timestamp(rfc3339: date + "T00:00:00Z")
      else { return [] }
      func ofDay(_ name: String) -> [JSONValue] {
        (usage[name]?.elements ?? []).filter { $0["date"]?.string == date }
      }
      /// The last time within a span of what was spent in it, as far as it is known.
      func time(_ from: Double, _ length: Double) -> Timestamp {
        let from = start.adding(.seconds(from))
        guard let last, last >= from, last < from.adding(.seconds(length)) else { return from }
        return last
      }
      let quarters = ofDay("utcQuarterHourTokenUsage")
      let models = ofDay("dailyModelUsage")
      func quarter(_ value: JSONValue) -> Double {
        min(max(value["quarterIndex"]?.number ?? 0, 0), 95) * 900
      }
      if models.count > 1 {
        let when = quarters.last.map { time(quarter($0), 900) } ?? time(0, 86_400)
        return models.map { model in
          let same = (usage["modelUsage"]?.elements ?? []).first {
            $0["model"]?.string == model["model"]?.string
              && $0["provider"]?.string == model["provider"]?.string
          }
          // That is of all days: it is that of this one where it is as much.
          let totals = same?["totals"]
          return Part(
            time: when, provider: model["provider"], model: model["model"],
            tokens: totals?["totalTokens"]?.integer == model["tokens"]?.integer ? totals : nil,
            cost: model["cost"]?.number ?? 0)
        }
      }
      let model = models.first
      return (quarters.isEmpty ? [day] : quarters).map { part in
        Part(
          time: quarters.isEmpty ? time(0, 86_400) : time(quarter(part), 900),
          provider: model?["provider"] ?? session["modelProvider"],
          model: model?["model"] ?? session["model"], tokens: part,
          cost: part["totalCost"]?.number ?? 0)
      }
    }
  }

  private static func row(_ part: Part, _ session: JSONValue) -> [UInt8] {
    let key = session["key"]?.string ?? ""
    let model = part.model?.string
    let tokens = part.tokens.map { tokens in
      RecordText().number("inputTokens", tokens["input"]?.integer)
        .number("outputTokens", tokens["output"]?.integer)
        .number("cacheReadTokens", tokens["cacheRead"]?.integer)
        .number("cacheWriteTokens", tokens["cacheWrite"]?.integer)
    }
    return RecordText().string("id", "\(key) \(part.time.rfc3339) \(model ?? "")")
      .time(part.time, as: "created_at").string("kind", "usage").number("usd_cost", part.cost)
      .object(
        "metadata",
        RecordText().string("agent", session["agentId"]?.string).string("sessionId", key)
          .string("provider", part.provider?.string).string("model", model).object("usage", tokens)
      ).bytes
  }
}

extension Listing {
  static let gatewayUsage = Listing(
    columns: [
      .time("TIME", "created_at"), Column("AGENT") { .text($0["metadata"]?["agent"]) },
      Column("THREAD", gives: true) { .text($0["metadata"]?["sessionId"]) },
      Column("MODEL", gives: true) { .text($0["metadata"]?["model"]) },
      Column("IN", isRight: true) { .text($0["metadata"]?["usage"]?["inputTokens"]) },
      Column("OUT", isRight: true) { .text($0["metadata"]?["usage"]?["outputTokens"]) },
      .money("COST", "usd_cost"),
    ], fields: Listing.actions.fields)
}

/// Asks a gateway one thing and waits for the answer: a connection for each question.
final class GatewayCaller {
  private let caller: Caller
  private let wishes: GatewayAuth.Wishes
  /// Why the last call was refused; nil where it was not, or no answer came.
  private(set) var refusal: GatewayError?
  /// The greeting of the last connection.
  private(set) var hello: GatewayHello?
  /// What was granted; empty where that is not said.
  private(set) var granted: [String] = []

  /// - Parameter more: what is asked for, too, and done without where it is not granted.
  init(_ caller: Caller, scopes: [GatewayScope], more: [GatewayScope] = []) {
    self.caller = caller
    wishes = GatewayAuth.Wishes(scopes: scopes, more: more)
  }

  /// Asks with one member more, and without it a gateway that is too old to know that.
  func call(
    _ method: String, _ params: RecordText = RecordText(), late name: String, _ value: String
  ) throws(Failure) -> [UInt8] {
    do throws(Failure) { return try call(method, params.json(name, value)) } catch {
      guard refusal?.names(name) == true else { throw error }
      return try call(method, params)
    }
  }

  func call(_ method: String, _ params: RecordText = RecordText()) throws(Failure) -> [UInt8] {
    refusal = nil
    let keys = try GatewayKeys(try AgentAccess(caller))
    let question = Question(caller, keys.server)
    caller.diagnostics.note("\(method) at \(question.place)")
    let start = Clock.monotonic
    let auth = GatewayAuth(keys, wishes)
    question.follow { () throws(LinkEnd) in
      let gateway = try Gateway.connect(question, auth, keys.server)
      hello = gateway.hello
      granted = gateway.hello.scopes ?? wishes.scopes.map(\.rawValue)
      if let words = auth.notGranted() { caller.diagnostics.say(words) }
      if auth.isByDevice { caller.diagnostics.note(GatewayAuth.byDevice) }
      // The time of the command ends it, not that of one question.
      let number = gateway.ask(method, params, time: .infinity)
      do throws(LinkEnd) {
        while question.result == nil {
          guard case .reply(number, let reply) = try gateway.receive() else { continue }
          switch reply {
          case .answer(let payload):
            let bytes = payload.isAbsent ? Array("null".utf8) : Array(payload.bytes)
            question.result = .success(bytes)
          case .refused(let error):
            refusal = error
            question.result = .failure(Failure(method, error.failure))
          case .late: break
          }
        }
      } catch .over {
        throw .over
      } catch {
        let reason = "the connection was lost before an answer came"
        question.result = .failure(Failure(method, reason, .temporary))
      }
      throw .over
    }
    guard let result = question.result else { throw caller.late(question.place) }
    caller.diagnostics.note("an answer in \(Latency.text(Clock.monotonic - start)) ms")
    return try result.get()
  }

  private final class Question: StreamLoop {
    var result: Result<[UInt8], Failure>?
    private let caller: Caller
    private let limit: Double

    init(_ caller: Caller, _ server: AgentServer) {
      self.caller = caller
      limit = caller.maxTime == nil ? Clock.monotonic + Caller.requestTime : caller.deadline
      var policy = StreamPolicy()
      policy.maxRetries = 0
      policy.idleTimeout = .infinity
      super.init(caller.client, server.base.socketDisplay, policy) { server.problem(of: $0, $1) }
    }

    override var isOver: Bool { result != nil }
    override func willWait() throws(LinkEnd) -> Double {
      if isOver || Clock.monotonic >= limit { throw .over }
      return limit
    }
    override func ended(_ end: StreamEnd, at place: String) {
      result = .failure(Failure(self.place, end.problem))
    }
    override func fault(_ reason: String, at place: String?) { caller.diagnostics.say(reason) }
  }
}

extension AgentAccess {
  fileprivate init(_ caller: Caller) throws(Failure) {
    guard let profile = caller.backend.profile else {
      throw Failure(caller.backend.base.display, "no profile stands for this address")
    }
    self.profile = profile
    backend = caller.backend
    client = caller.client
    options = AccessOptions()
  }
}
