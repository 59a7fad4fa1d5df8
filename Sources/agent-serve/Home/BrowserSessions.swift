import Core
import Records

/// `GET /api/agents/browser-sessions`: browser_* rows, grouped by the session
/// that they name (Agent/Clanky/CONTRACT.md 5.4).
enum BrowserSessions {
  private static let kinds = [
    "browser_browse_call", "browser_browse_failed", "browser_tool_step",
    "browser_agent_session_turn",
  ]

  static func json(_ query: QueryParameters, _ db: Database) throws -> RecordText {
    let now = Timestamp.now()
    let limit = query.integer("limit", default: 50, in: 1...200)
    let since = query.since(now: now) ?? now.before(hours: 24).rfc3339
    let guild = query.word("guildId")
    let kinds = kinds.map { "'\($0)'" }.joined(separator: ",")
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
      stored.action.facts { facts in
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
  /// By their names in the answer.
  private var texts: [String: String] = [:]
  private var cost = 0.0
  private var steps = 0
  private var hitStepLimit = false
  /// What was told of it, milliseconds.
  private var duration: Double?
  private var isFailed = false
  private var tools: [(tool: String, step: Int, time: String)] = []

  init(_ newest: String) { (startedAt, lastActiveAt) = (newest, newest) }

  mutating func add(_ action: LoggedAction, _ facts: ScanObject) {
    startedAt = min(startedAt, action.createdAt)
    note("guildId", action.guild)
    note("channelId", action.channel)
    note("userId", action.user)
    for name in ["source", "runtime", "provider", "model", "currentUrl"] {
      note(name, facts.text(name))
    }
    if action.kind == "browser_tool_step" {
      let step = max(0, facts.number("step") ?? 0).rounded(.down)
      let tool = facts.text("tool") ?? action.content ?? "unknown"
      tools.append((tool, Int(exactly: step) ?? 0, action.createdAt))
      return
    }
    note("instruction", action.content)
    if action.kind == "browser_agent_session_turn" {
      steps += Self.count(facts)
      cost += facts.number("turnCostUsd") ?? action.usd
    } else {
      steps = max(steps, Self.count(facts))
      cost += facts.number("totalCostUsd") ?? action.usd
      if facts.isTrue("hitStepLimit") { hitStepLimit = true }
    }
    if action.kind == "browser_browse_failed" {
      isFailed = true
      for name in ["errorName", "errorMessage"] { note(name, facts.text(name)) }
    }
    if !facts["durationMs"].isNull, let more = facts.number("durationMs") {
      duration = (duration ?? 0) + more
    }
  }

  /// The first row that has a text tells it.
  private mutating func note(_ name: String, _ text: String?) {
    texts[name] = texts[name] ?? text
  }

  private static func count(_ facts: ScanObject) -> Int {
    guard let steps = facts.number("steps"), abs(steps) < 1e9 else { return 0 }
    return Int(steps)
  }

  func json(_ id: String) -> RecordText {
    let steps = tools.reversed().sorted { $0.step < $1.step }.map {
      RecordText().string("tool", $0.tool).number("step", $0.step).string("timestamp", $0.time)
    }
    func text(_ name: String) -> String? { texts[name] }
    let lasted = Timestamp.milliseconds(from: startedAt, to: lastActiveAt)
      .flatMap { $0 > 0 ? "\($0)" : nil }
    return RecordText().string("sessionId", id).string("startedAt", startedAt)
      .string("lastActiveAt", lastActiveAt)
      .texts("source", "guildId", "channelId", "userId", "instruction", of: text)
      .json("totalCostUsd", JSONText.number(cost)).number("totalSteps", self.steps)
      .bool("hitStepLimit", hitStepLimit)
      .json("durationMs", duration.map(JSONText.number) ?? lasted ?? "null")
      .texts("runtime", "provider", "model", "currentUrl", of: text).bool("failed", isFailed)
      .texts("errorName", "errorMessage", of: text).objects("toolSteps", steps)
  }
}
