import Agent
import CLibc
import Core
import Screen
import Web

/// `mem-search --delete`: looks the facts up, asks, and deletes one after the
/// other, each written down first.
struct Delete {
  let memory: Memory
  private var options: MemOptions { memory.options }
  private var diagnostics: Diagnostics { memory.diagnostics }

  init(_ memory: Memory) { self.memory = memory }

  /// - Returns: `negative` when one is not there, was changed meanwhile, or
  ///   nobody agreed.
  /// - Throws: `CallFailure`, `WriteFailure`.
  func run() throws -> ExitStatus {
    let asks = !options.isSure
    if asks, !Question.canAsk || options.operands.contains("-") {
      throw CallFailure("--delete", "nobody can be asked: give --yes", .failure)
    }
    let ids = try FactIDs.all(options.operands)
    if ids.isEmpty { return .negative }
    let fetch = try memory.fetch()
    let log: DeleteLog
    do throws(SettingsError) {
      log = try DeleteLog(Folders(), url: memory.caller.backend.base.display)
    } catch {
      throw CallFailure(error)
    }
    let shown = try fetch.find(ids)
    var now = shown
    if asks {
      let facts = ids.compactMap { shown[$0] }.compactMap { Fact(record: $0) }
      if !facts.isEmpty {
        let notes = NoteOutput(options)
        notes.show(FactRows(facts, width: notes.width).lines())
        let words = facts.count == 1 ? "this fact" : "these \(facts.count) facts"
        if !Question.isYes("Delete \(words)?") {
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

  /// Deletes one, and says what came of it.
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
    try noting { () throws(SettingsError) in
      try log.note(.sent, id: id, guild: guild, fact: now)
    }
    let path = ClankyPath.fact(id)
    let body = Array("{\"guildId\":\(JSONQuote.string(guild))}".utf8)
    let reply: Caller.Reply
    do throws(CallFailure) {
      reply = try memory.caller.answer(path, method: "DELETE", body: body)
    } catch {
      record.result = "unknown"
      record.reason = error.message
      try memory.output.result(record)
      throw error
    }
    let problem = memory.caller.backend.problem(of: reply.head, reply.body, method: "DELETE")
    if let problem, problem.status != .negative {
      // A fault in the middle of a server's work says nothing about the fact.
      if reply.head.status < 500 {
        try noting { () throws(SettingsError) in try log.note(.kept, id: id, guild: guild) }
      }
      throw CallFailure(memory.caller.place(path), problem.line, problem.status)
    }
    let isGone = problem == nil
    let isMissing = reply.head.status == 404
    record.result = isGone ? "deleted" : isMissing ? "not_found" : "kept"
    if !isGone && !isMissing { record.reason = problem?.line }
    let result: DeleteLog.Result = isGone ? .deleted : isMissing ? .missing : .kept
    try noting { () throws(SettingsError) in try log.note(result, id: id, guild: guild) }
    try tell(record)
    return isGone
  }

  private func tell(_ record: DeleteRecord) throws(WriteFailure) {
    try memory.output.result(record)
    if record.result != "deleted", memory.output.form != .table, !options.quiet {
      diagnostics.error(
        "fact \(record.id)", record.reason ?? record.result.exchanging("_", for: " "))
    }
  }

  private func noting(_ body: () throws(SettingsError) -> Void) throws(CallFailure) {
    do throws(SettingsError) { try body() } catch { throw CallFailure(error) }
  }
}
