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
      let guilds = sections.map { ToldName(.guild, id: $0.guild, name: $0.name) }
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

  /// A record a subject, as `GET /api/memory/subjects` has it, last seen first. Counted here, so the
  /// records are ours to make.
  private func subjects(_ facts: [[UInt8]]) throws -> ExitStatus {
    let groups = Dictionary(grouping: facts.compactMap { Fact(record: $0) }) {
      [$0.scope, $0.guildID, $0.userID, $0.subject]
    }
    let subjects = groups.values.map { facts in
      (fact: facts[0], count: facts.count, last: facts.map { $0.updatedAt ?? "" }.max() ?? "")
    }
    let sorted = subjects.sorted { a, b in
      a.last != b.last ? a.last > b.last : a.fact.subject < b.fact.subject
    }
    if sorted.isEmpty { return .negative }
    let rows = sorted.prefix(options.count ?? .max).map { fact, count, last in
      RecordText().stringOrNull("scope", fact.scope).stringOrNull("guild_id", fact.guildID)
        .stringOrNull("user_id", fact.userID).stringOrNull("subject", fact.subject)
        .string("last_seen_at", last).number("fact_count", count).bytes
    }
    try output.list(rows, .subjects)
    return .success
  }
}
