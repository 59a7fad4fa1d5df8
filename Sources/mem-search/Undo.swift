import Agent
import Core
import Records
import Screen
import Web

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
