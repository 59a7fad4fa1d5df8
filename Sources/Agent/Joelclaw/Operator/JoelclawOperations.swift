import Core
import Records
import Web

/// What a joelclaw system can be asked for by a word (CONTRACT.md 5): each part says its own, and
/// `health` asks all that the profile names at once.
enum JoelclawOperations {
  static let all: [Operation] = [
    Operation("health", listing: .health, run: health),
    Operation("runs", options: ["count", "since"], listing: .joelclawTasks, run: runs),
    Operation("functions", options: ["count"], listing: .joelclawFunctions) { call in
      let system = try OperatorCall(call, time: listTime)
      let data = try system.inngest(InngestText.functions)
      return try call.finish(try system.elements(data, ["functions"]), .joelclawFunctions)
    },
    Operation("loops", options: ["count"], listing: .joelclawTasks, run: loops),
    Operation("workers", listing: .joelclawWorkers) { call in
      try call.finish([try OperatorCall(call).worker()], .joelclawWorkers)
    },
    Operation("logs", options: ["count", "since"], listing: .joelclawLogs) { call in
      let system = try OperatorCall(call, time: listTime)
      let query = InngestText.events(since: system.since, count: system.count)
      let edges = try system.elements(try system.inngest(query), ["eventsV2", "edges"])
      let rows = edges.compactMap { OperatorCall.member("node", $0) }
      system.tellMore(rows.count)
      return try call.finish(rows, .joelclawLogs)
    },
  ]

  /// How long a list has, seconds.
  private static let listTime = 60.0
  private static let atOnce = 50

  // MARK: - Health

  private static func health(_ call: OperationCall) throws -> ExitStatus {
    let system = try OperatorCall(call)
    let time = call.caller.timeLeft(usual: OperatorCall.usualTime)
    var rows: [OperatorSource: [UInt8]] = [:]
    var (states, faults): ([OperatorHealth], [Failure]) = ([], [])
    var questions: [(OperatorSource, OperatorQuestion)] = []
    for source in system.named {
      do throws(Failure) {
        questions.append((source, try system.question(source)))
      } catch {
        // One that cannot be asked keeps no other from being asked.
        faults.append(error)
        let health = OperatorHealth(.down, error.message, isRefused: error.status == .denied)
        states.append(health)
        rows[source] = health.record(source, place: system.place(source), seconds: 0)
      }
    }
    let outcomes = OperatorQuestion.ask(
      questions.map(\.1), call.caller.client, time: time)
    for ((source, _), (outcome, seconds)) in zip(questions, outcomes) {
      let health = OperatorHealth(source, outcome, time: time)
      states.append(health)
      rows[source] = health.record(source, place: system.place(source), seconds: seconds)
    }
    try call.output.list(system.named.compactMap { rows[$0] }, .health)
    if states.allSatisfy({ $0.state == .healthy }) { return .success }
    if states.contains(where: \.isRefused) { return .denied }
    if states.contains(where: \.isThere) { return .negative }
    // To try it again betters nothing.
    if let fault = faults.first { throw fault }
    return .temporary
  }

  // MARK: - Runs

  private static func runs(_ call: OperationCall) throws -> ExitStatus {
    let system = try OperatorCall(call, time: listTime)
    let data = try system.inngest(InngestText.runs(since: system.since, count: system.count))
    guard let value = try? JSONValue.parse(data) else { throw system.missing("runs") }
    let details = details(InngestText.running(value), system)
    guard let rows = InngestText.tasks(value, details, system.origin) else {
      throw system.missing("runs")
    }
    system.tellMore(rows.count)
    return try call.finish(rows, .joelclawTasks)
  }

  private static func details(_ running: [String], _ system: OperatorCall) -> [String: JSONValue] {
    var (found, reason): ([String: JSONValue], String?) = ([:], nil)
    let plain = running.filter(InngestText.isPlain)
    for start in stride(from: 0, to: plain.count, by: atOnce) {
      let some = Array(plain[start..<min(start + atOnce, plain.count)])
      do throws(Failure) {
        let (data, fault) = try system.answer(InngestText.details(some))
        let value = data.flatMap { try? JSONValue.parse($0) }
        found.merge(value.map { InngestText.found($0, some) } ?? [:]) { $1 }
        reason = reason ?? fault
      } catch {
        reason = error.message
        break
      }
    }
    let missing = Set(running).filter { found[$0] == nil }.count
    if missing > 0 {
      system.call.diagnostics.say(
        "\(missing) of the runs that the list shows at work could not be looked up: "
          + (reason ?? "nothing is known of them"))
    }
    return found
  }

  // MARK: - Loops

  private static func loops(_ call: OperationCall) throws -> ExitStatus {
    let system = try OperatorCall(call, time: listTime, partTime: OperatorCall.usualTime)
    let (keys, isWhole) = try keys(system)
    var rows: [[UInt8]] = []
    for start in stride(from: 0, to: keys.count, by: atOnce) {
      let some = Array(keys[start..<min(start + atOnce, keys.count)])
      let values = try system.redis(RedisText.values(of: some)).elements
      for (key, value) in zip(some, values) {
        guard let id = RedisText.loop(key) else { continue }
        guard let text = value.string else {
          call.diagnostics.error(key, "no text stands there, or its name is not UTF-8")
          continue
        }
        guard let row = TaskRecord.loop(id, text, system.origin) else {
          call.diagnostics.error(key, "not the state of a loop")
          continue
        }
        rows.append(row)
      }
    }
    let status = try call.finish(rows, .joelclawTasks)
    if isWhole { return status }
    throw Failure(
      system.place(.redis), "the list of keys did not end in time; see --max-time",
      .temporary)
  }

  /// The keys of the loops, sorted, and whether these are all.
  private static func keys(_ system: OperatorCall) throws(Failure) -> ([String], Bool) {
    var (cursor, keys): (String, Set<String>) = ("0", [])
    while true {
      let reply = try system.redis(RedisText.loops(from: cursor))
      guard let next = reply.element(0)?.text else {
        throw Failure(system.place(.redis), "the answer is not Redis's", .failure)
      }
      let some = (reply.element(1)?.elements ?? []).compactMap(\.string)
      keys.formUnion(some.filter { RedisText.loop($0) != nil })
      // One that comes back to where it began goes round for ever.
      let isStuck = next == cursor && next != "0"
      cursor = next
      if cursor == "0" || isStuck || system.isLate { break }
    }
    return (keys.sorted(), cursor == "0")
  }
}

extension Listing {
  static let joelclawTasks = Listing(
    columns: [
      .text("ID", "id"), .text("TITLE", "title", gives: true), .status("STATE", "state"),
      .time("LAST", "last"), .error("NOTES", "notes"),
    ], fields: ["id", "title", "state", "last", "time", "notes"])

  static let joelclawFunctions = Listing(
    columns: [
      .text("SLUG", "slug", gives: true), .text("NAME", "name", gives: true),
      Column("TRIGGERS", gives: true) { row in
        .row((row["triggers"]?.elements ?? []).map { .text($0["value"]) }, by: ", ")
      },
    ], fields: ["id", "slug", "name", "triggers"])

  static let joelclawWorkers = Listing(
    columns: [
      .text("SERVICE", "service"), .status("STATUS", "status"),
      Column("ROLE") { .text($0["worker"]?["role"]) },
      Column("STARTED") { .time($0["worker"]?["startedAt"]) },
      .number("FUNCTIONS", "count"),
    ], fields: ["service", "status", "count", "worker"])

  static let joelclawLogs = Listing(
    columns: [
      .time("TIME", "occurredAt"), .text("NAME", "name", gives: true), .text("ID", "id"),
      .text("DATA", "raw", gives: true),
    ], fields: ["occurredAt", "name", "id", "raw"])
}

/// What an answer of a part says of its health (CONTRACT.md 5).
struct OperatorHealth: Equatable {
  enum State: String, CaseIterable {
    case healthy, degraded, down
    case timeout
  }

  var state: State
  var summary: String
  /// Whether a token or a password was refused, or is missing.
  var isRefused = false

  init(_ state: State, _ summary: String, isRefused: Bool = false) {
    (self.state, self.summary, self.isRefused) = (state, summary, isRefused)
  }

  private init(_ state: State, _ words: [String?]) {
    self.init(state, words.compactMap(\.self).joined(separator: ", "))
  }

  private static let good: Set = [
    "ok", "healthy", "running", "ready", "active", "up", "online", "normal", "200",
  ]

  init(_ source: OperatorSource, _ outcome: OperatorOutcome, time: Double) {
    switch outcome {
    case .late: self.init(.timeout, "no answer in \(Self.short(time)) s")
    case .failed(let reason): self.init(.down, reason)
    case .response(let head, let body):
      let value = try? JSONValue.parse(body)
      self = Self.judge(source, head, value)
    case .output(let output, let error, let status):
      self =
        source == .redis
        ? Self.redis(output, error) : Self.kubernetes(output, error, isFine: status == 0)
    }
  }

  var isThere: Bool { state == .healthy || state == .degraded }

  /// Seconds, as a person would say them: a little of the time is gone before it is asked.
  private static func short(_ seconds: Double) -> String {
    let parts = seconds < 0.5 ? 100.0 : 10
    return Latency.seconds((seconds * parts).rounded() / parts)
  }

  // MARK: - Over HTTP

  private static func judge(
    _ source: OperatorSource, _ head: ResponseHead, _ value: JSONValue?
  ) -> OperatorHealth {
    if source == .gateway, let value, value["available"]?.bool != nil { return gateway(value) }
    guard (200...299).contains(head.status) else {
      return OperatorHealth(
        .down, head.summary, isRefused: head.status == 401 || head.status == 403)
    }
    switch source {
    case .worker: return worker(value)
    case .qdrant:
      guard let list = value?["result"]?["collections"], list.kind == .array else {
        return OperatorHealth(.down, "the answer is not Qdrant's")
      }
      return OperatorHealth(.healthy, many(list.count, "collection"))
    case .inngest:
      guard let value, value.isObject else {
        return OperatorHealth(.down, "the answer is not Inngest's")
      }
      let word = value["status"]?.text
      let isFine = word.map(isGood) ?? true
      return OperatorHealth(isFine ? .healthy : .degraded, isFine ? "" : word ?? "")
    default: return OperatorHealth(.down, "the answer is not a gateway's")
    }
  }

  private static func isGood(_ word: String) -> Bool { good.contains(word.lowercased()) }

  private static func gateway(_ value: JSONValue) -> OperatorHealth {
    let mode = value["mode"]?.string ?? "normal"
    let session = value["components"]?["session"]?.text
    let redis = value["components"]?["redis"]?.text
    let hasRedis =
      redis.map(isGood) != false
      && value["status"]?["runtime"]?["redisHealthy"]?.bool != false
    let source = value["status"]?["supersession"]?["activeRequest"]?["source"]?.string
    let isFine =
      value["healthy"]?.bool != false && mode == "normal" && session.map(isGood) != false
      && hasRedis
    let words = [
      mode == "normal" ? nil : mode, session == "ok" ? nil : session.map { "session \($0)" },
      hasRedis ? nil : "its Redis is lost", value["reason"]?.string,
      source.map { "at a request of \($0)" },
    ]
    let state: State = value["available"]?.bool == false ? .down : isFine ? .healthy : .degraded
    return OperatorHealth(state, words)
  }

  private static func worker(_ value: JSONValue?) -> OperatorHealth {
    guard let value, value.isObject else { return OperatorHealth(.down, "the answer is no object") }
    let status = value["status"]?.text
    let isFine = status.map(isGood) == true
    let count = value["count"]?.integer
    let twice = value["worker"]?["duplicateFunctionIds"]?.elements.count ?? 0
    let words = [
      isFine ? nil : status ?? "it says no status",
      count.map { many(Int(clamping: $0), "function") },
      twice == 0 ? nil : "\(twice) registered twice",
    ]
    let isWell = isFine && twice == 0 && count ?? 0 >= 0
    return OperatorHealth(isWell ? .healthy : .degraded, words)
  }

  // MARK: - By programs

  private static func redis(_ output: [UInt8], _ error: String) -> OperatorHealth {
    let replies = RedisText.replies(output, to: RedisText.health.count) ?? []
    // Of a password or a database that there is not, or of the very first question.
    if case .error(let reason)? = replies.first {
      return OperatorHealth(.down, reason, isRefused: RedisText.isRefusal(reason))
    }
    guard replies.count == RedisText.health.count else {
      return OperatorHealth(.down, error.isEmpty ? "the answer is not Redis's" : error)
    }
    for case .error(let reason) in replies { return OperatorHealth(.degraded, reason) }
    let values = replies.map { reply -> JSONValue? in
      if case .value(let value) = reply { value } else { nil }
    }
    let (prompts, events) = (values[1]?.integer ?? 0, values[2]?.integer ?? 0)
    let mode = values[3]?.string
    let words = [
      many(Int(clamping: prompts), "prompt"), many(Int(clamping: events), "event"),
      mode.map { "mode \($0)" }, values[4]?.integer == 1 ? "asleep" : nil,
    ]
    let isFine = mode == nil || mode == "normal"
    return OperatorHealth(isFine ? .healthy : .degraded, words)
  }

  private static func kubernetes(
    _ output: [UInt8], _ error: String, isFine: Bool
  ) -> OperatorHealth {
    let value = try? JSONValue.parse(output)
    guard isFine, let items = value?["items"], items.kind == .array else {
      return OperatorHealth(.down, error.isEmpty ? "kubectl printed no pods" : error)
    }
    let bad = items.elements.filter { pod in
      let phase = pod["status"]?["phase"]?.string
      if phase == "Succeeded" { return false }
      let parts = pod["status"]?["containerStatuses"]?.elements ?? []
      return phase != "Running" || parts.contains { $0["ready"]?.bool == false }
    }
    let names = bad.compactMap { $0["metadata"]?["name"]?.string }.prefix(3)
    let rest = bad.isEmpty ? "" : ", \(bad.count) not ready: " + names.joined(separator: ", ")
    return OperatorHealth(bad.isEmpty ? .healthy : .degraded, many(items.count, "pod") + rest)
  }

  private static func many(_ count: Int, _ one: String) -> String {
    "\(count) \(one)\(count == 1 ? "" : "s")"
  }

  // MARK: - The row

  func record(_ source: OperatorSource, place: String, seconds: Double) -> [UInt8] {
    HealthPart.record(
      source.rawValue, state.rawValue, summary, latency: Latency.text(seconds), place)
  }
}
