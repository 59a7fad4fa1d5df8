import Core
import Records
import Web

/// What a joelclaw system can be asked for by a word (CONTRACT.md 5): each part says its own, and
/// `health` asks all that the profile names at once.
enum JoelclawOperations {
  static let all: [Operation] = [
    Operation("health", listing: .joelclawHealth, run: health),
    Operation("runs", options: ["count", "since"], listing: .joelclawTasks) { call in
      try call.finish(try runs(call), .joelclawTasks)
    },
    Operation("functions", options: ["count"], listing: .joelclawFunctions) { call in
      let data = try inngest(call, InngestText.functions)
      return try call.finish(elements(data, ["functions"]), .joelclawFunctions)
    },
    Operation("loops", options: ["count"], listing: .joelclawTasks) { call in
      try call.finish(try loops(call), .joelclawTasks)
    },
    Operation("workers", listing: .joelclawWorkers) { call in
      let (outcome, _) = try ask(call, .worker) { places throws(SettingsError) in
        try places.question(.worker)
      }
      return try call.finish([try body(outcome, call, .worker)], .joelclawWorkers)
    },
    Operation("logs", options: ["count", "since"], listing: .joelclawLogs) { call in
      let query = InngestText.events(since: since(call), count: count(call))
      let data = try inngest(call, query)
      let rows = elements(data, ["eventsV2", "edges"]).compactMap { member("node", $0) }
      return try call.finish(rows, .joelclawLogs)
    },
  ]

  /// How long a part has, seconds, and Inngest for its lists.
  private static let (usualTime, listTime) = (10.0, 60.0)
  private static let usualCount = 50
  private static let day: Int64 = 86_400

  // MARK: - Health

  private static func health(_ call: OperationCall) throws -> ExitStatus {
    let places = try places(call)
    let time = call.caller.timeLeft(usual: usualTime)
    var rows: [OperatorSource: [UInt8]] = [:]
    var states: [OperatorHealth.State] = []
    var questions: [(OperatorSource, OperatorQuestion)] = []
    for source in places.named {
      do throws(SettingsError) {
        questions.append((source, try places.question(source)))
      } catch {
        // One that cannot be asked keeps no other from being asked.
        states.append(.down)
        rows[source] = OperatorHealth(.down, error.message)
          .record(source, place: places.place(source), seconds: 0)
      }
    }
    let outcomes = OperatorRound(call.caller.client).ask(questions.map(\.1), time: time)
    for ((source, _), (outcome, seconds)) in zip(questions, outcomes) {
      let health = OperatorHealth(source, outcome, time: time)
      states.append(health.state)
      rows[source] = health.record(source, place: places.place(source), seconds: seconds)
    }
    try call.output.list(places.named.compactMap { rows[$0] }, .joelclawHealth)
    if states.allSatisfy({ $0 == .healthy }) { return .success }
    let isSilent = states.allSatisfy { $0 == .down || $0 == .timeout }
    return isSilent ? .temporary : .negative
  }

  // MARK: - Lists

  private static func runs(_ call: OperationCall) throws -> [[UInt8]] {
    let query = InngestText.runs(since: since(call), count: count(call))
    let data = try inngest(call, query)
    guard let value = parsed(data) else { return [] }
    let running = InngestText.running(value)
    let details = running.isEmpty ? nil : try? inngest(call, InngestText.details(running))
    return InngestText.tasks(value, details.flatMap(parsed), origin(call))
  }

  private static func loops(_ call: OperationCall) throws -> [[UInt8]] {
    var (cursor, keys): (String, [String]) = ("0", [])
    repeat {
      let reply = try redis(call, RedisText.loops(from: cursor))
      cursor = reply.element(0)?.text ?? "0"
      keys += (reply.element(1)?.elements ?? []).compactMap(\.string)
    } while cursor != "0" && keys.count < 100_000
    keys = Set(keys).filter { RedisText.loop($0) != nil }.sorted()
    var rows: [[UInt8]] = []
    // Together they stay below what a pipe holds.
    for start in stride(from: 0, to: keys.count, by: 50) {
      let some = Array(keys[start..<min(start + 50, keys.count)])
      let values = try redis(call, RedisText.values(of: some)).elements
      for (key, value) in zip(some, values) {
        guard let id = RedisText.loop(key), let text = value.string else { continue }
        guard let row = LoopText.task(id, text, origin(call)) else {
          call.diagnostics.error(key, "not the state of a loop")
          continue
        }
        rows.append(row)
      }
    }
    return rows
  }

  // MARK: - One part

  private static func inngest(
    _ call: OperationCall, _ query: String
  ) throws(CallFailure) -> [UInt8] {
    let (outcome, place) = try ask(call, .inngest, usual: listTime) {
      places throws(SettingsError) in
      let (server, body) = (try places.server(.inngest), InngestText.body(query))
      return .http(try server.request(InngestText.path, method: "POST", body: body))
    }
    if case .response(_, let body) = outcome, let answer = parsed(body),
      let reason = InngestText.fault(answer)
    {
      throw CallFailure(place, reason, .failure)
    }
    guard let data = member("data", try body(outcome, call, .inngest)) else {
      throw CallFailure(place, "the answer has no data", .failure)
    }
    return data
  }

  private static func redis(
    _ call: OperationCall, _ commands: [String]
  ) throws(CallFailure) -> JSONValue {
    let (outcome, place) = try ask(call, .redis) { places throws(SettingsError) in
      try places.redis(commands)
    }
    guard case .output(let output, let error, _) = outcome else {
      throw failure(outcome, place)
    }
    switch RedisText.replies(output, to: commands.count)?.last {
    case .value(let value): return value
    case .error(let reason):
      let isRefusal = ["NOAUTH", "WRONGPASS", "NOPERM"].contains { reason.hasPrefix($0) }
      throw CallFailure(place, reason, isRefusal ? .denied : .failure)
    case nil: throw CallFailure(place, error.isEmpty ? "no reply" : error, .temporary)
    }
  }

  private static func ask(
    _ call: OperationCall, _ source: OperatorSource, usual: Double = usualTime,
    _ question: (OperatorPlaces) throws(SettingsError) -> OperatorQuestion
  ) throws(CallFailure) -> (OperatorOutcome, String) {
    let places = try places(call)
    let asked: OperatorQuestion
    do throws(SettingsError) { asked = try question(places) } catch { throw CallFailure(error) }
    let place = places.place(source)
    call.diagnostics.note("\(source.rawValue) at \(place)")
    let round = OperatorRound(call.caller.client)
    return (round.ask([asked], time: call.caller.timeLeft(usual: usual))[0].0, place)
  }

  private static func body(
    _ outcome: OperatorOutcome, _ call: OperationCall, _ source: OperatorSource
  ) throws(CallFailure) -> [UInt8] {
    let places = try places(call)
    let place = places.place(source)
    guard case .response(let head, let body) = outcome else { throw failure(outcome, place) }
    if let problem = try? places.server(source).problem(of: head, body) {
      throw CallFailure(place, problem.line, problem.status)
    }
    guard body.withUnsafeBytes({ ScanValidator.isValue($0) }) else {
      throw CallFailure(place, "the answer is not JSON", .failure)
    }
    return body
  }

  private static func failure(_ outcome: OperatorOutcome, _ place: String) -> CallFailure {
    switch outcome {
    case .failed(let reason): CallFailure(place, reason, .temporary)
    default: CallFailure(place, "no whole answer in time; see --max-time", .temporary)
    }
  }

  // MARK: - Small things

  private static func places(_ call: OperationCall) throws(CallFailure) -> OperatorPlaces {
    do throws(SettingsError) { return try OperatorPlaces(call.caller) } catch {
      throw CallFailure(error)
    }
  }

  private static func origin(_ call: OperationCall) -> RecordOrigin {
    RecordOrigin(.joelclaw, profile: call.caller.backend.profile?.name)
  }

  private static func count(_ call: OperationCall) -> Int {
    min(call.arguments.count ?? usualCount, 1000)
  }

  private static func since(_ call: OperationCall) -> Timestamp {
    let now = Timestamp.now()
    return call.arguments.since?.timestamp(now: now) ?? now.adding(.seconds(-day))
  }

  private static func parsed(_ bytes: [UInt8]) -> JSONValue? {
    bytes.withUnsafeBytes { try? JSONValue.parse($0) }
  }

  private static func member(_ name: String, _ object: [UInt8]) -> [UInt8]? {
    object.withUnsafeBytes { bytes in
      guard let value = try? ScanMembers.value(of: name, in: bytes), !value.isNull else {
        return nil
      }
      return Array(value.bytes)
    }
  }

  private static func elements(_ object: [UInt8], _ path: [String]) -> [[UInt8]] {
    let list = path.reduce(Optional(object)) { value, name in
      value.flatMap { member(name, $0) }
    }
    return list.flatMap { Answer.elements($0) } ?? []
  }
}
