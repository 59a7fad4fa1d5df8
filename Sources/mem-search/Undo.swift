import Agent
import Core
import Records
import Screen
import Web

/// `mem-search --undo`: what was deleted from this machine, and the way back where
/// the backend has one (the dashboard has none; agent-serve has).
struct Undo {
  let memory: Memory
  private var options: MemOptions { memory.options }

  init(_ memory: Memory) { self.memory = memory }

  func run() throws -> ExitStatus {
    let ids = try FactIDs.all(options.operands)
    if !options.operands.isEmpty && ids.isEmpty { return .negative }
    let fetch = try memory.fetch()
    let log: DeleteLog
    var entries: [DeleteLog.Entry]
    log = try DeleteLog(Folders(), url: memory.caller.backend.base.display)
    entries = try log.entries(guilds: fetch.guilds.map(\.id))
    entries = try settled(entries, fetch, log)
    if ids.isEmpty { return try list(entries) }
    var isWhole = true
    for id in ids {
      guard let entry = entries.first(where: { $0.id == id }) else {
        memory.diagnostics.error("fact \(id)", "not among those that were deleted")
        isWhole = false
        continue
      }
      let isBack = try restore(entry, entry.guild, log)
      isWhole = isWhole && isBack
    }
    return isWhole ? .success : .negative
  }

  /// Without those whose deletion was begun and never done.
  private func settled(
    _ entries: [DeleteLog.Entry], _ fetch: FactFetch, _ log: DeleteLog
  ) throws -> [DeleteLog.Entry] {
    let open = entries.filter { $0.result == .sent }.map(\.id)
    if open.isEmpty { return entries }
    let there = try fetch.find(open, isCertain: false)
    for entry in entries where entry.result == .sent && there[entry.id] != nil {
      try log.note(.kept, id: entry.id, guild: entry.guild)
    }
    return entries.filter { $0.result != .sent || there[$0.id] == nil }
  }

  private func list(_ entries: [DeleteLog.Entry]) throws(WriteFailure) -> ExitStatus {
    if entries.isEmpty {
      memory.tellPerson("nothing was deleted")
      return .negative
    }
    let entries = Array(entries.prefix(options.count ?? .max))
    if memory.output.form != .json {
      try memory.output.facts(entries.map(\.fact))
      return .success
    }
    for entry in entries {
      try memory.output.result(
        DeleteRecord(
          id: entry.id, guild: entry.guild, result: "deleted", time: entry.time, fact: entry.fact))
    }
    return .success
  }

  private func restore(
    _ entry: DeleteLog.Entry, _ guild: String, _ log: DeleteLog
  ) throws -> Bool {
    var record = DeleteRecord(
      type: .factRestore, id: entry.id, guild: guild, result: "lost", fact: entry.fact)
    let reply = try memory.caller.answer(
      ClankyPath.facts, method: "POST", body: FactWire.restoring(entry.fact, guild: guild))
    let problem = memory.caller.backend.problem(of: reply.head, reply.body, method: "POST")
    if let problem, reply.head.status != 409 {
      guard [404, 405].contains(reply.head.status) else {
        throw Failure(memory.caller.place(ClankyPath.facts), problem.message, problem.status)
      }
      record.reason = "the backend has no way to make a fact"
      try memory.output.result(record)
      if memory.output.form != .table {
        memory.diagnostics.error("fact \(entry.id)", record.reason ?? "lost")
      }
      return false
    }
    record.result = "restored"
    // The same fact is there: somebody was faster.
    if reply.head.status == 409 { record.reason = "it was there already" }
    record.newID = FactWire.newID(reply.body)
    try log.note(.restored, id: entry.id, guild: guild)
    try memory.output.result(record)
    return true
  }
}
