import Core
import Records

/// `GET /api/agents/browser-sessions`: browser_* rows, grouped by the session
/// that they name (Agent/Clanky/CONTRACT.md 5.4).
struct BrowserSessions: Sendable {
  /// 1 to 200.
  let limit: Int
  let since: String
  let guild: String?

  private static let kinds = [
    "browser_browse_call", "browser_browse_failed", "browser_tool_step",
    "browser_agent_session_turn",
  ]

  init(_ query: QueryParameters, now: Timestamp) {
    limit = query.integer("limit", default: 50, in: 1...200)
    since = query.since(now: now) ?? now.before(hours: 24).rfc3339
    guild = query.word("guildId")
  }

  func json(_ db: Database) throws -> RecordText {
    let kinds = Self.kinds.map { "'\($0)'" }.joined(separator: ",")
    // A session may have many rows: as the dashboard does, enough of them for
    // the sessions that are wanted, and not all.
    let rows = try db.rows(
      sql: """
        \(ActionStore.columns) WHERE kind IN (\(kinds)) AND created_at >= ?1
          AND (?2 IS NULL OR guild_id = ?2)
        ORDER BY created_at DESC, id DESC LIMIT \(limit * 20)
        """, arguments: [since, guild])
    var order: [String] = []
    var sessions: [String: BrowserSession] = [:]
    while let row = try rows.next() {
      let stored = StoredAction(row: row)
      var metadata = stored.action.metadata ?? "{}"
      metadata.withUTF8 { bytes in
        let row = UnsafeRawBufferPointer(bytes)
        let facts = ScanObject(row) ?? ScanObject()
        let named = (facts.text("sessionId") ?? facts.text("sessionKey") ?? "").trimmingBlanks()
        let id = named.isEmpty ? "browse-\(stored.id)" : named
        if sessions[id] == nil { order.append(id) }
        sessions[id, default: BrowserSession(stored.action.createdAt)].add(stored.action, facts)
      }
    }
    // Rows come newest first, and so do the sessions by their newest row.
    let list = order.prefix(limit).compactMap { id in sessions[id]?.json(id) }
    return RecordText().stringOrNull("guildId", guild).objects("sessions", list)
  }
}

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

  init(_ newest: String) {
    startedAt = newest
    lastActiveAt = newest
  }

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

  func json(_ id: String) -> RecordText {
    let steps = tools.reversed().sorted { $0.step < $1.step }.map {
      RecordText().string("tool", $0.tool).number("step", $0.step).string("timestamp", $0.time)
    }
    return RecordText().string("sessionId", id).string("startedAt", startedAt)
      .string("lastActiveAt", lastActiveAt).stringOrNull("source", texts["source"])
      .stringOrNull("guildId", guild).stringOrNull("channelId", channel)
      .stringOrNull("userId", user).stringOrNull("instruction", instruction)
      .json("totalCostUsd", JSONText.number(cost)).number("totalSteps", self.steps)
      .bool("hitStepLimit", hitStepLimit).json("durationMs", milliseconds)
      .stringOrNull("runtime", texts["runtime"]).stringOrNull("provider", texts["provider"])
      .stringOrNull("model", texts["model"]).stringOrNull("currentUrl", texts["currentUrl"])
      .bool("failed", isFailed).stringOrNull("errorName", texts["errorName"])
      .stringOrNull("errorMessage", texts["errorMessage"]).objects("toolSteps", steps)
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
