import Core
package import Records

/// The lists of the dashboard (Agent/Clanky/CONTRACT.md 5.4 to 5.7).
extension Listing {
  static let guilds = Listing(
    origin: "the agent is in one once it is invited to it",
    columns: [.text("ID", "id"), .text("NAME", "name", gives: true)], fields: ["id", "name"])

  static let names = Listing(
    columns: [.text("OF", "of"), .text("ID", "id"), .text("NAME", "name", gives: true)],
    fields: ["of", "id", "name"])

  static let channels = Listing(
    origin: "the agent knows those of a guild that it is in",
    columns: [
      .text("ID", "id"), .text("TYPE", "type"), .text("NAME", "name", gives: true),
      .text("CATEGORY", "category", gives: true),
    ], fields: ["id", "type", "name", "category"])

  static let automations = Listing(
    member: "rows", most: 120,
    origin: "the agent makes one when it is asked to do something later",
    columns: [
      .number("ID", "id"),
      Column("STATUS") {
        $0["is_running"]?.bool == true ? .words("running", .good) : .status($0["status"])
      },
      Column("SCHEDULE") { .schedule($0["schedule"]) },
      .time("NEXT", "next_run_at"), .time("LAST", "last_run_at"),
      .text("TITLE", "title", gives: true),
      Column("RESULT", gives: true) {
        .first([.error($0["last_error"]), .text($0["last_result"])])
      },
      .text("INSTRUCTION", "instruction", gives: true),
    ],
    fields: [
      "id", "status", "is_running", "title", "instruction", "schedule", "next_run_at",
      "last_run_at", "last_result", "last_error", "guild_id", "channel_id", "created_by_user_id",
      "created_at", "updated_at",
    ])

  static let runs = Listing(
    member: "rows", most: 120,
    origin: "there is one whenever an automation is due",
    columns: [
      .number("ID", "id"),
      .number("AUTOMATION", "automation_id"), .status("STATUS", "status"),
      .time("STARTED", "started_at"),
      Column("TOOK", isRight: true) { .span($0["started_at"], $0["finished_at"]) },
      .text("SUMMARY", "summary", gives: true), .error("ERROR", "error"),
    ],
    fields: [
      "id", "automation_id", "status", "started_at", "finished_at", "summary", "error",
      "message_id", "created_at", "metadata",
    ])

  static let browserSessions = Listing(
    member: "sessions", most: 200,
    origin: "there is one when the agent browses the web",
    columns: [
      .time("STARTED", "startedAt"),
      Column("STATUS") { row in
        if row["failed"]?.bool == true { return .words("failed", .bad) }
        if row["hitStepLimit"]?.bool == true { return .words("at limit", .odd) }
        return row["failed"]?.bool == false ? .words("ok") : .nothing
      },
      .number("STEPS", "totalSteps"), .milliseconds("TOOK", "durationMs"),
      .money("COST", "totalCostUsd"),
      .text("SESSION", "sessionId", gives: true),
      .text("INSTRUCTION", "instruction", gives: true),
      .text("URL", "currentUrl", gives: true),
      Column("ERROR", gives: true) {
        .row([.text($0["errorName"]), .text($0["errorMessage"])], by: ": ", .bad)
      },
    ],
    fields: [
      "sessionId", "startedAt", "lastActiveAt", "failed", "hitStepLimit", "totalSteps",
      "durationMs", "totalCostUsd", "guildId", "channelId", "userId", "source", "provider",
      "model", "currentUrl", "instruction", "errorName", "errorMessage", "toolSteps",
    ])

  static let mcp = Listing(
    member: "servers",
    columns: [
      .text("SERVER", "serverName"),
      Column("STATE") { .state($0["connected"], yes: "up", no: "down") },
      Column("TOOLS", isRight: true) {
        $0["tools"]?.kind == .array ? .words("\($0["tools"]?.count ?? 0)") : .nothing
      },
      Column("NAMES", gives: true) {
        .row(($0["tools"]?.elements ?? []).prefix(100).map { .text($0["name"]) })
      },
      .error("ERROR", "lastError"),
    ], fields: ["serverName", "connected", "lastError", "tools"])

  static let asrSessions = Listing(
    member: "sessions",
    origin: "there is one for each who speaks to the agent in voice",
    columns: [
      Column("USER", gives: true) { .first([.text($0["displayName"]), .text($0["userId"])]) },
      Column("STATE") { .state($0["connected"], yes: "connected", no: "closed") },
      .text("REASON", "closedReason"),
      .time("SINCE", "createdAt"), .time("LAST WORDS", "lastTranscriptAt"),
      .time("IDLE END", "idleTimerEndsAt"), .text("SESSION", "sessionId", gives: true),
    ],
    fields: [
      "sessionId", "userId", "displayName", "connected", "createdAt", "lastTranscriptAt",
      "idleTimerEndsAt", "closedReason",
    ])

  static let toolEvents = Listing(
    member: "events",
    origin: "there is one when the agent uses a tool in voice",
    columns: [
      .time("STARTED", "startedAt"),
      Column("STATE") {
        // A running call says success false and zero milliseconds.
        isBlank($0["completedAt"]) && isBlank($0["error"])
          ? .words("running", .odd) : .state($0["success"], yes: "ok", no: "failed")
      },
      Column("TOOK", isRight: true) {
        isBlank($0["completedAt"]) ? .nothing : .milliseconds($0["runtimeMs"], slow: 3000)
      },
      .text("TOOL", "toolName"), .text("TYPE", "toolType"),
      .text("ARGUMENTS", "arguments", gives: true), .text("RESULT", "outputSummary", gives: true),
      .error("ERROR", "error"),
    ],
    fields: [
      "sessionId", "callId", "toolName", "toolType", "startedAt", "completedAt", "runtimeMs",
      "success", "error", "outputSummary", "arguments",
    ])

  private static func isBlank(_ value: JSONValue?) -> Bool {
    value.map { $0.isNull || $0.text?.isEmpty == true } ?? true
  }

  static let actions = Listing(
    most: ActionPages.mostRows,
    origin: "there is one for each thing that the agent does",
    columns: [
      .time("TIME", "created_at"),
      Column("KIND") { .kind($0["kind"]?.string ?? "") },
      Column("COST", isRight: true) {
        $0["usd_cost"]?.number == 0 ? .nothing : .money($0["usd_cost"])
      },
      .text("USER", "user_id"), .text("CONTENT", "content", gives: true),
    ],
    fields: [
      "id", "created_at", "kind", "guild_id", "channel_id", "user_id", "message_id", "usd_cost",
      "content", "metadata",
    ])
}

/// The lists of the memory (Agent/Clanky/CONTRACT.md 5.2).
extension Listing {
  /// The facts that fit a text; no answer has more.
  package static let hits = Listing(member: "results", most: 24, columns: [], fields: [])

  /// The subjects of facts.
  package static let subjects = subjects(more: [])

  /// The subjects of several guilds.
  package static let subjectsOfGuilds = subjects(more: ["guild_name"])

  private static func subjects(more fields: [String]) -> Listing {
    Listing(
      columns: [
        Column("SUBJECT", gives: true) {
          .first([.text($0["subject_name"]), .text($0["subject"])])
        },
        .text("SCOPE", "scope"),
        .number("FACTS", "fact_count"), .time("LAST SEEN", "last_seen_at"),
        .text("GUILD", "guild_name", gives: true),
      ],
      fields: ["subject", "scope", "fact_count", "last_seen_at", "guild_id", "user_id"] + fields)
  }

  /// The daily runs that make facts.
  package static let reflections = Listing(
    member: "runs", most: 100,
    columns: [
      .text("DATE", "dateKey"), .text("RUN", "runId", gives: true), .status("STATUS", "status"),
      .time("STARTED", "startedAt"), .milliseconds("TOOK", "durationMs"),
      .number("FOUND", "factsExtracted"), .number("SAVED", "factsSaved"),
      .money("COST", "usdCost"), .text("MODEL", "model", gives: true),
      .error("ERROR", "errorContent"),
    ],
    fields: [
      "runId", "dateKey", "status", "startedAt", "durationMs", "factsExtracted", "factsSelected",
      "factsAdded", "factsSaved", "factsSkipped", "usdCost", "provider", "model", "errorContent",
    ])
}

extension Cell {
  /// When an automation runs, in words (Agent/Clanky/CONTRACT.md 5.4).
  static func schedule(_ value: JSONValue?) -> Cell {
    guard let value, value.isObject else { return .text(value) }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    switch value["kind"]?.string {
    case "daily":
      guard let hour = value["hour"]?.integer, let minute = value["minute"]?.integer,
        (0...23).contains(hour), (0...59).contains(minute)
      else { break }
      return .words("daily \(two(hour)):\(two(minute))")
    case "interval":
      guard let minutes = value["everyMinutes"]?.number, minutes > 0 else { break }
      return .row([.words("every"), .duration(minutes * 60_000)])
    case "once":
      guard value["atIso"]?.string != nil else { break }
      return .row([.words("once"), .time(value["atIso"])])
    default: break
    }
    return .text(value)
  }
}
