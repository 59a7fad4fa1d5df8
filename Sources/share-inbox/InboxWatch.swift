import CLibc
import Core
import Shell

/// Drains whenever there is something to drain: when a file arrives, when the link can
/// be made again, when the session appears. What the system tells of the folder is a
/// hint; the folder is looked at in any case.
final class InboxWatch {
  private var drain: Drain
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
    var entry = pollfd(fd: hint, events: Int16(POLLIN), revents: 0)
    guard hint >= 0, poll(&entry, 1, 0) > 0 else { return }
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
