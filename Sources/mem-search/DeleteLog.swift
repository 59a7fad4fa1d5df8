import Agent
import Core
import Records
import Screen
import Web

/// What mem-search deleted, in the state folder: a record with the whole fact is
/// on disk before the backend is asked to delete it, and one that says what came
/// of it follows. So whatever ends the process, a fact that is gone is written
/// down.
struct DeleteLog {
  private let file: JournalFile
  private let url: String

  init(_ folders: Folders, url: String) throws(Failure) {
    file = JournalFile(path: try folders.stateFile("memory-deleted.ndjson"))
    self.url = url
  }

  /// `result`: `sent`, before it is asked for: from here on it is gone or not, and nobody knows;
  /// `deleted`, `not_found`, `kept` where the backend refused, `restored`.
  func note(_ result: String, id: String, guild: String, fact: [UInt8]? = nil) throws(Failure) {
    let record = RecordText(.factDelete).time(.now()).string("url", url).string("guild_id", guild)
      .string("id", id).string("result", result)
    try file.append(record.json("fact", bytes: fact).bytes)
  }

  /// What is gone, or perhaps is, the last first: `deleted` or `sent`.
  func entries(guilds: [String]) throws(Failure) -> [DeleteRecord] {
    var entries: [DeleteRecord] = []
    for line in try file.records() {
      guard let value = JSONValue(line), value["type"]?.string == "fact_delete",
        value["url"]?.string == url, let guild = value["guild_id"]?.string,
        guilds.contains(guild), let id = value["id"]?.string
      else { continue }
      let last = entries.lastIndex { $0.id == id }
      switch value["result"]?.string {
      case "sent":
        if let last { entries.remove(at: last) }
        entries.append(
          DeleteRecord(
            id: id, guild: guild, result: "sent", time: value["time"]?.string ?? "",
            fact: ScanMembers.copy(of: "fact", in: line) ?? []))
      case "deleted", "not_found": if let last { entries[last].result = "deleted" }
      case "kept", "restored": if let last { entries.remove(at: last) }
      default: break
      }
    }
    return entries.reversed()
  }
}

/// What came of one fact that was to be deleted or put back: a record for a
/// script, a line for a person.
struct DeleteRecord {
  var type = RecordType.factDelete
  var id: String
  var guild: String
  /// `deleted`, `not_found`, `changed`, `unknown`, `kept`, `restored`, `lost`.
  var result: String
  var reason: String?
  var time: String?
  var newID: String?
  /// The backend's bytes; nil when there is nothing to tell.
  var fact: [UInt8]?

  var json: [UInt8] {
    RecordText(type).string("id", id).string("guild_id", guild).string("result", result)
      .string("time", time).string("reason", reason).string("new_id", newID)
      .json("fact", bytes: fact).bytes
  }

  /// The fields of TSV: id, result, reason, new id, and the fact.
  var tsv: String {
    let words = fact.flatMap { Fact(record: $0)?.fact } ?? ""
    return [id, result, reason ?? "", newID ?? "", words].map { RowText.escape($0) }
      .joined(separator: "\t")
  }

  var line: Line {
    let isDone = result == "deleted" || result == "restored"
    let word = result.exchanging("_", for: " ")
    var line = Line([
      Line.Span(Plain.line(id, limit: 40), .dim), Line.Span("  "),
      Line.Span(word, Style(isDone ? Palette.positive : Palette.error)),
    ])
    if let newID { line.add(" as \(Plain.line(newID, limit: 40))") }
    if let reason { line.add(": \(Plain.line(reason, limit: 300))") }
    if let fact = fact.flatMap({ Fact(record: $0) }) {
      line.add("  " + Plain.line(fact.fact, limit: Cell.longest))
    }
    return line
  }
}

extension RowOutput {
  /// Writes what came of a fact, at once: what is done is not to be lost.
  func result(_ record: DeleteRecord) throws(WriteFailure) {
    try records(
      [record.json], fields: ["id", "result", "reason", "new_id", "fact"],
      tsv: { _ in [record.tsv] }, lines: { _, _ in [record.line] })
    try flush()
  }
}

extension Memory {
  /// `mem-search --undo`: what was deleted from this machine, and the way back where
  /// the backend has one (the dashboard has none; agent-serve has).
  func undo() throws -> ExitStatus {
    let ids = try ids()
    if !options.operands.isEmpty && ids.isEmpty { return .negative }
    let fetch = try fetch()
    let log = try DeleteLog(Folders(), url: caller.backend.base.display)
    let entries = try settled(try log.entries(guilds: fetch.guilds.map(\.id)), fetch, log)
    if ids.isEmpty { return try list(entries) }
    var isWhole = true
    for id in ids {
      guard let entry = entries.first(where: { $0.id == id }) else {
        diagnostics.error("fact \(id)", "not among those that were deleted")
        isWhole = false
        continue
      }
      let isBack = try restore(entry, log)
      isWhole = isWhole && isBack
    }
    return isWhole ? .success : .negative
  }

  /// Without those whose deletion was begun and never done.
  private func settled(
    _ entries: [DeleteRecord], _ fetch: FactFetch, _ log: DeleteLog
  ) throws -> [DeleteRecord] {
    let open = entries.filter { $0.result == "sent" }.map(\.id)
    let there = open.isEmpty ? [:] : try fetch.find(open, isCertain: false)
    return try entries.compactMap { entry in
      var entry = entry
      if entry.result == "sent", there[entry.id] != nil {
        try log.note("kept", id: entry.id, guild: entry.guild)
        return nil
      }
      entry.result = "deleted"
      return entry
    }
  }

  private func list(_ entries: [DeleteRecord]) throws(WriteFailure) -> ExitStatus {
    if entries.isEmpty {
      tellPerson("nothing was deleted")
      return .negative
    }
    let entries = entries.prefix(options.count ?? .max)
    if output.form != .json {
      try output.facts(entries.compactMap(\.fact))
      return .success
    }
    for entry in entries { try output.result(entry) }
    return .success
  }

  private func restore(_ entry: DeleteRecord, _ log: DeleteLog) throws -> Bool {
    var record = entry
    (record.type, record.result, record.time) = (.factRestore, "lost", nil)
    let reply = try caller.answer(
      ClankyPath.facts, method: "POST",
      body: FactWire.restoring(entry.fact ?? [], guild: entry.guild))
    let problem = caller.backend.problem(of: reply.head, reply.body, method: "POST")
    if let problem, reply.head.status != 409 {
      guard [404, 405].contains(reply.head.status) else {
        throw Failure(caller.place(ClankyPath.facts), problem.message, problem.status)
      }
      let reason = "the backend has no way to make a fact"
      record.reason = reason
      try output.result(record)
      if output.form != .table { diagnostics.error("fact \(entry.id)", reason) }
      return false
    }
    record.result = "restored"
    // The same fact is there: somebody was faster.
    if reply.head.status == 409 { record.reason = "it was there already" }
    record.newID = FactWire.newID(reply.body)
    try log.note("restored", id: entry.id, guild: entry.guild)
    try output.result(record)
    return true
  }
}
