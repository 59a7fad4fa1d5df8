import CLibc
import Core
import Web

final class Narrator {
  let speaker: Speaker?
  private let watch: RecordingWatch?
  private let client: WebClient?
  private let diagnostics: Diagnostics

  init(
    _ options: NarrateOptions, client: WebClient? = nil, _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.client, self.diagnostics) = (client, diagnostics)
    guard let command = options.command else {
      (speaker, watch) = (nil, nil)
      return
    }
    EndSignals.watch()
    speaker = Speaker(
      command, timeout: options.timeout, newestWins: !options.isAll, diagnostics)
    watch = try RecordingWatch()
  }

  var isIdle: Bool { speaker?.isIdle ?? true }

  var status: ExitStatus { speaker?.hasFailed == true ? .failure : .success }

  /// Does what can be done, then waits for the next thing to happen. Returns whether the file can
  /// be read. A signal ends the process.
  func turn(input: Int32 = -1, until: Double = .infinity) -> Bool {
    var now = Clock.monotonic
    endIfAsked()
    var next = until
    let isRecording = look(now, &next)
    if let speaker {
      let wakeUp = speaker.work(now: now, isRecording: isRecording) {
        watch?.hurry()
        return !look(now, &next)
      }
      next = min(next, wakeUp)
      // Nothing is left to wait for but what is read.
      if speaker.isIdle, input < 0, until == .infinity { return false }
    }
    now = Clock.monotonic
    let seconds = min(max(next - now, 0), 60)
    let files = [EndSignals.descriptor, watch?.descriptor ?? -1, input]
    if let client {
      client.wait(seconds: seconds, reading: files.filter { $0 >= 0 })
      client.perform()
      return false
    }
    var entries = files.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up)))
    return entries[2].revents != 0
  }

  private func look(_ now: Double, _ next: inout Double) -> Bool {
    guard let watch else { return false }
    let wasRecording = watch.isRecording
    next = min(next, watch.look(now: now))
    if watch.isRecording != wasRecording {
      diagnostics.note(wasRecording ? "goes on" : "silent while a clip is recorded")
    }
    return watch.isRecording
  }

  func endIfAsked() {
    guard let speaker, let signal = EndSignals.next() else { return }
    speaker.stop(signal)
    Process.die(by: signal)
  }
}

/// Runs the user's command for each narration, one after the other. The command stands still
/// while a clip is recorded.
final class Speaker {
  typealias Item = (name: String, bytes: [UInt8])

  private let command: String
  private let timeout: Double
  private let diagnostics: Diagnostics
  /// Whether of several that wait only the newest is spoken.
  private let newestWins: Bool
  private var queue: [Item] = []
  private var child: ChildProcess?
  private var rest: ArraySlice<UInt8> = []
  /// Seconds that the command may still run; what it stands still does not count.
  private var left = 0.0
  private var lastLook = 0.0
  private var isStopped = false
  private var isEnding = false
  private(set) var hasFailed = false

  /// One that does not end when it is asked to is killed, seconds.
  private static let grace = 2.0
  /// And so is what it started and has left behind when it was asked to end.
  private static let linger = 0.25

  init(_ command: String, timeout: Double, newestWins: Bool, _ diagnostics: Diagnostics) {
    (self.command, self.timeout, self.newestWins) = (command, timeout, newestWins)
    self.diagnostics = diagnostics
  }

  var isIdle: Bool { child == nil && queue.isEmpty }

  func add(_ item: Item) {
    if newestWins, let skipped = queue.popLast() {
      diagnostics.note("\(skipped.name): skipped for a newer one")
    }
    queue.append(item)
  }

  /// Does what can be done without waiting. Returns when to be called again at the latest.
  func work(now: Double, isRecording: Bool, mayStart: () -> Bool) -> Double {
    if let child { go(on: child, now, isRecording) }
    while child == nil, !queue.isEmpty, mayStart() { start(queue.removeFirst(), now) }
    // The end of a process is nothing that can be polled for.
    return child == nil ? .infinity : now + 0.02
  }

  /// Ends the command with all that it started, and forgets what waits.
  func stop(_ signal: Int32) {
    guard let child else { return }
    child.kill(signal)
    child.kill(SIGCONT)
    let deadline = Clock.monotonic + Self.grace
    while !child.hasEnded, Clock.monotonic < deadline { usleep(10_000) }
    usleep(UInt32(Self.linger * 1_000_000))
    child.kill(SIGKILL)
    self.child = nil
  }

  private func start(_ item: Item, _ now: Double) {
    diagnostics.note("\(item.name): spoken")
    rest = item.bytes[...]
    (left, lastLook, isStopped, isEnding) = (timeout, now, false, false)
    do throws(Failure) {
      let child = try ChildProcess(
        ["sh", "-c", command], input: .pipe, output: .ours, error: .ours, leadsGroup: true)
      self.child = child
      go(on: child, now, false)
    } catch {
      fail(error.message)
    }
  }

  private func go(on child: ChildProcess, _ now: Double, _ isRecording: Bool) {
    child.feed(&rest)
    let hasEnded = child.hasEnded
    if hasEnded, !isEnding {
      self.child = nil
      child.reap()
      if child.exitStatus != 0 {
        fail(child.endSignal.map { "ended by signal \($0)" } ?? "status \(child.exitStatus ?? 0)")
      }
      return
    }
    if !isStopped || hasEnded { left -= now - lastLook }
    lastLook = now
    if isRecording != isStopped {
      isStopped = isRecording
      child.kill(isStopped ? SIGSTOP : SIGCONT)
    }
    if hasEnded { left = min(left, Self.linger) }
    guard left < 0 else { return }
    if hasEnded {
      // Its id is that of the group until it is reaped.
      child.kill(SIGKILL)
      _ = child.waitForEnd()
      self.child = nil
      return
    }
    if !isEnding { fail("took longer than \(Int(timeout.rounded(.up))) s; see --timeout") }
    child.kill(isEnding ? SIGKILL : SIGTERM)
    (isEnding, left) = (true, Self.grace)
  }

  private func fail(_ reason: String) {
    hasFailed = true
    diagnostics.error("--exec", reason)
  }
}

/// Tells whether a clip is being recorded (`RecordingMark`).
final class RecordingWatch {
  /// Readable when that may have changed; -1 where the system cannot say.
  private(set) var descriptor: Int32 = -1
  private let mark: RecordingMark
  private(set) var isRecording = false
  private var next = 0.0

  /// Seconds between two looks when nothing hints at a change: while a clip is recorded, whose
  /// end is not always hinted at, and else.
  private static let (shortLook, longLook) = (0.1, 30.0)

  init() throws(Failure) {
    let folders = Folders()
    mark = RecordingMark(folders)
    _ = try folders.stateFile(RecordingMark.name)
    watchFolder()
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The folder may have been removed and made again, even with the same number.
  private func watchFolder() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = clibc_folder_watch(mark.folder)
  }

  /// Has the next `look` look, whether there was a hint or not.
  func hurry() { next = 0 }

  /// Looks, when it is time to or something changed.
  func look(now: Double) -> Double {
    guard descriptor >= 0 && isReadable(descriptor) || now >= next else { return next }
    watchFolder()
    // Behind it, so that nothing is missed.
    isRecording = mark.isSet
    next = now + (isRecording || descriptor < 0 ? Self.shortLook : Self.longLook)
    return next
  }
}
