import Core
import Records

/// The agent's automations and their runs (Agent/Clanky/CONTRACT.md 5.4).
enum Automations {
  private static let members = [
    "id", "created_at", "updated_at", "guild_id", "channel_id", "created_by_user_id",
    "created_by_name", "title", "instruction", "schedule", "next_run_at", "status", "is_running",
    "running_started_at", "last_run_at", "last_error", "last_result", "match_text",
  ]
  private static let runMembers = [
    "id", "automation_id", "created_at", "started_at", "finished_at", "status", "summary", "error",
    "message_id", "metadata",
  ]

  /// `GET /api/automations`.
  static func list(_ query: QueryParameters, _ document: [UInt8]) -> WholeAnswer {
    guard let guild = query.word("guildId") else {
      return .error("guildId is required", status: 400)
    }
    let channel = query.word("channelId")
    let statuses = (query.word("status") ?? "active,paused").split(separator: ",")
      .map { $0.trimmingBlanks().lowercased() }.filter { !$0.isEmpty }
    let wanted = statuses.contains("all") ? ["active", "paused", "deleted"] : statuses
    let words = query.word("q") ?? ""
    let limit = query.integer("limit", default: 30, in: 1...120)
    let rows = newest(limit, of: document, by: "updated_at", automation) { row in
      row.text("guild_id") == guild && (channel == nil || row.text("channel_id") == channel)
        && wanted.contains(row.text("status") ?? "active") && matches(row, words)
    }
    return .json(
      RecordText().string("guildId", guild).stringOrNull("channelId", channel)
        .strings("statuses", statuses).string("query", words).number("limit", limit)
        .objects("rows", rows))
  }

  /// `GET /api/automations/runs`: of one automation of a guild, newest first.
  static func runs(_ query: QueryParameters, _ document: [UInt8], of automations: [UInt8])
    -> WholeAnswer
  {
    guard let guild = query.word("guildId"), let given = query.number("automationId"),
      let number = Int(exactly: given), number > 0
    else { return .error("guildId and automationId are required", status: 400) }
    let limit = query.integer("limit", default: 30, in: 1...120)
    let isThere = !newest(1, of: automations, by: "id", automation) {
      $0.text("guild_id") == guild && $0.integer("id") == number
    }.isEmpty
    let list = newest(limit, of: document, by: "created_at", run) {
      isThere && $0.integer("automation_id") == number
    }
    return .json(
      RecordText().string("guildId", guild).number("automationId", number).number("limit", limit)
        .objects("rows", list))
  }

  private static func newest(
    _ limit: Int, of document: [UInt8], by member: String, _ json: (ScanObject) -> RecordText,
    where isWanted: (ScanObject) -> Bool
  ) -> [RecordText] {
    document.withUnsafeBytes { bytes in
      let rows = ScanObject(bytes).map { $0.objects("rows") } ?? ScanObject.list(bytes) ?? []
      return rows.filter(isWanted).map { (key: $0.order(by: member), row: $0) }
        .sorted { $0.key > $1.key }.prefix(limit).map { json($0.row) }
    }
  }

  private static func matches(_ row: ScanObject, _ words: String) -> Bool {
    let query = words.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if query.isEmpty { return true }
    let text =
      row.text("match_text")
      ?? "\(row.text("title") ?? "") \(row.text("instruction") ?? "")".lowercased()
    return Compatibility.composed(text).holds(Compatibility.composed(query))
  }

  /// The dashboard's members, each as it was put; flags and status are never null.
  private static func automation(_ row: ScanObject) -> RecordText {
    members.reduce(RecordText()) { record, name in
      switch name {
      case "is_running": record.bool(name, row.isTrue(name))
      case "status": record.json(name, JSONText.quoted(row.text(name) ?? "active"))
      default: record.json(name, row.json(name))
      }
    }
  }

  private static func run(_ row: ScanObject) -> RecordText {
    runMembers.reduce(RecordText()) { $0.json($1, row.json($1)) }
  }
}

extension ScanObject {
  /// What rows are sorted by: a time, and among equal ones the id.
  fileprivate func order(by member: String) -> (String, Int) {
    (text(member) ?? "", integer("id") ?? 0)
  }
}
