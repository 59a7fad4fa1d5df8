import Core
import Records

/// The agent's guilds and their channels (Agent/Clanky/CONTRACT.md 5.7).
struct Guilds {
  struct Guild {
    let id: String
    let name: String
    fileprivate let channels: [Channel]

    var textChannels: [String] { channels.filter { $0.type == "text" }.map(\.id) }
  }

  fileprivate struct Channel {
    let id: String
    let name: String
    let type: String
    let category: String?

    init(_ row: ScanObject) {
      id = row.text("id") ?? ""
      name = row.text("name") ?? ""
      type = row.text("type") == "voice" ? "voice" : "text"
      category = row.text("category")
    }

    /// Those of no category first, then by category, then by name.
    static func precedes(_ a: Channel, _ b: Channel) -> Bool {
      let (first, second) = (a.category ?? "", b.category ?? "")
      let order = Collation(first).order(Collation(second))
      return (order == 0 ? Collation(a.name).order(Collation(b.name)) : order) < 0
    }
  }

  let all: [Guild]

  init(_ document: [UInt8]) {
    all = document.withUnsafeBytes { bytes in
      (ScanObject.list(bytes) ?? []).map { row in
        Guild(
          id: row.text("id") ?? "", name: row.text("name") ?? "",
          channels: row.objects("channels").map(Channel.init).sorted(by: Channel.precedes))
      }
    }
  }

  /// `GET /api/guilds`.
  var json: String {
    let rows = all.map { RecordText().string("id", $0.id).string("name", $0.name).text }
    return "[\(rows.joined(separator: ","))]"
  }

  /// `GET /api/guilds/ID/channels`; none of a guild that is not there.
  func channels(of id: String) -> String {
    let channels = all.first { $0.id == id }?.channels ?? []
    let rows = channels.map { channel in
      RecordText().string("id", channel.id).string("name", channel.name)
        .string("type", channel.type).stringOrNull("category", channel.category).text
    }
    return "[\(rows.joined(separator: ","))]"
  }
}

/// How JavaScript's `localeCompare` orders two names, in short: by their characters, with signs
/// before digits and these before letters, then by accents, then small letters before capitals.
private struct Collation {
  private var characters: [UInt32] = []
  private var accents: [UInt32] = []
  private var capitals: [UInt32] = []

  /// The signs of ASCII in the order of the Unicode collation algorithm.
  private static let signs = Array("_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$".unicodeScalars)

  init(_ text: String) {
    for scalar in text.unicodeScalars {
      let properties = scalar.properties
      switch properties.generalCategory {
      case .nonspacingMark, .enclosingMark:
        if !accents.isEmpty { accents[accents.count - 1] = scalar.value }
        continue
      case .format, .control: continue
      default: break
      }
      let (base, accent) = Self.parts(of: scalar)
      characters.append(Self.weight(of: base))
      accents.append(accent)
      capitals.append(properties.isUppercase ? 1 : 0)
    }
  }

  /// Below 0 where this comes first.
  func order(_ other: Collation) -> Int {
    for (mine, others) in [
      (characters, other.characters), (accents, other.accents), (capitals, other.capitals),
    ] {
      if mine.lexicographicallyPrecedes(others) { return -1 }
      if others.lexicographicallyPrecedes(mine) { return 1 }
    }
    return 0
  }

  private static func parts(of scalar: Unicode.Scalar) -> (Unicode.Scalar, UInt32) {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
    guard lower.value > 0x7f, let name = lower.properties.name,
      let start = name.place(of: "LATIN SMALL LETTER ")
    else { return (lower, 0) }
    let words = name[start.upperBound...].split(separator: " ")
    guard words.count > 2, words[1] == "WITH", words[0].utf8.count == 1,
      let letter = words[0].lowercased().unicodeScalars.first
    else { return (lower, 0) }
    return (letter, lower.value)
  }

  private static func weight(of scalar: Unicode.Scalar) -> UInt32 {
    let properties = scalar.properties
    if properties.isWhitespace { return 0 }
    if let place = signs.firstIndex(of: scalar) { return 1 + UInt32(place) }
    if let digit = properties.numericValue { return 0x40_0000 + UInt32(max(digit, 0)) }
    return scalar.value + (properties.isAlphabetic ? 0x60_0000 : 0x20_0000)
  }
}

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
