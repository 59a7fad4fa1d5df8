import Core
import Records
import Turns
import Web

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
