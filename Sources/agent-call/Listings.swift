import Agent
import Core
import Records
import Screen

extension Listing {
  /// The list of a command; nil when its answer is none, or several.
  static func of(_ command: Command) -> Listing? {
    switch command {
    case .guilds: guilds
    case .channels: channels
    case .automations: automations
    case .runs: runs
    case .browserSessions: browserSessions
    case .mcp: mcp
    case .asrSessions: asrSessions
    case .toolEvents: toolEvents
    default: nil
    }
  }
}

/// The lists of the dashboard (Agent/Clanky/CONTRACT.md 5.4 to 5.7).
extension Listing {
  static let guilds = Listing(
    columns: [.text("ID", "id"), .text("NAME", "name", gives: true)], fields: ["id", "name"])

  static let channels = Listing(
    columns: [
      .text("ID", "id"), .text("TYPE", "type"), .text("NAME", "name", gives: true),
      .text("CATEGORY", "category", gives: true),
    ], fields: ["id", "type", "name", "category"])

  static let automations = Listing(
    member: "rows", most: 120,
    columns: [
      .right("ID") { Cell.text($0["id"]) },
      .own("STATUS") { row in
        row["is_running"]?.bool == true
          ? Line.Span("running", Style(Palette.positive)) : Cell.status(row["status"])
      },
      .own("SCHEDULE") { Schedule.cell($0["schedule"]) },
      .time("NEXT", "next_run_at"), .time("LAST", "last_run_at"),
      .text("TITLE", "title", gives: true),
      .own("RESULT", gives: true) { row in
        let error = Cell.error(row["last_error"])
        return error.text.isEmpty ? Cell.text(row["last_result"]) : error
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
    columns: [
      .right("ID") { Cell.text($0["id"]) },
      .right("AUTOMATION") { Cell.text($0["automation_id"]) },
      .own("STATUS") { Cell.status($0["status"]) },
      .time("STARTED", "started_at"),
      .right("TOOK") { Cell.span($0["started_at"], $0["finished_at"]) },
      .text("SUMMARY", "summary", gives: true),
      .own("ERROR", gives: true) { Cell.error($0["error"]) },
    ],
    fields: [
      "id", "automation_id", "status", "started_at", "finished_at", "summary", "error",
      "message_id", "created_at", "metadata",
    ])

  static let browserSessions = Listing(
    member: "sessions", most: 200,
    columns: [
      .time("STARTED", "startedAt"),
      .own("STATUS") { row in
        if row["failed"]?.bool == true { return Line.Span("failed", Style(Palette.error)) }
        if row["hitStepLimit"]?.bool == true {
          return Line.Span("at limit", Style(Palette.warning))
        }
        return Line.Span(row["failed"]?.bool == false ? "ok" : "")
      },
      .right("STEPS") { Cell.text($0["totalSteps"]) },
      .right("TOOK") { Cell.milliseconds($0["durationMs"]) },
      .right("COST") { Cell.money($0["totalCostUsd"]) },
      .text("SESSION", "sessionId", gives: true),
      .text("INSTRUCTION", "instruction", gives: true),
      .text("URL", "currentUrl", gives: true),
      .own("ERROR", gives: true) { row in
        let name = Cell.error(row["errorName"]).text
        let message = Cell.error(row["errorMessage"]).text
        let parts = [name, message].filter { !$0.isEmpty }
        return Line.Span(parts.joined(separator: ": "), Style(Palette.error))
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
      .own("STATE") { Cell.state($0["connected"], yes: "up", no: "down") },
      .right("TOOLS") { row in
        let tools = row["tools"]
        return Line.Span(tools?.kind == .array ? "\(tools?.count ?? 0)" : "")
      },
      .own("NAMES", gives: true) { row in
        let names = (row["tools"]?.elements ?? []).prefix(100).map { Cell.text($0["name"]).text }
        return Line.Span(names.filter { !$0.isEmpty }.joined(separator: " "))
      },
      .own("ERROR", gives: true) { Cell.error($0["lastError"]) },
    ], fields: ["serverName", "connected", "lastError", "tools"])

  static let asrSessions = Listing(
    member: "sessions",
    columns: [
      .own("USER", gives: true) { row in
        let name = Cell.text(row["displayName"])
        return name.text.isEmpty ? Cell.text(row["userId"]) : name
      },
      .own("STATE") { Cell.state($0["connected"], yes: "connected", no: "closed") },
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
    columns: [
      .time("STARTED", "startedAt"),
      .own("STATE") { row in
        // A running call says success false and zero milliseconds.
        if Cell.text(row["completedAt"]).text.isEmpty && Cell.text(row["error"]).text.isEmpty {
          return Line.Span("running", Style(Palette.warning))
        }
        return Cell.state(row["success"], yes: "ok", no: "failed")
      },
      .right("TOOK") { row in
        Cell.text(row["completedAt"]).text.isEmpty
          ? Line.Span("") : Cell.milliseconds(row["runtimeMs"], slow: 3000)
      },
      .text("TOOL", "toolName"), .text("TYPE", "toolType"),
      .text("ARGUMENTS", "arguments", gives: true), .text("RESULT", "outputSummary", gives: true),
      .own("ERROR", gives: true) { Cell.error($0["error"]) },
    ],
    fields: [
      "sessionId", "callId", "toolName", "toolType", "startedAt", "completedAt", "runtimeMs",
      "success", "error", "outputSummary", "arguments",
    ])

  /// The rows of `GET /api/actions`.
  static let actions = Listing(
    most: ActionPages.mostRows,
    columns: [
      .time("TIME", "created_at"),
      .own("KIND") { row in
        let kind = row["kind"]?.string ?? ""
        let colour =
          ActionKind.isError(kind: kind)
          ? Palette.error : Palette.colour(of: ActionKind.domain(of: kind))
        return Line.Span(Plain.line(kind, limit: Cell.longest), Style(colour))
      },
      .right("COST") { row in
        row["usd_cost"]?.number == 0 ? Line.Span("") : Cell.money(row["usd_cost"])
      },
      .text("USER", "user_id"), .text("CONTENT", "content", gives: true),
    ],
    fields: [
      "id", "created_at", "kind", "guild_id", "channel_id", "user_id", "message_id", "usd_cost",
      "content", "metadata",
    ])
}

/// When an automation runs, in words (Agent/Clanky/CONTRACT.md 5.4).
enum Schedule {
  static func cell(_ value: JSONValue?) -> Line.Span {
    guard let value, value.isObject else { return Cell.text(value) }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    switch value["kind"]?.string {
    case "daily":
      guard let hour = value["hour"]?.integer, let minute = value["minute"]?.integer,
        (0...23).contains(hour), (0...59).contains(minute)
      else { break }
      return Line.Span("daily \(two(hour)):\(two(minute))")
    case "interval":
      guard let minutes = value["everyMinutes"]?.number, minutes > 0 else { break }
      return Line.Span("every \(Amount.duration(minutes * 60_000))")
    case "once":
      guard value["atIso"]?.string != nil else { break }
      return Line.Span("once " + Cell.time(value["atIso"]).text)
    default: break
    }
    return Cell.text(value)
  }
}
