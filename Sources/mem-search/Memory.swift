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
      let all = try caller.guilds()
      // It says why.
      if all.isEmpty { _ = try all.onlyGuild() }
      return all
    }
    return [try caller.guild(named: id)]
  }

  func guild() throws(Failure) -> String { try guilds().onlyGuild() }

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
      let users = try? caller.users()
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

extension Memory {
  /// `mem-search --delete`: looks the facts up, asks, and deletes one after the
  /// other, each written down first.
  func delete() throws -> ExitStatus {
    let asks = !options.isSure
    if asks, !Confirmation.canAsk || options.operands.contains("-") {
      throw Failure("--delete", "no terminal to ask at: give --yes", .failure)
    }
    let ids = try ids()
    if ids.isEmpty { return .negative }
    let fetch = try fetch()
    let log = try DeleteLog(Folders(), url: caller.backend.base.display)
    let shown = try fetch.find(ids)
    var now = shown
    if asks {
      let facts = ids.compactMap { shown[$0] }.compactMap { Fact(record: $0) }
      if !facts.isEmpty {
        show { FactRows(facts, width: $0).lines() }
        let words = facts.count == 1 ? "this fact" : "these \(facts.count) facts"
        if !Confirmation.isYes("Delete \(words)?") {
          diagnostics.say("nothing was deleted")
          return .negative
        }
        now = try fetch.again(shown)
      }
    }
    var isWhole = true
    for id in ids {
      let guild = shown[id].flatMap { Fact(record: $0)?.guildID } ?? fetch.guild
      let done = try delete(id, shown[id], now[id], guild, log)
      isWhole = isWhole && done
    }
    return isWhole ? .success : .negative
  }

  private func delete(
    _ id: String, _ shown: [UInt8]?, _ now: [UInt8]?, _ guild: String, _ log: DeleteLog
  ) throws -> Bool {
    var record = DeleteRecord(id: id, guild: guild, result: "not_found")
    guard let shown, let now, let old = Fact(record: shown), let fact = Fact(record: now) else {
      try tell(record)
      return false
    }
    record.fact = now
    guard fact.isSameVersion(as: old) else {
      record.result = "changed"
      try tell(record)
      return false
    }
    try log.note("sent", id: id, guild: guild, fact: now)
    let path = ClankyPath.fact(id)
    let reply: Caller.Reply
    do throws(Failure) {
      reply = try caller.answer(path, method: "DELETE", body: FactWire.deleting(guild: guild))
    } catch {
      record.result = "unknown"
      record.reason = error.message
      try output.result(record)
      throw error
    }
    let problem = caller.backend.problem(of: reply.head, reply.body, method: "DELETE")
    if let problem, problem.status != .negative {
      // A fault in the middle of a server's work says nothing about the fact.
      if reply.head.status < 500 { try log.note("kept", id: id, guild: guild) }
      throw Failure(caller.place(path), problem.message, problem.status)
    }
    let isMissing = reply.head.status == 404
    record.result = problem == nil ? "deleted" : isMissing ? "not_found" : "kept"
    if !isMissing { record.reason = problem?.message }
    try log.note(record.result, id: id, guild: guild)
    try tell(record)
    return problem == nil
  }

  private func tell(_ record: DeleteRecord) throws(WriteFailure) {
    try output.result(record)
    if record.result != "deleted", output.form != .table, !options.quiet {
      diagnostics.error(
        "fact \(record.id)", record.reason ?? record.result.exchanging("_", for: " "))
    }
  }

  // MARK: - Ids

  /// Makes sure that a text is an id of the backend: digits alone.
  static func checked(_ text: String, _ place: String? = nil) throws(Failure) -> String {
    let isID =
      !text.isEmpty && text.utf8.count <= 19 && text.utf8.first != 48
      && text.utf8.allSatisfy { $0 &- 48 < 10 }
    guard isID else { throw Failure(place ?? "fact \(text)", "not a fact's id", .failure) }
    return text
  }

  /// The ids of the operands, each once; `-` stands for those of standard input.
  func ids() throws(Failure) -> [String] {
    var ids: [String] = []
    var seen: Set<String> = []
    for operand in options.operands {
      let found = operand == "-" ? try Self.readIDs() : [try Self.checked(operand)]
      for id in found where seen.insert(id).inserted { ids.append(id) }
    }
    return ids
  }

  /// One a line: bare, the first field of TSV, or the `id` of a record.
  private static func readIDs() throws(Failure) -> [String] {
    var ids: [String] = []
    do {
      var input = try RecordInput(path: "-", .lines)
      while let line = try input.next() {
        let text = id(of: Array(line.bytes))
        if text.isEmpty { continue }
        ids.append(try checked(text, "standard input:\(line.number)"))
      }
    } catch {
      let failure = error as? Failure ?? Failure("cannot be read")
      throw failure.place == nil ? Failure("standard input", failure) : failure
    }
    return ids
  }

  static func id(of line: [UInt8]) -> String {
    if line.first == UInt8(ascii: "{") { return JSONValue(line)?["id"]?.text ?? "?" }
    return FactText.folded(String(decoding: line.prefix { $0 != 9 }, as: UTF8.self))
  }
}

extension Memory {
  /// `mem-search --edit`: fetches the fact, changes it, looks whether somebody else
  /// changed it meanwhile, and sends it whole.
  func edit() throws -> ExitStatus {
    let id = try Self.checked(options.id)
    if !options.hasChange, !Confirmation.canAsk, !(options.isSure && Editor.isNamed) {
      throw Failure("--edit", "no terminal to ask at: give --fact, --subject or --type", .failure)
    }
    let fetch = try fetch()
    guard let row = try fetch.find([id])[id], let shown = Fact(record: row) else {
      throw Failure("fact \(id)", "not found", .negative)
    }
    let base = FactDraft(shown)
    return options.hasChange
      ? try send(changed(base).tidied(from: base), base, shown, row, fetch)
      : try interactive(base, shown, row, fetch)
  }

  private func changed(_ base: FactDraft) -> FactDraft {
    var draft = base
    if let subject = options.subject { draft.subject = subject }
    if let type = options.types.first { draft.type = type }
    if let fact = options.fact { draft.fact = fact }
    if let confidence = options.confidence { draft.confidence = confidence }
    if let evidence = options.evidence { draft.evidence = evidence }
    return draft
  }

  private func interactive(
    _ base: FactDraft, _ shown: Fact, _ row: [UInt8], _ fetch: FactFetch
  ) throws -> ExitStatus {
    let editor = try Editor(
      FactForm.text(
        base,
        notes: [
          "Fact \(shown.id)\(shown.guildID.map { " of guild \($0)" } ?? ""),"
            + " written \(shown.updatedAt ?? "some time ago").",
          "Lines that begin with # are left out. An empty form changes nothing.",
        ]), name: "mem-search.\(shown.id)")
    let draft: FactDraft?
    do {
      draft = try written(in: editor, base)
    } catch {
      editor.remove()
      throw error
    }
    guard let draft else {
      editor.remove()
      diagnostics.say("fact \(shown.id): nothing was sent")
      return .negative
    }
    // A person's words are not to be lost to somebody else's, nor to the network.
    var isSent = false
    defer {
      if isSent {
        editor.remove()
      } else {
        diagnostics.say("the form is kept in \(editor.path)")
      }
    }
    let status = try send(draft, base, shown, row, fetch)
    isSent = status == .success
    return status
  }

  private func written(in editor: Editor, _ base: FactDraft) throws -> FactDraft? {
    while true {
      let bytes = try editor.edit()
      do throws(UsageError) {
        guard let draft = try FactForm.draft(bytes, base: base)?.tidied(from: base) else {
          return nil
        }
        if let fault = draft.fault, draft != base { throw UsageError(fault) }
        return draft
      } catch {
        guard Confirmation.canAsk else { throw Failure("form", error.problem, .failure) }
        diagnostics.error("form", error.problem)
        if !Confirmation.isYes("Edit it again?") { return nil }
      }
    }
  }

  private func send(
    _ draft: FactDraft, _ base: FactDraft, _ shown: Fact, _ row: [UInt8], _ fetch: FactFetch
  ) throws -> ExitStatus {
    let what = "fact \(shown.id)"
    if draft == base {
      tellPerson("\(what): nothing changed")
      try output.facts([row])
      return .success
    }
    if let fault = draft.fault { throw Failure(what, fault, .failure) }
    if !options.hasChange || isatty(2) == 1 {
      show { FactForm.difference(base, draft, width: $0) }
    }
    if !options.hasChange, !options.isSure, !Confirmation.isYes("Change \(what)?") {
      diagnostics.say("\(what): nothing was sent")
      return .negative
    }
    // Where nobody took time to think it was seen just now.
    if !options.hasChange, !(try isStill(shown, base, row, fetch)) { return .negative }
    let path = ClankyPath.fact(shown.id)
    let place = caller.place(path)
    let reply = try caller.call(
      path, method: "PUT", body: draft.body(guild: shown.guildID ?? fetch.guild))
    guard case .record(let record) = try Answer(reply, place: place),
      let stored = FactWire.stored(record)
    else { throw Failure(place, "the answer has no fact", .failure) }
    try output.facts([stored])
    if let kept = Fact(record: stored).map(FactDraft.init), kept != draft {
      for name in FactDraft.names where kept[name] != draft[name] {
        if name == "confidence", Double(kept[name]) == Double(draft[name]) { continue }
        diagnostics.error(what, "the backend keeps another \(name) than was sent")
      }
    }
    return .success
  }

  /// The backend has no way to say "only if it is still what I saw".
  private func isStill(
    _ shown: Fact, _ base: FactDraft, _ row: [UInt8], _ fetch: FactFetch
  ) throws(Failure) -> Bool {
    let what = "fact \(shown.id)"
    guard let now = try fetch.again([shown.id: row])[shown.id].flatMap({ Fact(record: $0) })
    else { throw Failure(what, "deleted meanwhile; nothing was sent", .negative) }
    if now.isSameVersion(as: shown) { return true }
    diagnostics.error(what, "changed meanwhile; nothing was sent")
    show { FactForm.difference(base, FactDraft(now), width: $0) }
    return false
  }
}
