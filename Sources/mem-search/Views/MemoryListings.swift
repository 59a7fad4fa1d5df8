import Core
import Screen

/// The lists of the memory (Agent/Clanky/CONTRACT.md 5.2).
extension Listing {
  static let subjects = subjects(more: [])

  /// The subjects of several guilds.
  static let subjectsOfGuilds = subjects(more: ["guild_name"])

  private static func subjects(more fields: [String]) -> Listing {
    Listing(
      columns: [
        .text("SUBJECT", "subject", gives: true), .text("SCOPE", "scope"),
        .right("FACTS") { Cell.text($0["fact_count"]) }, .time("LAST SEEN", "last_seen_at"),
        .text("GUILD", "guild_name", gives: true),
      ],
      fields: ["subject", "scope", "fact_count", "last_seen_at", "guild_id", "user_id"] + fields)
  }

  static let reflections = Listing(
    member: "runs", most: 100,
    columns: [
      .text("DATE", "dateKey"), .text("RUN", "runId", gives: true),
      .own("STATUS") { run in
        run["status"]?.string == "completed"
          ? Line.Span("completed", Style(Palette.positive)) : Cell.status(run["status"])
      },
      .time("STARTED", "startedAt"),
      .right("TOOK") { Cell.milliseconds($0["durationMs"]) },
      .right("FOUND") { Cell.text($0["factsExtracted"]) },
      .right("SAVED") { Cell.text($0["factsSaved"]) },
      .right("COST") { Cell.money($0["usdCost"]) },
      .text("MODEL", "model", gives: true),
      .own("ERROR", gives: true) { Cell.error($0["errorContent"]) },
    ],
    fields: [
      "runId", "dateKey", "status", "startedAt", "durationMs", "factsExtracted", "factsSelected",
      "factsAdded", "factsSaved", "factsSkipped", "usdCost", "provider", "model", "errorContent",
    ])
}
