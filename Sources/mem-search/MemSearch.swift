import Agent
import CLibc
import Core
import Screen

/// mem-search(1): searches, browses and corrects the agent's memory.
public func memSearchMain() { MemOptions.table.run(MemOptions(), verbose: \.verbose, run) }

private func run(_ options: MemOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let output = RowOutput(form: options.form, look: options.look, isQuiet: options.quiet)
  do {
    let status = try answer(options, output, diagnostics)
    try output.flush()
    return status
  } catch let failure as any Reported {
    // What came before the failure is good.
    try output.flush()
    throw failure
  }
}

private func answer(
  _ options: MemOptions, _ output: RowOutput, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  if options.count == 0 { return .success }
  if options.isOffline {
    return try Offline(options: options, output: output, diagnostics: diagnostics).run()
  }
  let caller = try Caller(
    options.access, for: .memory, maxTime: options.maxTime, diagnostics: diagnostics)
  let memory = Memory(
    options: options, caller: caller, output: output, diagnostics: diagnostics)
  switch options.mode {
  case .search: return try memory.search()
  case .facts: return try memory.facts()
  case .subjects: return try memory.subjects()
  case .reflections: return try memory.reflections()
  case .factProfile: return try memory.factProfile()
  case .markdown: return try memory.markdown()
  case .snapshot: return try memory.snapshot()
  case .edit: return try memory.edit()
  case .delete: return try memory.delete()
  case .undo: return try memory.undo()
  case .mirror: return try memory.mirror()
  case .pick: return try memory.pick()
  }
}
