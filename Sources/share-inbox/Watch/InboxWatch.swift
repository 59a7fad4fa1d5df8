import CLibc
import Core
import Shell

/// Drains whenever there is something to drain: when a file arrives, when the link can
/// be made again, when the session appears. What the system tells of the folder is a
/// hint; the folder is looked at in any case.
final class InboxWatch {
  private let path: String
  private let makeDrain: (InboxFolder) -> Drain
  private let host: HostHandover?
  private let diagnostics: Diagnostics
  private var folder: InboxFolder
  private var hint: Int32
  private var schedule = WatchSchedule()
  private var isDown = false
  private var lastUse = 0.0

  /// Seconds for which an idle link is kept.
  private static let linkLife = 60.0

  /// - Parameters:
  ///   - host: the handover, when it has a link.
  ///   - makeDrain: a drain of the folder.
  init(
    _ folder: InboxFolder, host: HostHandover?, diagnostics: Diagnostics,
    makeDrain: @escaping (InboxFolder) -> Drain
  ) {
    path = folder.path
    self.folder = folder
    self.host = host
    self.diagnostics = diagnostics
    self.makeDrain = makeDrain
    hint = clibc_folder_watch(folder.path)
  }

  /// Goes on until a signal, which ends the process, or a failure that no later try
  /// can mend.
  ///
  /// - Returns: what the command returns.
  func run() throws -> Int32 {
    while true {
      let now = Clock.monotonic
      if schedule.isDue(now) {
        try reopen()
        let result = try makeDrain(folder).run(saysForeign: schedule.isFirst)
        if let signal = result.failure?.signal { Process.die(by: signal) }
        if let failure = result.failure, !WatchSchedule.isWorthWaiting(failure) {
          say(failure)
          return failure.status
        }
        tell(result)
        if result.delivered > 0 || result.left > 0 { lastUse = Clock.monotonic }
        schedule.drained(result, now: Clock.monotonic)
      }
      if let host, host.isOpen, Clock.monotonic - lastUse > Self.linkLife { host.close() }
      try wait()
    }
  }

  /// Sleeps until something is due, the folder changed, or a signal came.
  private func wait() throws {
    let until = schedule.next
    if let host, host.isOpen {
      let end = min(until, lastUse + Self.linkLife + 0.1)
      host.idle(until: end, also: hint)
    } else {
      var set = PollSet()
      set.add(hint)
      set.add(EndSignals.descriptor)
      set.wait(seconds: max(0, until - Clock.monotonic))
      dieIfAsked()
    }
    var entry = pollfd(fd: hint, events: Int16(POLLIN), revents: 0)
    if hint >= 0, poll(&entry, 1, 0) > 0 {
      clibc_folder_drain(hint)
      schedule.hinted(now: Clock.monotonic)
    }
  }

  private func dieIfAsked() {
    guard let signal = EndSignals.next() else { return }
    host?.close()
    Process.die(by: signal)
  }

  /// A folder that was removed or put aside is looked for by its name again.
  private func reopen() throws {
    var ours = stat()
    if let named = stat(following: path), fstat(folder.descriptor, &ours) == 0,
      named.st_ino == ours.st_ino,
      named.st_dev == ours.st_dev
    {
      return
    }
    folder = try InboxFolder(path: path)
    if hint >= 0 { close(hint) }
    hint = clibc_folder_watch(path)
  }

  /// A person is told when files have to wait, and when that is over.
  private func tell(_ result: Drain.Result) {
    if let failure = result.failure {
      if !isDown { say(failure) }
      isDown = true
    } else if isDown {
      isDown = false
      say("files are delivered again")
    }
  }

  private func say(_ failure: HandoverFailure) {
    for line in failure.warning { diagnostics.say(line) }
    if failure.warning.isEmpty { say("\(failure.what): \(failure.reason)") }
  }

  private func say(_ text: String) { diagnostics.say(text) }
}
