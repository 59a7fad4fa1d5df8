import Agent
import Core
import Records
import Screen

/// outbox(1): what could not be sent is kept, and sent once when it can be.
public func outboxMain() {
  OutboxOptions.table.run(OutboxOptions(), verbose: \.isVerbose, run)
}

private func run(_ options: OutboxOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let output = RowOutput(form: options.form, look: options.look, isQuiet: false)
  if options.verb == .flush {
    var flush = Flush(options, output, diagnostics)
    return try flush.run()
  }
  let profile = try Settings().profile(options.access.profile)
  let file = try OutboxFile(profile: profile.name, diagnostics)
  switch options.verb {
  case .add:
    var lines = try AddedLines(options, file, profile, output, diagnostics)
    do { return try lines.run() } catch let failure as Failure where failure.place == nil {
      throw Failure("standard input", failure)
    }
  case .list, .flush:
    try file.look()
    let items = file.fold.open + (options.isAll ? file.fold.closed : [])
    try output.write(items, of: file)
    if items.isEmpty {
      output.tellEmpty(
        "nothing waits to be sent: --queue of agent-chat and task add keeps it here when offline",
        diagnostics)
    }
    return items.isEmpty ? .negative : .success
  case .drop: return try drop(options, file, output, diagnostics)
  }
}

private func drop(
  _ options: OutboxOptions, _ file: OutboxFile, _ output: RowOutput, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  // What is on its way just now cannot be called back.
  let lock = try file.sendingLock(patience: 10)
  defer { lock.release() }
  try file.look()
  let known = file.fold.open + file.fold.closed
  var status = ExitStatus.success
  for id in options.ids where !known.contains(where: { $0.ids.contains(id) }) {
    diagnostics.error(id.description, "nothing of this id is in the outbox")
    status = .negative
  }
  let wanted = known.filter { options.isAll || !Set(options.ids).isDisjoint(with: $0.ids) }
  var ack = OutboxAck(.dropped, reason: "by hand")
  ack.isByHand = true
  for item in wanted { try output.write([try file.answer(item, ack)], of: file) }
  try file.compact()
  if options.isAll && wanted.isEmpty { return .negative }
  return status
}

extension RowOutput {
  /// Writes items; they are out when this returns.
  func write(_ items: [OutboxItem], of file: OutboxFile) throws(WriteFailure) {
    try list(items.map { $0.record(file.profile) }, Self.items)
    try flush()
  }

  private static let items = Listing(
    columns: [
      .text("ID", "id"),
      .text("OP", "op"),
      .status("STATE", "state"),
      .time("TIME", "time"),
      Listing.Column("WHAT", gives: true) { record in
        .first([
          .text(record["text"]),
          .row([.text(record["collection"]), .text(record["rkey"])], by: "/"),
        ])
      },
      .text("REASON", "reason", gives: true),
    ],
    fields: [
      "id", "op", "state", "time", "profile", "collection", "rkey", "thread", "text", "cid",
      "reason",
    ])
}
