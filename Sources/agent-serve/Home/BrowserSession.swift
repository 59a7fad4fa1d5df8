import Core

/// One browser session, put together from its rows, newest first.
struct BrowserSession {
  private var startedAt: String
  private let lastActiveAt: String
  private var texts: [String: String] = [:]
  private var guild: String?
  private var channel: String?
  private var user: String?
  private var instruction: String?
  private var cost = 0.0
  private var steps = 0
  private var hitStepLimit = false
  private var duration: Double?
  private var isFailed = false
  private var tools: [(tool: String, step: Int, time: String)] = []

  /// - Parameter newest: the time of its newest row.
  init(_ newest: String) {
    startedAt = newest
    lastActiveAt = newest
  }

  /// Takes the next older row.
  ///
  /// - Parameters:
  ///   - action: the row.
  ///   - facts: its metadata.
  mutating func add(_ action: LoggedAction, _ facts: ScanObject) {
    startedAt = min(startedAt, action.createdAt)
    guild = guild ?? action.guild
    channel = channel ?? action.channel
    user = user ?? action.user
    for name in ["source", "runtime", "provider", "model", "currentUrl"] where texts[name] == nil {
      texts[name] = facts.text(name)
    }
    switch action.kind {
    case "browser_tool_step":
      let step = max(0, facts.number("step") ?? 0).rounded(.down)
      tools.append(
        (
          facts.text("tool") ?? action.content ?? "unknown", Int(exactly: step) ?? 0,
          action.createdAt
        ))
    case "browser_agent_session_turn":
      instruction = instruction ?? action.content
      steps += Self.count(facts)
      cost += facts.number("turnCostUsd") ?? action.usd
      add(duration: facts)
    default:
      if action.kind == "browser_browse_failed" {
        isFailed = true
        for name in ["errorName", "errorMessage"] where texts[name] == nil {
          texts[name] = facts.text(name)
        }
      }
      instruction = instruction ?? action.content
      steps = max(steps, Self.count(facts))
      if facts.isTrue("hitStepLimit") { hitStepLimit = true }
      cost += facts.number("totalCostUsd") ?? action.usd
      add(duration: facts)
    }
  }

  private mutating func add(duration facts: ScanObject) {
    if facts["durationMs"].isNull { return }
    if let more = facts.number("durationMs") { duration = (duration ?? 0) + more }
  }

  private static func count(_ facts: ScanObject) -> Int {
    guard let steps = facts.number("steps"), abs(steps) < 1e9 else { return 0 }
    return Int(steps)
  }

  /// The row of the answer.
  func json(_ id: String) -> String {
    func text(_ name: String) -> String { JSONText.quoted(texts[name]) }
    let steps = tools.reversed().sorted { $0.step < $1.step }.map { step in
      """
      {"tool":\(JSONText.quoted(step.tool)),"step":\(step.step),\
      "timestamp":\(JSONText.quoted(step.time))}
      """
    }
    return """
      {"sessionId":\(JSONText.quoted(id)),"startedAt":\(JSONText.quoted(startedAt)),\
      "lastActiveAt":\(JSONText.quoted(lastActiveAt)),"source":\(text("source")),\
      "guildId":\(JSONText.quoted(guild)),"channelId":\(JSONText.quoted(channel)),\
      "userId":\(JSONText.quoted(user)),"instruction":\(JSONText.quoted(instruction)),\
      "totalCostUsd":\(JSONText.number(cost)),"totalSteps":\(self.steps),\
      "hitStepLimit":\(hitStepLimit),"durationMs":\(milliseconds),"runtime":\(text("runtime")),\
      "provider":\(text("provider")),"model":\(text("model")),\
      "currentUrl":\(text("currentUrl")),"failed":\(isFailed),"errorName":\(text("errorName")),\
      "errorMessage":\(text("errorMessage")),"toolSteps":[\(steps.joined(separator: ","))]}
      """
  }

  /// What was told, else the time from the first row to the last.
  private var milliseconds: String {
    if let duration { return JSONText.number(duration) }
    guard let start = Timestamp(rfc3339: startedAt), let end = Timestamp(rfc3339: lastActiveAt),
      end > start
    else { return "null" }
    return String(
      (end.seconds - start.seconds) * 1000
        + Int64(end.nanoseconds / 1_000_000 - start.nanoseconds / 1_000_000))
  }
}
