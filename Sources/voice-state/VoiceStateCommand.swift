import Agent
import CLibc
import Core
import Screen

/// voice-state(1): what the agent does in voice.
///
/// A folder here uses those before it in this list, never those after it: Feed (records,
/// and sessions as events change them), Text
/// (how anything is worded and laid out), Panels, Forms (a session as panels, as
/// lines), Options, Watch (the loop of a live view), Run (what can be asked for).
public func voiceStateMain() {
  StateOptions.table.run(StateOptions(), verbose: \.isVerbose, run)
}

private func run(_ options: StateOptions, _ diagnostics: Diagnostics) -> ExitStatus {
  do {
    if case .records(let file) = options.subject {
      let records = RecordedSessions(
        options: try GuildName.resolved(options, in: file), diagnostics: diagnostics, file: file)
      return try options.watches ? records.watch() : records.once()
    }
    let backend = try voice(options, diagnostics)
    let options = try GuildName.resolved(options, backend)
    switch options.subject {
    case .history: return try History(options: options, diagnostics: diagnostics).run(backend)
    case .replay(let session): return try Replay(options, diagnostics).run(backend, session)
    case .backend, .records:
      guard options.watches else { return try Once(options, diagnostics).run(backend) }
      return try StreamWatch(Watch.make(options, diagnostics), backend).run()
    }
  } catch let error as any Reported {
    return trouble(options, diagnostics, error.message, error.status)
  } catch {
    diagnostics.fail(error, StateOptions.table.usage)
  }
}

private func voice(
  _ options: StateOptions, _ diagnostics: Diagnostics
) throws(Failure) -> ClankyVoice {
  try ClankyVoice(
    options.access, maxTime: options.reconnect.maxTime, diagnostics: diagnostics)
}

/// Says what went wrong, to a bar in its own form as well.
private func trouble(
  _ options: StateOptions, _ diagnostics: Diagnostics, _ message: String, _ status: ExitStatus
) -> ExitStatus {
  diagnostics.say(message)
  guard let form = options.form, form.isBar || form == .line && !options.watches,
    options.subject == .backend, !options.isQuiet
  else { return status }
  var line = BarForm.trouble(form, status, message)
  if form == .line { line = Changes().line("", .now(), line) }
  let writer = RecordWriter()
  do throws(WriteFailure) {
    try writer.write(line + "\n")
    try writer.flush()
  } catch {
    diagnostics.fail(writing: error)
  }
  // A bar hides a block whose command fails.
  return form.isBar && !options.watches ? .success : status
}
