import Core
import Records

/// What the dashboard derives from the voice state (Agent/Clanky/CONTRACT.md 5.6).
struct VoicePanels {
  private let state: [UInt8]

  init(_ state: [UInt8]) { self.state = state }

  /// `GET /api/voice/asr-sessions`.
  func asrSessions(now: Timestamp) -> RecordText {
    let rows = rows("asrSessions") { session, row in
      var ends: String?
      if let idle = row.number("idleMs"), let limit = row.number("idleTtlMs") {
        ends = now.adding(.milliseconds(min(max(limit - idle, 0), 1e12))).rfc3339
      }
      return session.string("userId", row.text("userId") ?? "")
        .texts("displayName", of: row.text).bool("connected", row.isTrue("connected"))
        .stringOrNull("createdAt", row.text("connectedAt"))
        .texts("lastTranscriptAt", of: row.text).stringOrNull("idleTimerEndsAt", ends)
        .stringOrNull("closedReason", Self.closedReason(row))
    }
    return RecordText().objects("sessions", rows)
  }

  private static func closedReason(_ row: ScanObject) -> String? {
    if row.isTrue("connected") { return nil }
    return row.isTrue("closing") ? "error" : "idle_ttl"
  }

  /// `GET /api/voice/tool-events`.
  var toolEvents: RecordText {
    let rows = rows("toolCalls") { session, row in
      let runtime = row.number("runtimeMs").map { JSONText.number(($0 + 0.5).rounded(.down)) }
      let arguments = row["arguments"].isObject || row["arguments"].isArray
      return session.string("callId", row.text("callId") ?? "")
        .string("toolName", row.text("toolName") ?? "")
        .string("toolType", row.text("toolType") ?? "function")
        .json("arguments", arguments ? row.json("arguments") : "{}")
        .texts("startedAt", "completedAt", of: row.text).json("runtimeMs", runtime ?? "null")
        .bool("success", row.isTrue("success")).stringOrNull("outputSummary", Self.summary(row))
        .texts("error", of: row.text)
    }
    return RecordText().objects("events", rows)
  }

  /// `String(value)`: of an object nothing is left, as on the dashboard.
  private static func summary(_ row: ScanObject) -> String? {
    if row["outputSummary"].isObject { return "[object Object]" }
    return row.text("outputSummary")
  }

  /// `GET /api/mcp/status`: the servers of all sessions, each once.
  var mcpStatus: RecordText {
    var names: [String] = []
    var servers: [String: (isConnected: Bool, tools: [RecordText], error: String?)] = [:]
    withSessions { sessions in
      for row in sessions.flatMap({ $0.objects("mcpStatus") }) {
        guard let name = row.text("serverName")?.trimmingBlanks(), !name.isEmpty else { continue }
        if servers[name] == nil { names.append(name) }
        var server = servers[name] ?? (false, [], nil)
        server.isConnected = server.isConnected || row.isTrue("connected")
        if server.tools.isEmpty {
          server.tools = row.objects("tools").map { tool in
            RecordText().string("name", tool.text("name") ?? "")
              .string("description", tool.text("description") ?? "")
          }
        }
        server.error = server.error ?? row.text("lastError")
        servers[name] = server
      }
    }
    let rows = names.map { name in
      let server = servers[name]
      return RecordText().string("serverName", name).bool("connected", server?.isConnected)
        .objects("tools", server?.tools).stringOrNull("lastError", server?.error)
    }
    return RecordText().objects("servers", rows)
  }

  /// The sessions point into the state: they must not leave `body`.
  private func withSessions<Result>(_ body: ([ScanObject]) -> Result) -> Result {
    state.withUnsafeBytes { body(ScanObject($0)?.objects("sessions") ?? []) }
  }

  private func rows(
    _ member: String, _ json: (RecordText, ScanObject) -> RecordText
  ) -> [RecordText] {
    withSessions { sessions in
      sessions.flatMap { session in
        let id = session.text("sessionId")?.trimmingBlanks() ?? ""
        return session.objects(member).map { json(RecordText().string("sessionId", id), $0) }
      }
    }
  }
}

/// The voice sessions that are over (Agent/Clanky/CONTRACT.md 5.5).
enum VoiceHistory {
  /// `GET /api/voice/history/sessions`: with a start and an end, the newest end first.
  static func sessions(_ query: QueryParameters, _ db: Database) throws -> String {
    let limit = query.integer("limit", default: 100, in: 1...200)
    let rows = try db.rows(
      sql: """
        \(ActionStore.columns) WHERE kind IN ('voice_session_start', 'voice_session_end') AND session IS NOT NULL
          AND created_at >= ?1 AND (?2 IS NULL OR guild_id = ?2)
        ORDER BY created_at DESC, id DESC
        """, arguments: [query.since(now: .now()) ?? "", query.word("guildId")])
    // The newest of each, and of them only what is answered: there may be many.
    var starts: [String: (guild: String, mode: String, time: String)] = [:]
    var ends: [(session: String, time: String, seconds: Int?, reason: String)] = []
    var seen: Set<String> = []
    while let row = try rows.next() {
      let action = StoredAction(row: row).action
      guard let session = LoggedAction.session(metadata: action.metadata) else { continue }
      if action.kind == "voice_session_start" {
        if starts[session] != nil { continue }
        let mode = action.facts { $0.text("mode") } ?? "voice_agent"
        starts[session] = (action.guild ?? "", mode, action.createdAt)
      } else if seen.insert(session).inserted {
        let told = action.facts { $0.number("durationSeconds") }.flatMap {
          Int(exactly: $0.rounded())
        }
        ends.append((session, action.createdAt, told, action.content ?? ""))
      }
    }
    // An end without a start tells nothing; the store's order is that of the ends.
    let list = ends.lazy.compactMap { session, end, told, reason in
      starts[session].map { guild, mode, start in
        RecordText().string("sessionId", session).string("guildId", guild).string("mode", mode)
          .string("startedAt", start).string("endedAt", end)
          .number("durationSeconds", told ?? seconds(start, end))
          .string("endReason", reason.isEmpty ? "unknown" : reason).text
      }
    }
    return "[\(list.prefix(limit).joined(separator: ","))]"
  }

  private static func seconds(_ start: String, _ end: String) -> Int {
    guard let start = Timestamp(rfc3339: start), let end = Timestamp(rfc3339: end) else { return 0 }
    return max(0, Int(end.seconds - start.seconds))
  }

  /// `GET /api/voice/history/sessions/ID/events`: the first 500 rows whose kind
  /// begins `voice_`, oldest first; none for an id that nobody named.
  static func events(_ session: String, _ db: Database) throws -> [StoredAction] {
    // SQLite ends a text at a NUL, and must not find another session.
    if session.utf8.contains(0) { return [] }
    return try db.rows(
      sql: """
        \(ActionStore.columns) WHERE session = ? AND kind GLOB 'voice_*'
        ORDER BY created_at, id LIMIT 500
        """, arguments: [session]
    ).map(StoredAction.init(row:))
  }
}

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
  private mutating func note(_ name: String, _ text: String?) { texts[name] = texts[name] ?? text }

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
