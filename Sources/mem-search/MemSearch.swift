import Agent
import CLibc
import Core
import Records
import Screen
import Web

/// mem-search(1): searches, browses and corrects the agent's memory.
public func memSearchMain() { MemOptions.table.run(MemOptions(), verbose: \.verbose, run) }

private func run(_ options: MemOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let output = RowOutput(form: options.form, look: options.look, isQuiet: options.quiet)
  do {
    let status = try answer(options, output, diagnostics)
    try output.flush()
    return status
  } catch let failure as any Reported {
    // What came before the failure is good.
    try output.flush()
    throw failure
  }
}

private func answer(
  _ options: MemOptions, _ output: RowOutput, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  if options.count == 0 { return .success }
  if options.isOffline {
    return try Offline(options: options, output: output, diagnostics: diagnostics).run()
  }
  let caller = try Caller(
    options.access, for: .memory, maxTime: options.maxTime, diagnostics: diagnostics)
  let memory = Memory(options: options, caller: caller, output: output, diagnostics: diagnostics)
  switch options.mode {
  case .search: return try memory.search()
  case .facts: return try memory.facts()
  case .subjects: return try memory.subjects()
  case .reflections: return try memory.reflections()
  case .factProfile: return try memory.factProfile()
  case .markdown: return try memory.markdown()
  case .snapshot: return try memory.snapshot()
  case .edit: return try memory.edit()
  case .delete: return try memory.delete()
  case .undo: return try memory.undo()
  case .mirror: return try memory.mirror()
  case .pick: return try memory.pick()
  }
}

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
      if !NameKey.isID(name) { wanted = try guilds.guild(named: name).id }
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

/// `mem-search --mirror`: takes the copy.
extension Memory {
  func mirror() throws -> ExitStatus {
    var isWhole = true
    for guild in try guilds() {
      let fetch = FactFetch(caller: caller, guilds: [guild], diagnostics: diagnostics)
      let found = try fetch.all()
      isWhole = isWhole && found.isWhole
      try keep(
        MirrorFile.Section(
          guild: guild.id, name: guild.name, time: Timestamp.now().rfc3339, isWhole: found.isWhole,
          rows: found.rows))
    }
    return isWhole ? .success : .failure
  }

  private func keep(_ section: MirrorFile.Section) throws {
    let file = try MirrorFile(Folders(), url: caller.backend.base.display)
    try file.replace(section)
    let facts = section.rows.count == 1 ? "1 fact" : "\(section.rows.count) facts"
    try output.record(
      file.record(section, path: file.path),
      facts: [
        ("mirror", .words("\(facts) of guild \(section.guild)")),
        ("path", .words(file.path)),
      ])
  }
}

/// The copy of a backend's facts in the state folder: for each guild a record
/// that says when it was taken, and behind it the facts with their own bytes.
struct MirrorFile {
  struct Section {
    var guild: String
    /// Of the guild; empty when there is none.
    var name: String
    var time: String
    /// False when the backend did not give all.
    var isWhole: Bool
    var rows: [[UInt8]]
  }

  private let file: StateFile
  private let url: String

  var path: String { file.path }

  init(_ folders: Folders, url: String) throws(Failure) {
    self.url = url
    // A file's name has 255 bytes at most.
    let name = String(QueryText.part(url).utf8.suffix(200)) ?? ""
    file = StateFile(path: try folders.stateFile("memory-mirror.\(name).ndjson"))
  }

  func sections() throws(Failure) -> [Section] {
    guard let bytes = try file.read(limit: BoundedFile.largest) else { return [] }
    var sections: [Section] = []
    for line in bytes.split(separator: 10).map(Array.init) {
      if let head = Self.head(line) {
        sections.append(head)
      } else if !sections.isEmpty {
        sections[sections.count - 1].rows.append(line)
      }
    }
    return sections
  }

  func replace(_ section: Section) throws(Failure) {
    var sections = try sections().filter { $0.guild != section.guild }
    sections.append(section)
    var bytes: [UInt8] = []
    for section in sections {
      bytes += record(section, path: nil)
      bytes.append(10)
      for row in section.rows {
        bytes += RowText.line(row)
        bytes.append(10)
      }
    }
    guard bytes.count <= BoundedFile.largest else {
      throw Failure(path, "the copy would be larger than \(BoundedFile.largest) bytes")
    }
    try file.replace(with: bytes)
  }

  /// The record that says what was copied and when.
  func record(_ section: Section, path: String?) -> [UInt8] {
    RecordText(.memoryMirror).string("time", section.time).string("url", url)
      .string("guild_id", section.guild)
      .string("guild_name", section.name.isEmpty ? nil : section.name)
      .number("facts", section.rows.count).bool("whole", section.isWhole)
      .string("path", path.map(FileName.shown)).bytes
  }

  /// Facts have no `type` in front; nothing of theirs is taken for a head.
  private static func head(_ line: [UInt8]) -> Section? {
    guard line.starts(with: Array("{\"type\":\"memory_mirror\",".utf8)),
      let value = JSONValue(line),
      let guild = value["guild_id"]?.string, let time = value["time"]?.string
    else { return nil }
    return Section(
      guild: guild, name: value["guild_name"]?.string ?? "", time: time,
      isWhole: value["whole"]?.bool ?? false, rows: [])
  }
}
