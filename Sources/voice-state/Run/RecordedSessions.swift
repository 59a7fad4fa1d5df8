import Agent
import CLibc
import Core
import Records
import Screen

/// The sessions of records: a file's, or those of standard input.
extension Run {
  func show(_ file: String) throws -> ExitStatus {
    let source = open(file, FaultLog(diagnostics))
    var feed = VoiceFeed(options.filter)
    do {
      try source.read(
        wait: { _ in true },
        receive: { record, received in
          source.apply(record, received, to: &feed)
          return true
        })
    } catch let failure as Failure {
      source.faults.finish()
      diagnostics.error(file, failure.reason)
      return .failure
    }
    source.faults.finish()
    source.clock.stop()
    let status = try show(&feed, at: source.clock.now(at: 0) ?? .now())
    return source.faults.hasFault && status == .success ? .failure : status
  }

  func watch(_ file: String) throws -> ExitStatus {
    guard file == "-" || access(file, R_OK) == 0 else {
      diagnostics.fail("\(file): \(systemReason(systemError))")
    }
    if file == "-" && isatty(0) == 1 && isatty(1) == 1 {
      diagnostics.fail("standard input: is the terminal; records come from a pipe or a file")
    }
    let watch = try Watch(options, diagnostics, readsInput: file == "-")
    let source = open(file, FaultLog(say: watch.tell))
    watch.link.phase = .open
    // A line stands for what a record told; a screen and a bar go on with the time.
    let isTold = watch.lines?.form == .line || watch.lines?.form == .text
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
          if let due = pace.due(time, at: Clock.monotonic) { _ = watch.wait(for: nil, until: due) }
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
    source.faults.finish()
    // A person may want to look at the last of it.
    if watch.screen != nil { while watch.wait(for: nil) {} }
    watch.look(force: false)
    let status = watch.leave()
    return source.faults.hasFault && status == .success ? .failure : status
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
    source.apply(record, received, to: &watch.feed)
    switch record {
    case .state, .session: watch.changed(isState: true)
    case .news: watch.changed(isState: false)
    case .link("open", _, _), .link("resumed", _, _):
      watch.link.phase = .open
      watch.changed(isState: false)
    case .link("lost", let reason, let wait):
      watch.lost(reason ?? "lost", wait: wait)
    case .link, .other: return
    }
    if watch.screen == nil { watch.look() }
    watch.handleSignals()
  }

  private func open(_ file: String, _ faults: FaultLog) -> RecordSource {
    do throws(Failure) {
      return try RecordSource(file, speed: options.speed ?? 1, faults)
    } catch {
      diagnostics.fail("\(file): \(error.reason)")
    }
  }
}
