import CLibc
import Core
import Screen
import Shell

/// share-inbox(1): a folder of files that go into the agent's hands.
public func shareInboxMain() {
  InboxOptions.table.run(InboxOptions(), verbose: \.verbose) {
    Process.exit(code: try run($0, $1))
  }
}

private func run(_ options: InboxOptions, _ diagnostics: Diagnostics) throws -> Int32 {
  let settings = try Settings(diagnostics: diagnostics)
  let path = try options.inbox.map { try absolute($0) } ?? settings.folders.stateFile("inbox")
  let folder = try InboxFolder(path: path)
  let output = RowOutput(form: options.form, look: options.look, isQuiet: options.quiet)
  let status = try job(options, folder, output, settings, diagnostics)
  try output.flush()
  return status
}

private func job(
  _ options: InboxOptions, _ folder: InboxFolder, _ output: RowOutput, _ settings: Settings,
  _ diagnostics: Diagnostics
) throws -> Int32 {
  let keeper = InboxKeeper(folder: folder, output: output, diagnostics: diagnostics)
  switch options.job {
  case .add(let files) where options.usesBus:
    clibc_signal_ignore(SIGPIPE)
    let bus = InboxBus(settings, program: diagnostics.program)
    return try keeper.add(files, by: BusDeposit(bus: bus, options: options).add).rawValue
  case .add(let files):
    EndSignals.watch()
    return try keeper.add(files, by: Deposit(folder: folder, options: options).add).rawValue
  case .list: return try keeper.list().rawValue
  case .purge:
    return try keeper.purge(olderThan: options.age ?? InboxFolder.usualAge, now: .now()).rawValue
  case .retry(let ids): return try keeper.retry(ids).rawValue
  case .remove(let ids): return try keeper.remove(ids).rawValue
  case .drain(let host), .watch(let host):
    let handover = try handover(options, host, settings, diagnostics)
    EndSignals.watch()
    let bus = options.usesBus ? InboxBus(settings, program: diagnostics.program) : nil
    let drain = Drain(folder, options, output, diagnostics, handover)
    if case .watch = options.job { return try InboxWatch(drain, bus).run() }
    return try deliver(drain, bus)
  }
}

/// A path as one that holds wherever we go.
private func absolute(_ path: String) throws(Failure) -> String {
  if path.isEmpty { throw Failure("--inbox", "no folder") }
  if path.hasPrefix("/") { return path }
  guard let here = currentFolder() else { throw Failure(path, systemReason(systemError)) }
  return Folders.join(here, path)
}

/// `drain`: hands over what is there.
private func deliver(_ drain: Drain, _ bus: InboxBus?) throws -> Int32 {
  let taken = try bus.map { try receive(from: $0, for: drain) } ?? 0
  var result = try drain.run(saysForeign: true)
  // What never will be delivered was the same to a drain without a bus.
  if result.status == 0 || taken == ExitStatus.denied.rawValue { result.status = taken }
  guard let failure = result.failure else { return result.status }
  switch failure {
  case .interrupted(let signal): Process.die(by: signal)
  case .hostKeyChanged(let lines): for line in lines { drain.diagnostics.say(line) }
  default:
    let waiting = result.left == 1 ? "1 file stays" : "\(result.left) files stay"
    drain.diagnostics.error(drain.handover.name, "\(failure.reason); \(waiting) queued")
  }
  return failure.drainStatus
}

private func receive(from bus: InboxBus, for drain: Drain) throws -> Int32 {
  let made = try bus.put(nil)
  if let signal = EndSignals.next() { Process.die(by: signal) }
  // Who may only read does not make it; whether that is so, bus-get tells.
  if made.status != ExitStatus.denied.rawValue {
    for line in made.said { drain.diagnostics.say(line) }
    guard made.status == 0 else { return made.status }
  }
  let intake = try BusIntake(
    bus, ends: true, maxSize: drain.options.maxSize, drain.diagnostics)
  intake.receive(into: drain.folder, waits: true)
  let status = intake.end()
  if let signal = EndSignals.next() { Process.die(by: signal) }
  // An empty queue is no failure.
  return max(intake.status, status == ExitStatus.negative.rawValue ? 0 : status)
}

/// Who takes the files.
private func handover(
  _ options: InboxOptions, _ host: String?, _ settings: Settings, _ diagnostics: Diagnostics
) throws -> any Handover {
  switch options.target {
  case .command(let command): return CommandHandover(command)
  case .local:
    return HostHandover(
      options, name: "this machine", session: options.session ?? SessionName.base,
      HostCalls(maxTime: options.connect.maxTime) { _ in LocalLink() },
      label: options.connect.label ?? Configuration.HostSection.usualLabel)
  case .host:
    let request = try LinkRequest.make(
      host: host, options: options.connect, settings: settings, diagnostics: diagnostics)
    let memory = try? SessionMemory.load(SessionMemory.path(for: request))
    let session =
      options.session ?? memory?.last
      ?? request.destination.section?.session ?? SessionName.base
    return HostHandover(
      options, name: request.destination.name, session: session,
      HostCalls(request, maxTime: options.connect.maxTime), label: request.label)
  }
}
