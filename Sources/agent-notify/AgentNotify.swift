import Core
import Records

/// agent-notify(1): tells a person what an agent's records say.
public func agentNotifyMain() {
  NotifyOptions.table.run(NotifyOptions()) { options, diagnostics in
    if options.isRoute { return try route(options, diagnostics) }
    if options.isHistory { return try printHistory(options) }
    if options.isCheck { return try NotifyCheck(options: options, diagnostics: diagnostics).run() }
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
  try RecordWriter.print(told.map { $0.line + "\n" }.joined())
  return told.isEmpty ? .negative : .success
}

/// `agent-notify --route`: where notifications go, as records.
func route(_ options: NotifyOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  var reader = NoticeReader(options.routes, diagnostics: diagnostics)
  var faults = FaultLog(diagnostics)
  let writer = RecordWriter()
  try RecordInput.each(
    options.files, writtenTo: FileIdentity(descriptor: 1), until: { false },
    fault: { faults.file($0, $1) },
    lines: { input in
      while let line = try input.next(beforeBlocking: { _ in try writer.flush() }) {
        let (routes, fault) = reader.read(line.bytes)
        for route in routes { try writer.write(route.record) }
        if let fault { faults.line(input.path, line.number, fault) }
      }
    })
  try writer.flush()
  faults.finish()
  return faults.hasFault ? .failure : .success
}
