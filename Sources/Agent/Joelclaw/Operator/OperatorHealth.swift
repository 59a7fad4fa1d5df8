import Core
import Records
import Web

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
    self.state = state
    self.summary = summary
    self.isRefused = isRefused
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
