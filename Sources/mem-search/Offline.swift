import Agent
import CLibc
import Core
import Records
import Screen
import Web

/// `mem-search --offline`: looks into the copy that `--mirror` took. Asks nobody,
/// not even for the token.
struct Offline {
  let options: MemOptions
  let output: RowOutput
  let diagnostics: Diagnostics

  func run() throws -> ExitStatus {
    let sections = try sections()
    sections.forEach(tellAge)
    let rows = sections.flatMap(\.rows)
    // The facts of persons are in the copy of each guild.
    let facts = sections.count == 1 ? rows : FactRow.unique(rows)
    switch options.mode {
    case .subjects: return try subjects(facts)
    case .facts: return try write(facts, texts: options.text.isEmpty ? [] : [options.text])
    default: return try write(facts, texts: options.text.split(separator: " ").map(String.init))
    }
  }

  private func sections() throws -> [MirrorFile.Section] {
    let settings = try Settings()
    let profile = try settings.profile(options.access.profile)
    try profile.require(.memory, for: diagnostics.program)
    settings.configuration.report(to: diagnostics)
    let url = try profile.address.display
    var wanted = options.guild ?? profile.guild
    let sections = try MirrorFile(settings.folders, url: url).sections()
    if let name = wanted, !sections.isEmpty {
      let guilds = sections.map { GuildChoice.Guild(id: $0.guild, name: $0.name) }
      // Of a guild that is an id there may be no copy.
      if !NameKey.isID(name) { wanted = try GuildChoice.named(name, of: guilds).id }
    }
    let found = sections.filter { wanted == nil || $0.guild == wanted }
    if found.isEmpty {
      let guild = wanted.map { " of guild \($0)" } ?? ""
      throw Failure("offline", "no copy\(guild) was taken; see --mirror", .negative)
    }
    return found
  }

  private func tellAge(_ section: MirrorFile.Section) {
    if options.quiet { return }
    let age = Timestamp(rfc3339: section.time).map {
      ", " + TimeText.relative($0, now: .now())
    }
    let part = section.isWhole ? "" : ", not all there are"
    diagnostics.error(
      "offline", "a copy of \(section.time)\(age ?? ""), \(section.rows.count) facts\(part)")
  }

  private func write(_ facts: [[UInt8]], texts: [String]) throws -> ExitStatus {
    let filter = FactFilter(
      types: options.types, subject: options.subject, texts: texts.map { $0.lowercased() })
    let rows = filter.wanted(facts)
    if rows.isEmpty { return .negative }
    try output.facts(Array(rows.prefix(options.count ?? .max)))
    return .success
  }

  /// Counted here, so the records are ours to make: as the backend makes them.
  private func subjects(_ facts: [[UInt8]]) throws -> ExitStatus {
    let rows = SubjectCount.rows(facts.compactMap { Fact(record: $0) })
    if rows.isEmpty { return .negative }
    try output.list(Array(rows.prefix(options.count ?? .max)), .subjects)
    return .success
  }
}

enum SubjectCount {
  private struct Key: Hashable {
    var scope: String?
    var guildID: String?
    var userID: String?
    var subject: String
  }

  /// A record a subject, as `GET /api/memory/subjects` has it, last seen first.
  static func rows(_ facts: [Fact]) -> [[UInt8]] {
    var counts: [Key: (count: Int, last: String)] = [:]
    for fact in facts {
      let key = Key(
        scope: fact.scope, guildID: fact.guildID, userID: fact.userID, subject: fact.subject)
      let known = counts[key] ?? (0, "")
      counts[key] = (known.count + 1, max(known.last, fact.updatedAt ?? ""))
    }
    let sorted = counts.sorted { a, b in
      a.value.last != b.value.last ? a.value.last > b.value.last : a.key.subject < b.key.subject
    }
    return sorted.map { key, value in
      RecordText().stringOrNull("scope", key.scope).stringOrNull("guild_id", key.guildID)
        .stringOrNull("user_id", key.userID).stringOrNull("subject", key.subject)
        .string("last_seen_at", value.last).number("fact_count", value.count).bytes
    }
  }
}
