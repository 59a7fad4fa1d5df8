import Core
import Records

/// agent-notify(1): tells a person what an agent's records say.
public func agentNotifyMain() {
  NotifyOptions.table.run(NotifyOptions()) { options, diagnostics in
    if options.isRoute { return try route(options, diagnostics) }
    if options.isHistory { return try printHistory(options) }
    if options.isCheck { return try NotifyCheck(options, diagnostics).run() }
    var options = options
    try options.choose(diagnostics)
    var loop = try NotifyLoop(options, diagnostics)
    return try loop.run()
  }
}

/// Prints what was told, oldest first.
private func printHistory(_ options: NotifyOptions) throws -> ExitStatus {
  let told = try ToldFile.history(
    options.state, profiles: options.profiles, isBus: !options.subjects.isEmpty)
  let writer = RecordWriter()
  for one in told { try writer.write(one.line + "\n") }
  try writer.flush()
  return told.isEmpty ? .negative : .success
}
