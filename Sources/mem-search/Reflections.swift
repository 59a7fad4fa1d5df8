import Agent
import Core
import Screen

/// `GET /api/memory/reflections`: the list, or one of it whole.
extension Memory {
  func reflections() throws -> ExitStatus {
    let listing = Listing.reflections
    let path = ClankyPath.reflections(
      guild: try guildOrAll(), limit: min(options.count ?? .max, listing.most ?? .max))
    let place = caller.place(path)
    let rows = try Answer.list(try caller.call(path), "runs", place: place)
    guard let wanted = options.operands.first else {
      if rows.count == listing.most, options.count == nil {
        diagnostics.error(
          "reflections", "there may be more than these \(rows.count): the backend gives no more")
      }
      return try list(rows, listing, none: "no reflections")
    }
    let runs = rows.filter { row in
      let run = try? row.withUnsafeBytes { try JSONValue.parse($0) }
      return run?["runId"]?.text == wanted || run?["dateKey"]?.text == wanted
    }
    if runs.isEmpty {
      diagnostics.error("run \(wanted)", "not among the \(rows.count) newest")
      return .negative
    }
    for run in runs {
      if output.form == .table, let value = try? run.withUnsafeBytes({ try JSONValue.parse($0) }) {
        try output.lines(RunView.lines(value, width: output.width))
      } else {
        try output.record(run)
      }
    }
    return .success
  }
}

/// One reflection for a person.
enum RunView {
  /// The members that have lists of facts, in the order of the work.
  private static let lists = ["extractedFacts", "selectedFacts", "savedFacts", "skippedFacts"]

  /// All that the run says: its members, its facts, its texts.
  static func lines(_ run: JSONValue, width: Int?) -> [Line] {
    var lines: [Line] = []
    var texts: [(title: String, text: String)] = []
    for (name, value) in run.members where !lists.contains(name) && !value.isNull {
      let text = value.text ?? value.compact(limit: Cell.longest)
      if text.isEmpty || text == "[]" { continue }
      if text.count > 60 || text.contains("\n") {
        texts.append((name, text))
      } else {
        let cell =
          name.hasSuffix("At") ? Cell.time(value) : Line.Span(Plain.line(text, limit: 200))
        lines.append(
          Line([Line.Span(Fit.padEnd(Plain.line(name, limit: 60), to: 19), .dim), cell]))
      }
    }
    for name in lists {
      lines += Section.facts(Section.title(name), run[name]?.elements ?? [], width: width)
    }
    for (title, text) in texts {
      lines.append(Line())
      lines.append(Line(Plain.line(title, limit: 60), .bold))
      lines += Paragraph.wrap(text, to: width).map { Line($0) }
    }
    return lines
  }
}

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
