import CLibc
import Core
import Web

final class Narrator {
  let speaker: Speaker?
  private let watch: RecordingWatch?
  private let client: WebClient?
  private let diagnostics: Diagnostics

  init(
    _ options: NarrateOptions, newestWins: Bool, client: WebClient? = nil,
    _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.client, self.diagnostics) = (client, diagnostics)
    guard let command = options.command else {
      (speaker, watch) = (nil, nil)
      return
    }
    EndSignals.watch()
    speaker = Speaker(
      command, timeout: options.timeout, newestWins: newestWins && !options.isAll, diagnostics)
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
