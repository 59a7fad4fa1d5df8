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
  let output = ItemOutput(options)
  let status = try job(options, folder, output, settings, diagnostics)
  try output.flush()
  return status
}

private func job(
  _ options: InboxOptions, _ folder: InboxFolder, _ output: ItemOutput, _ settings: Settings,
  _ diagnostics: Diagnostics
) throws -> Int32 {
  let keeper = InboxKeeper(folder: folder, output: output, diagnostics: diagnostics)
  switch options.job {
  case .add(let files) where options.usesBus:
    clibc_signal_ignore(SIGPIPE)
    let deposit = BusDeposit(
      bus: InboxBus(settings, program: diagnostics.program), suffix: options.suffix,
      moves: options.moves, maxSize: options.maxSize)
    return try keeper.add(files) { path, now throws(Failure) in
      try deposit.add(path, now: now)
    }.rawValue
  case .add(let files):
    EndSignals.watch()
    let deposit = Deposit(
      folder: folder, suffix: options.suffix, moves: options.moves, maxSize: options.maxSize,
      isQuiet: options.quiet)
    return try keeper.add(files) { path, now throws(Failure) in
      try deposit.add(path, now: now)
    }.rawValue
  case .list: return try keeper.list().rawValue
  case .purge:
    return try keeper.purge(olderThan: options.age ?? Purge.usualAge, now: .now()).rawValue
  case .retry(let ids): return try keeper.retry(ids).rawValue
  case .remove(let ids): return try keeper.remove(ids).rawValue
  case .drain(let host), .watch(let host):
    let job = DeliveryJob(options: options, output: output, diagnostics: diagnostics)
    return try job.run(folder, host: host, settings)
  }
}

/// A path as one that holds wherever we go.
private func absolute(_ path: String) throws(Failure) -> String {
  if path.isEmpty { throw Failure("--inbox", "no folder") }
  if path.hasPrefix("/") { return path }
  guard let here = currentFolder() else { throw Failure(path, systemReason(systemError)) }
  return Folders.join(here, path)
}

/// `drain` and `watch`: who takes the files, and what becomes of it.
struct DeliveryJob {
  let options: InboxOptions
  let output: ItemOutput
  let diagnostics: Diagnostics

  func run(_ folder: InboxFolder, host: String?, _ settings: Settings) throws -> Int32 {
    let handover = try handover(host, settings)
    EndSignals.watch()
    let bus = options.usesBus ? InboxBus(settings, program: diagnostics.program) : nil
    let said = Said()
    func drain(_ folder: InboxFolder) -> Drain {
      Drain(
        folder: folder, options: options, output: output, diagnostics: diagnostics,
        handover: handover, said: said)
    }
    if case .watch = options.job {
      return try InboxWatch(
        folder, handover, diagnostics: diagnostics, makeDrain: drain
      ) { [options, diagnostics] () throws(Failure) in
        try bus.map { bus throws(Failure) in
          try BusIntake(bus, ends: false, maxSize: options.maxSize, diagnostics)
        }
      }.run()
    }
    let taken = try bus.map { try receive(from: $0, into: folder) } ?? 0
    var result = try drain(folder).run(saysForeign: true)
    // What never will be delivered was the same to a drain without a bus.
    if result.status == 0 || taken == ExitStatus.denied.rawValue { result.status = taken }
    guard let failure = result.failure else { return result.status }
    switch failure {
    case .interrupted(let signal): Process.die(by: signal)
    case .hostKeyChanged(let lines): for line in lines { diagnostics.say(line) }
    default:
      let waiting = result.left == 1 ? "1 file stays" : "\(result.left) files stay"
      diagnostics.error(handover.name, "\(failure.reason); \(waiting) queued")
    }
    return failure.drainStatus
  }

  private func receive(from bus: InboxBus, into folder: InboxFolder) throws -> Int32 {
    let made = try bus.put(nil)
    if let signal = EndSignals.next() { Process.die(by: signal) }
    // Who may only read does not make it; whether that is so, bus-get tells.
    if made.status != ExitStatus.denied.rawValue {
      for line in made.said { diagnostics.say(line) }
      guard made.status == 0 else { return made.status }
    }
    let intake = try BusIntake(bus, ends: true, maxSize: options.maxSize, diagnostics)
    intake.receive(into: folder, waits: true)
    let status = intake.end()
    if let signal = EndSignals.next() { Process.die(by: signal) }
    // An empty queue is no failure.
    return max(intake.status, status == ExitStatus.negative.rawValue ? 0 : status)
  }

  private func handover(_ host: String?, _ settings: Settings) throws -> any Handover {
    switch options.target {
    case .command(let command): return CommandHandover(command)
    case .local:
      return HostHandover(
        options, name: "this machine", session: options.session ?? SessionName.base,
        label: options.connect.label ?? Configuration.HostSection.usualLabel,
        HostCalls(maxTime: options.connect.maxTime) { _ in LocalLink() })
    case .host:
      let request = try LinkRequest.make(
        host: host, options: options.connect, settings: settings, diagnostics: diagnostics)
      let memory = try? SessionMemory.load(SessionMemory.path(for: request))
      let session =
        options.session ?? memory?.last
        ?? request.destination.section?.session ?? SessionName.base
      return HostHandover(
        options, name: request.destination.name, session: session, label: request.label,
        HostCalls(request, maxTime: options.connect.maxTime))
    }
  }
}
