import Agent
import CLibc
import Core
import Records
import Screen

struct RecordedSessions {
  let options: StateOptions
  let diagnostics: Diagnostics
  let file: String

  func once() throws -> ExitStatus {
    var faults = FaultLog(diagnostics)
    let source = open { faults.line($0, $1, $2) }
    var feed = VoiceFeed(options.filter)
    do {
      try source.read(
        wait: { _ in true },
        receive: { record, received in
          _ = source.apply(record, received, to: &feed)
          return true
        })
    } catch let failure as Failure {
      faults.finish()
      diagnostics.error(file, failure.reason)
      return .failure
    }
    faults.finish()
    source.clock.stop()
    let now = source.clock.now(at: 0) ?? .now()
    let status = try Once(options, diagnostics).show(&feed, at: now)
    return source.hasFaults && status == .success ? .failure : status
  }

  func watch() throws -> ExitStatus {
    guard file == "-" || access(file, R_OK) == 0 else {
      diagnostics.fail("\(file): \(systemReason(systemError))")
    }
    if file == "-" && isatty(0) == 1 && isatty(1) == 1 {
      diagnostics.fail("standard input: is the terminal; records come from a pipe or a file")
    }
    let watch = try Watch.make(options, diagnostics, readsInput: file == "-")
    var faults = FaultLog(say: watch.tell)
    let source = open { faults.line($0, $1, $2) }
    watch.link.phase = .open
    // A line stands for what a record told; a screen and a bar go on with the time.
    let isTold = watch.view is LineView
    watch.time = {
      (isTold ? source.clock.told : source.clock.now(at: Clock.monotonic)) ?? .now()
    }
    var pace = ReplayPace(speed: options.speed ?? 0)
    do {
      try source.read(
        wait: { watch.wait(for: $0) },
        receive: { record, received in
          var time = received
          if time == nil, case .news(let news) = record { time = news.at }
          let due = pace.due(time, at: Clock.monotonic)
          if let due { _ = watch.wait(for: nil, until: due) }
          guard watch.ending == nil else { return false }
          receive(record, received, source, watch)
          return watch.ending == nil
        })
      end(watch, source, "end of the records")
    } catch let failure as Failure {
      end(watch, source, "\(file): \(failure.reason)")
      watch.end(.failure, "\(file): \(failure.reason)")
    } catch is Enough {
      // The watch has ended: no fault of the file.
    }
    faults.finish()
    // A person may want to look at the last of it.
    if watch.screen != nil { while watch.wait(for: nil) {} }
    watch.look(force: false)
    let status = watch.leave()
    return source.hasFaults && status == .success ? .failure : status
  }

  private func end(_ watch: Watch, _ source: RecordSource, _ words: String) {
    source.clock.stop()
    watch.look(force: false)
    watch.link.phase = .ended(words)
    watch.changed(isState: false)
  }

  private func receive(
    _ record: VoiceRecord, _ received: Timestamp?, _ source: RecordSource, _ watch: Watch
  ) {
    switch source.apply(record, received, to: &watch.feed) {
    case .none: return
    case .state: watch.changed(isState: true)
    case .action: watch.changed(isState: false)
    case .link(let type, let reason, let wait):
      let clock = Clock.monotonic
      switch type {
      case "open", "resumed": watch.link.phase = .open
      case "lost":
        var since = clock
        if case .down(_, let first, _) = watch.link.phase { since = first }
        watch.link.phase = .down(
          reason: Visible.line(reason ?? "lost"), since: since, retryAt: wait.map { clock + $0 })
        watch.feed.linkLost()
      default: return
      }
      watch.changed(isState: false)
    }
    if watch.screen == nil { watch.look() }
    watch.handleSignals()
  }

  private func open(
    onFault: @escaping (_ file: String, _ line: Int, _ reason: String) -> Void
  ) -> RecordSource {
    do throws(Failure) {
      return try RecordSource(file, speed: options.speed ?? 1, onFault: onFault)
    } catch {
      diagnostics.fail("\(file): \(error.reason)")
    }
  }
}
