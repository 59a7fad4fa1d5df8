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
  let intake = try BusIntake(bus, ends: true, maxSize: drain.options.maxSize, drain.diagnostics)
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

struct InboxKeeper {
  let folder: InboxFolder
  let output: RowOutput
  let diagnostics: Diagnostics

  /// A file that cannot be put in is named, and the next one is put in.
  func add(
    _ files: [String], by deposit: (String, Timestamp) throws(Failure) -> InboxItem
  ) throws -> ExitStatus {
    var status = ExitStatus.success
    var unwritten: WriteFailure?
    func endIfAsked() throws {
      guard let signal = EndSignals.next() else { return }
      try output.flush()
      Process.die(by: signal)
    }
    for file in files {
      try endIfAsked()
      let item: InboxItem
      do throws(Failure) {
        item = try deposit(file, .now())
      } catch {
        try endIfAsked()
        diagnostics.say(error.message)
        if status == .success { status = error.status }
        continue
      }
      do throws(WriteFailure) {
        try write([item])
      } catch {
        unwritten = unwritten ?? error
      }
    }
    if let unwritten { throw unwritten }
    return status
  }

  func list() throws -> ExitStatus {
    let found = try folder.scan()
    for other in found.foreign { diagnostics.error(other.path, other.reason) }
    try write(found.items.map(folder.completed))
    if found.foreign.contains(where: \.isItem) { return .failure }
    if !found.items.isEmpty { return .success }
    output.tellEmpty("no file waits in the inbox: share-inbox add FILE puts one there", diagnostics)
    return .negative
  }

  /// Removes what is older, and prints it.
  func purge(olderThan age: Double, now: Timestamp) throws -> ExitStatus {
    var status = ExitStatus.success
    for (item, problem) in try folder.purge(olderThan: age, now: now) {
      if let problem {
        diagnostics.error(item.path, problem)
        status = .failure
      } else {
        try write([item])
      }
    }
    return status
  }

  func retry(_ ids: [String]) throws -> ExitStatus {
    try each(ids) { item in
      folder.dropNote(of: item.name)
      var item = item
      item.time = Timestamp(seconds: item.name.epoch)
      if item.state == .failed { item.state = .queued }
      item.reason = nil
      try write([item])
      return true
    }
  }

  func remove(_ ids: [String]) throws -> ExitStatus {
    try each(ids) { item in
      let file = clibc_open_in(folder.descriptor, item.name.text, O_RDONLY)
      defer { if file >= 0 { close(file) } }
      let fault: String? =
        if file < 0 {
          systemReason(systemError)
        } else if clibc_lock(file) != 0 {
          "is being sent"
        } else {
          switch folder.remove(item.name, opened: file) {
          case 0: nil
          case let code: systemReason(code)
          }
        }
      if let fault {
        diagnostics.error(item.path, fault)
        return false
      }
      folder.dropNote(of: item.name)
      try write([item])
      return true
    }
  }

  private func write(_ items: [InboxItem]) throws(WriteFailure) {
    try output.list(items.map(\.record), .inboxItems)
  }

  /// Does something with the items of these ids: the id of the record, the UUID in it,
  /// the file's name, or its own where only one has that.
  private func each(_ ids: [String], _ body: (InboxItem) throws -> Bool) throws -> ExitStatus {
    let items = try folder.scan().items.map(folder.completed)
    var status = ExitStatus.success
    for id in ids {
      let named = items.filter { item in
        [item.name.id, item.name.uuid, item.name.text, item.name.own].contains(id)
      }
      if named.count != 1 {
        let ids = named.map(\.name.id).joined(separator: ", ")
        diagnostics.error(id, named.isEmpty ? "no such item" : "more than one item: \(ids)")
        if status == .success { status = .negative }
      } else if try !body(named[0]) {
        status = .failure
      }
    }
    return status
  }
}

/// Drains whenever there is something to drain: when a file arrives, when the link can
/// be made again, when the session appears. What the system tells of the folder is a
/// hint; the folder is looked at in any case.
final class InboxWatch {
  private let drain: Drain
  private let bus: InboxBus?
  /// What takes files from a bus; nil without one, and while it is not started again.
  private var intake: BusIntake?
  private var intakeDue = 0.0
  private let host: HostHandover?
  private var hint: Int32
  /// What was there before the last drain, where the system does not tell what has come.
  private var known: Set<[UInt8]> = []
  private var schedule = WatchSchedule()
  private var isDown = false
  private var lastUse = 0.0
  /// Seconds from one start of what takes files from a bus to the next.
  private static let intakeRest = 2.0
  /// Seconds for which an idle link is kept.
  private static let linkLife = 60.0

  init(_ drain: Drain, _ bus: InboxBus?) {
    (self.drain, self.bus) = (drain, bus)
    host = drain.handover as? HostHandover
    hint = clibc_folder_watch(drain.folder.path)
  }

  private var folder: InboxFolder { drain.folder }
  private var diagnostics: Diagnostics { drain.diagnostics }

  /// Until a signal, which ends the process, or a failure that no later try can mend.
  func run() throws -> Int32 {
    while true {
      if let status = try takeIn() { return status }
      let now = Clock.monotonic
      if schedule.isDue(now) {
        try reopen()
        known = names
        let result = try drain.run(saysForeign: schedule.isFirst)
        if let failure = result.failure {
          if case .interrupted(let signal) = failure { Process.die(by: signal) }
          if !WatchSchedule.isWorthWaiting(failure) {
            say(failure)
            return failure.drainStatus
          }
        }
        tell(result)
        if result.delivered > 0 || result.left > 0 { lastUse = Clock.monotonic }
        schedule.drained(result, now: Clock.monotonic)
      }
      if let host, host.isOpen, Clock.monotonic - lastUse > Self.linkLife { host.close() }
      try wait()
    }
  }

  private func takeIn() throws -> Int32? {
    let now = Clock.monotonic
    if intake == nil, now >= intakeDue {
      if let bus {
        intake = try BusIntake(bus, ends: false, maxSize: drain.options.maxSize, diagnostics)
      }
      intakeDue = intake == nil ? .infinity : now + Self.intakeRest
    }
    guard let intake else { return nil }
    try reopen()
    if intake.receive(into: folder, waits: false) { schedule.hinted(now: now) }
    guard intake.hasEnded else { return nil }
    self.intake = nil
    let status = intake.end()
    return [ExitStatus.failure.rawValue, ExitStatus.denied.rawValue].contains(status) ? status : nil
  }

  /// Sleeps until something is due, the folder changed, or a signal came.
  private func wait() throws {
    let until = intake == nil ? min(schedule.next, intakeDue) : schedule.next
    let source = intake?.descriptor ?? -1
    if let host, host.isOpen {
      let end = min(until, lastUse + Self.linkLife + 0.1)
      host.idle(until: end, also: [hint, source])
    } else {
      var set = PollSet(hint, source, EndSignals.descriptor)
      set.wait(seconds: max(0, until - Clock.monotonic))
      if let signal = EndSignals.next() { Process.die(by: signal) }
    }
    guard hint >= 0, isReadable(hint) else { return }
    // What is kept of a failure is a hidden file, and no reason for the next try.
    let news = clibc_folder_drain(hint)
    if news > 0 || news < 0 && !names.isSubset(of: known) {
      schedule.hinted(now: Clock.monotonic)
    }
  }

  private var names: Set<[UInt8]> {
    let all = try? folder.names()
    return Set((all ?? []).filter { $0.first != UInt8(ascii: ".") })
  }

  /// A folder that was removed or put aside is looked for by its name again.
  private func reopen() throws {
    var ours = stat()
    if let named = stat(following: folder.path), fstat(folder.descriptor, &ours) == 0,
      named.st_ino == ours.st_ino, named.st_dev == ours.st_dev
    {
      return
    }
    drain.folder = try InboxFolder(path: folder.path)
    if hint >= 0 { close(hint) }
    hint = clibc_folder_watch(folder.path)
  }

  private func tell(_ result: Drain.Result) {
    if let failure = result.failure {
      if !isDown { say(failure) }
      isDown = true
    } else if isDown {
      isDown = false
      diagnostics.say("files are delivered again")
    }
  }

  private func say(_ failure: HostFailure) {
    for line in failure.lines(of: drain.handover.name) { diagnostics.say(line) }
  }
}

/// When the inbox is drained next. Times are those of `Clock.monotonic`.
struct WatchSchedule {
  private(set) var next = 0.0
  private(set) var isFirst = true
  private var failures = 0
  private var isHeldBack = false

  /// Seconds between two looks at the folder when nothing hints at a change.
  static let rescan = 30.0
  /// Seconds until a session that is not there is looked for again.
  static let sessionPoll = 3.0
  /// Seconds until files that could not be taken are tried again.
  static let itemRetry = 15.0
  /// Seconds to the next try after a link was lost, each time the next of these.
  static let waits = [1.0, 2, 4, 8, 15]

  func isDue(_ now: Double) -> Bool { now >= next }

  static func isWorthWaiting(_ failure: HostFailure) -> Bool {
    failure.drainStatus == ExitStatus.temporary.rawValue
  }

  mutating func drained(_ result: Drain.Result, now: Double) {
    isFirst = false
    isHeldBack = false
    if let failure = result.failure, failure.isWorthRetry(afterSuccess: true) {
      next = now + Self.waits[min(failures, Self.waits.count - 1)]
      failures += 1
      isHeldBack = true
      return
    }
    failures = 0
    if result.failure != nil {
      next = now + Self.sessionPoll
    } else {
      next = now + (result.left > 0 ? Self.itemRetry : Self.rescan)
    }
  }

  mutating func hinted(now: Double) {
    if !isHeldBack { next = min(next, now) }
  }
}
