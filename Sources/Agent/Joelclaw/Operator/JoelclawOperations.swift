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
