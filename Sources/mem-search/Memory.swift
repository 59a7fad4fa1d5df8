import Agent
import CLibc
import Core
import Records
import Screen
import Web

struct Memory {
  let options: MemOptions
  let caller: Caller
  let output: RowOutput
  let diagnostics: Diagnostics

  /// The guilds that are meant: the one that is named, or all there are.
  func guilds() throws(Failure) -> [ToldName] {
    guard let id = options.guild ?? caller.backend.profile?.guild else {
      let all = try GuildChoice.guilds(caller)
      // It says why.
      if all.isEmpty { _ = try GuildChoice.only(of: all) }
      return all
    }
    return [try GuildChoice.named(id, caller)]
  }

  func guild() throws(Failure) -> String { try GuildChoice.only(of: try guilds()) }

  func guildOrAll() throws(Failure) -> String? {
    let guilds = try guilds()
    return guilds.count == 1 ? guilds[0].id : nil
  }

  func fetch() throws(Failure) -> FactFetch {
    FactFetch(caller: caller, guilds: try guilds(), diagnostics: diagnostics)
  }

  private static let origin = "the agent keeps what it learns when people talk to it"

  /// `GET /api/memory/facts`, as often as it takes.
  func facts() throws -> ExitStatus {
    let found = try wanted()
    let status = try write(found.rows, none: found.none)
    return found.isWhole ? status : .failure
  }

  /// The facts that are asked for, whether these are all, and what is said if there are none.
  func wanted() throws -> (rows: [[UInt8]], isWhole: Bool, none: String) {
    let found = try fetch().all(subject: options.subject, text: options.text)
    let isAll = options.subject == nil && options.text.isEmpty && options.types.isEmpty
    return (
      FactFilter(types: options.types).wanted(found.rows), found.isWhole,
      isAll ? "no facts yet: \(Self.origin)" : "no facts"
    )
  }

  /// `GET /api/memory/subjects`.
  func subjects() throws -> ExitStatus {
    let fetch = try fetch()
    let (rows, isWhole) = try fetch.subjects()
    if !isWhole, options.count ?? .max > rows.count {
      diagnostics.error(
        "subjects", "there may be more than these \(rows.count): the backend gives no more")
    }
    let listing = fetch.guilds.count == 1 ? Listing.subjects : .subjectsOfGuilds
    return try list(rows, listing, none: "no subjects yet: \(Self.origin)")
  }

  /// `GET /api/memory`: text for a pipe as it is, for a terminal made visible.
  func markdown() throws -> ExitStatus {
    // Of several guilds the backend has one text.
    let path = ClankyPath.memory(guild: try guildOrAll())
    let place = caller.place(path)
    guard case .record(let record) = try Answer(try caller.call(path), place: place),
      let text = FactWire.markdown(record)
    else { throw Failure(place, "the answer has no markdown", .failure) }
    if options.form == .json || options.form == .tsv {
      try output.record(record)
    } else if isatty(1) == 1 {
      try output.lines(
        Paragraph.wrap(text, to: output.width).map { line in
          Line(line, line.hasPrefix("#") ? .bold : .plain)
        })
    } else {
      try output.text(text)
    }
    return text.isEmpty ? .negative : .success
  }

  /// Writes facts.
  func write(_ rows: [[UInt8]], none: String) throws(WriteFailure) -> ExitStatus {
    if rows.isEmpty {
      tellPerson(none)
      try output.facts([])
      return .negative
    }
    try output.facts(named(Array(rows.prefix(options.count ?? .max))))
    return .success
  }

  /// At a terminal, rows about people say who that is, as far as the backend tells names.
  private func named(_ rows: [[UInt8]]) -> [[UInt8]] {
    guard output.form == .table, isatty(1) == 1, !options.verbose else { return rows }
    let subjects = rows.map { JSONValue($0)?["subject"]?.text ?? "" }
    guard subjects.contains(where: NameKey.isID),
      let users = try? UserChoice.users(caller)
    else { return rows }
    return zip(rows, subjects).map { row, subject in
      guard let user = users.first(where: { $0.id == subject }) else { return row }
      return RecordText().members(Array(RowText.line(row).dropFirst().dropLast()))
        .string("subject_name", user.name).bytes
    }
  }

  func list(
    _ rows: [[UInt8]], _ listing: Listing, none: String
  ) throws(WriteFailure) -> ExitStatus {
    if rows.isEmpty {
      tellPerson(none)
      try output.header(listing.fields)
      return .negative
    }
    try output.list(named(Array(rows.prefix(options.count ?? .max))), listing)
    return .success
  }

  /// Shows a person lines on standard error, given how wide they may be. One that cannot be written
  /// to is nobody's loss.
  func show(_ lines: (_ width: Int?) -> [Line]) {
    if options.quiet { return }
    let isTerminal = isatty(2) == 1
    let depth = ColourDepth.detect(
      options.look.colour, isTerminal: isTerminal, environment: Process.environment)
    let width = options.look.width(on: 2, isTerminal: isTerminal)
    let writer = RecordWriter(descriptor: 2)
    try? writer.write(lines(width).map { $0.render(width: width, depth: depth) + "\n" }.joined())
    try? writer.flush()
  }

  /// Tells what a person at a terminal wants to know and a script sees by the status.
  func tellPerson(_ words: String) {
    if !options.quiet { diagnostics.tellPerson(words) }
  }
}
