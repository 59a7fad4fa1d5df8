import Agent
import CLibc
import Core
import Records
import Screen
import Web

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
