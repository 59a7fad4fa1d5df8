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

final class RecordSource {
  private let name: String
  private let isFile: Bool
  private var input: RecordInput
  private var joiner = RecordJoiner()
  var faults: FaultLog
  var clock: RecordClock

  init(_ file: String, speed: Double, _ faults: FaultLog) throws(Failure) {
    self.faults = faults
    clock = RecordClock(speed: speed)
    name = file == "-" ? "standard input" : file
    input = try RecordInput(path: file, .lines)
    isFile = input.isFile
  }

  /// Reads to the end, or until no more is to be waited for or received.
  func read(wait: (Int32) -> Bool, receive: (VoiceRecord, Timestamp?) -> Bool) throws {
    var goesOn = true
    func take(_ bytes: UnsafeRawBufferPointer, _ number: Int) {
      if goesOn { goesOn = self.receive(bytes, number, receive) }
    }
    while goesOn,
      let line = try input.next(beforeBlocking: { if !wait($0) { throw Enough() } })
    {
      joiner.add(line.bytes, take)
    }
    joiner.finish(take)
  }

  private func receive(
    _ bytes: UnsafeRawBufferPointer, _ line: Int, _ receive: (VoiceRecord, Timestamp?) -> Bool
  ) -> Bool {
    guard bytes.contains(where: { $0 > 32 }) else { return true }
    var goesOn = true
    do throws(ScanFault) {
      try VoiceRecord.read(bytes) { record, received in
        if goesOn { goesOn = receive(record, received) }
      }
    } catch {
      let torn = TornLine(bytes)
      for record in torn?.records ?? [] where goesOn {
        goesOn = self.receive(record, line, receive)
      }
      if let reason = torn == nil ? error.reason : torn?.fault?.reason {
        faults.line(name, line, reason)
      }
    }
    return goesOn
  }

  func apply(_ record: VoiceRecord, _ received: Timestamp?, to feed: inout VoiceFeed) {
    let at = Clock.monotonic
    switch record {
    case .state(let state):
      feed.receive(state, at: received)
      setClock(received, feed: &feed, at)
    case .session(let session):
      feed.receive(session, at: received)
      setClock(received, feed: &feed, at)
    case .news(let news):
      feed.receive(news)
      if let time = received ?? news.at { clock.set(time, at: at) }
    case .link, .other: break
    }
  }

  private func setClock(_ received: Timestamp?, feed: inout VoiceFeed, _ at: Double) {
    if let received { return clock.set(received, at: at) }
    let sessions = feed.sessions()
    if let time = ServerClock.time(of: sessions) { return clock.set(time, at: at) }
    // What a pipe brings is from now; a file may be from any time.
    if isFile, let time = ServerClock.latest(in: sessions) { clock.set(time, at: at) }
  }
}

/// What time it is for records: the time that they tell, going on from when
/// they came.
struct RecordClock {
  private var anchor: (time: Timestamp, at: Double)?
  private let speed: Double
  private var stopped: Timestamp?

  init(speed: Double) { self.speed = speed }

  /// A record came that tells the time.
  mutating func set(_ time: Timestamp, at clock: Double) {
    anchor = (time, clock)
    stopped = nil
  }

  var told: Timestamp? { anchor?.time }

  /// Nothing more comes: the time stays where the last record left it.
  mutating func stop() { stopped = anchor?.time }

  func now(at clock: Double) -> Timestamp? {
    if let stopped { return stopped }
    guard let anchor else { return nil }
    let passed = min(max((clock - anchor.at) * speed, 0), 1e9)
    return anchor.time.adding(.milliseconds(Int64(passed * 1000)))
  }
}

/// When a state was taken, by the server's own clock: instants that came
/// together with their age.
enum ServerClock {
  /// The latest that the sessions tell, nil when none of them does.
  static func time(of sessions: [VoiceSession]) -> Timestamp? { sessions.flatMap(exact).max() }

  static func latest(in sessions: [VoiceSession]) -> Timestamp? {
    sessions.flatMap { session in
      [session.startedAt, session.lastActivityAt, session.recentTurns.last?.at].compactMap { $0 }
    }.max()
  }

  private static func exact(_ session: VoiceSession) -> [Timestamp] {
    let wake = session.conversation?.wake
    let pairs: [(Timestamp?, Double?)] =
      session.membershipEvents.map { ($0.at, $0.ageMs) }
      + session.activeCaptures.map { ($0.startedAt, $0.ageMs) } + [
        (session.conversation?.lastAssistantReplyAt, wake?.msSinceAssistantReply),
        (session.conversation?.lastDirectAddressAt, wake?.msSinceDirectAddress),
      ]
    return pairs.compactMap { at, age in
      // Nobody spoke a century ago.
      guard let at, let age, age >= 0, age < 3.2e12 else { return nil }
      return at.adding(.milliseconds(Int64(age)))
    }
  }
}
