import Bus
import CLibc
import Core
import Records

/// The loop of bus-get: asks for as many records as it can hold, writes them, and acknowledges
/// what was written whole.
final class GetLoop {
  /// Why all ends.
  enum End {
    case done
    case signal(Int32)
    /// What stands on standard input is no verdict.
    case misled
    case writing(WriteFailure)
  }

  let options: GetOptions
  let diagnostics: Diagnostics
  let stream: BusStream
  let consumer: GetConsumer
  var pull: BusPull
  /// The records that are not in the output yet, oldest first.
  var hand: [GetRecord] = []
  var output: GetOutput
  var job: GetJob?
  /// What was printed and waits for its verdict, oldest first.
  var unjudged: [GetRecord] = []
  var verdicts = GetVerdicts()
  var state: GetState?
  /// Takes the place of standard output, on which the files that are finished are told.
  let archive: DayFolder?
  var faults: FaultLog
  var printed = 0
  var isAtEnd = false { didSet { if isAtEnd, !oldValue { lookAt = 0 } } }
  /// How often the consumer was asked what is left since then, and how many records others have.
  var looks = 0
  /// How often it had nothing left in a row, where a copy of the stream may be behind.
  var emptyLooks = 0
  var unacknowledged = 0
  /// Acknowledgements that no connection took.
  var unsent: [(subject: String, text: String)] = []
  var cameAt = Clock.monotonic
  /// The numbers of the records that were given back, for others or for later.
  var returned: Set<Int> = []
  /// The highest number of a record that came.
  var highest = 0
  private var keptAt = Clock.monotonic
  /// Since when the server owes an answer; nil for none.
  private var owedSince: Double?
  private var saveAt = Double.infinity
  /// The number of the last record that is wanted; nil where that is not known.
  var lastWanted: Int?
  /// Until when nothing is asked for, for the server refused it.
  var restUntil = 0.0
  /// When the consumer is asked whether there is more.
  private var lookAt = Double.infinity
  var end: End?
  /// How far the output was, and when memory is given back if it gets no farther.
  private var stillness = (written: 0, until: Double.infinity)

  /// How long a reader stands still before that, seconds.
  private static let patience = 0.5
  /// From one look to the next at the end, seconds, and how many there are where others have
  /// records: those that nobody acknowledged in time come meanwhile, and our own answers arrive.
  private static let lookRest = 0.5
  static let mostLooks = 3

  init(
    _ options: GetOptions, _ door: BusDoor, _ diagnostics: Diagnostics
  ) throws(SettingsError) {
    (self.options, self.diagnostics) = (options, diagnostics)
    stream = BusStream(options.bus, door, pulling: true, diagnostics: diagnostics)
    archive = try options.archive.map { path throws(SettingsError) in
      try DayFolder(path, now: .now())
    }
    if let path = options.state ?? archive.map({ DayFolder.state(in: $0.path) }) {
      state = try GetState(path: path, stream: stream.name, archive: archive)
    }
    consumer = GetConsumer(stream, options, state, diagnostics)
    pull = BusPull(batch: options.command == nil ? 128 : 1, wanted: options.count ?? .max)
    output = GetOutput(options, archive)
    faults = FaultLog(diagnostics)
  }

  /// - Returns: how to leave; a signal ends the process itself.
  /// - Throws: `BusFailure`, `SettingsError`, `WriteFailure`, `ChildProcess.Failure`.
  func run() throws -> ExitStatus {
    // The first kill must not find lines that no state tells of.
    try begin(now: Clock.monotonic)
    while end == nil {
      let now = Clock.monotonic
      do {
        try turn(now: now)
      } catch let failure as WriteFailure {
        end = .writing(failure)
      } catch {
        _ = try? state?.save(now: now, force: true)
        throw error
      }
      if end == nil { wait(now: now) }
    }
    try leave()
    if case .misled = end { return .failure }
    faults.finish()
    let isLeft = unacknowledged > 0 && options.confirms
    if isLeft {
      let count = unacknowledged == 1 ? "1 record is" : "\(unacknowledged) records are"
      diagnostics.error(
        "stream \(stream.name)", "\(count) with another reader, or given back until later")
    }
    if faults.hasFault { return .failure }
    if isLeft { return .temporary }
    return printed == 0 && options.count != 0 ? .negative : .success
  }

  private func turn(now: Double) throws {
    if let archive { try turnDay(archive, now: now) }
    // Asking again makes no debt younger.
    let owed = consumer.owed ?? pull.owed
    if let owed {
      owedSince = min(owedSince ?? owed, owed)
    } else if consumer.name != nil {
      owedSince = nil
    }
    if let change = try stream.turn(now: now, owed: owedSince) {
      owedSince = nil
      changed(change, now: now)
    }
    if stream.isReady {
      try answers(now: now)
      consumer.turn(now: now)
      arrivals(now: now)
      keep(now: now)
    }
    if options.confirms { judge() }
    if options.command == nil { fill() } else { try work() }
    try write()
    rest(now: now)
    saveAt = try state?.save(now: now) ?? .infinity
    // What was written made room.
    if stream.isReady { try ask(now: now) }
    stream.link.flush()
    look(now: now)
  }

  private func changed(_ change: BusStream.Change, now: Double) {
    pull.forget()
    consumer.lose()
    guard case .ready = change, !consumer.isOwn else { return }
    for (subject, text) in unsent { stream.link.tell(subject, text) }
    unsent = []
    // What was in hand for too long is given to others now, or to us again.
    guard now > keptAt + consumer.ackWait else { return }
    for _ in output.takeBack() + hand { pull.wantsOneMore() }
    hand = []
    keptAt = now
  }

  /// Keeps what is in hand from being given to others while the reader stands still.
  private func keep(now: Double) {
    guard !consumer.isOwn, now > keptAt + consumer.ackWait / 3 else { return }
    keptAt = now
    for record in inHand { stream.link.tell(record.message.reply, "+WPI") }
  }

  /// All that is in hand.
  var inHand: [GetRecord] { unjudged + output.records + hand + (job.map { [$0.record] } ?? []) }

  private func ask(now: Double) throws(BusFailure) {
    guard let name = consumer.name, now >= restUntil else { return }
    if pull.isSilent(now: now) {
      pull.forget()
      // One of our own goes with the server that has it.
      if consumer.isOwn { return consumer.renew(now: now, "no answer") }
    }
    pull.limits = consumer.limits
    if let most = pull.tooFew {
      throw BusFailure(
        "consumer \(name)", "the next record is larger than its max_bytes of \(most)")
    }
    let held = inHand
    let bytes = held.reduce(0) { $0 + $1.message.count }
    guard let (token, count) = pull.ask(held: (held.count, bytes), now: now) else { return }
    let request = BusRequest.next(
      stream.name, name, count: count, bytes: pull.bytes(maxPayload: stream.link.maxPayload),
      expires: pull.expires, heartbeat: pull.heartbeat)
    stream.link.pull(request.subject, token: String(token), request.body)
  }

  private func fill() {
    guard output.hasRoom, !hand.isEmpty else { return }
    var moved = 0
    while moved < hand.count, output.hasRoom {
      let record = hand[moved]
      moved += 1
      if let fault = record.fault, !options.isRaw {
        name(record, fault)
        output.add(record, isRecord: false, isPrinted: false)
      } else {
        output.add(record, isRecord: record.fault == nil)
      }
    }
    hand.removeFirst(moved)
  }

  /// Gives memory back while the reader stands still: large records leave holes behind them.
  private func rest(now: Double) {
    if output.isEmpty || output.written != stillness.written {
      stillness = (output.written, output.isEmpty ? .infinity : now + Self.patience)
    } else if now >= stillness.until {
      stillness.until = .infinity
      clibc_memory_trim()
    }
  }

  /// Looks whether all is done.
  private func look(now: Double) {
    guard inHand.isEmpty, output.isEmpty else { return }
    let isOver = consumer.isOwn || looks > 0 && (unacknowledged == 0 || looks >= Self.mostLooks)
    if pull.hasAll || isAtEnd && isOver { end = .done }
    if let idle = options.idle, consumer.name != nil, now >= cameAt + idle { end = .done }
    // Others may have taken what is left, or it is gone.
    guard options.endsThere, end == nil, let name = consumer.name else { return }
    if lookAt == .infinity { lookAt = now + 1 }
    guard now >= lookAt else { return }
    lookAt = now + (isAtEnd ? Self.lookRest : 1)
    stream.link.publish(
      BusRequest.consumerInfo(stream.name, name).subject, answerTo: "e", .init(start: nil, count: 0)
    )
    stream.link.flush()
  }

  private func wait(now: Double) {
    var until = min(stream.due(now: now), saveAt, stillness.until)
    if archive != nil { until = min(until, now + DayFolder.patience) }
    if stream.isReady {
      until = min(until, consumer.due, pull.due)
      if inHand.isEmpty, output.isEmpty { until = min(until, lookAt) }
      if !consumer.isOwn { until = min(until, keptAt + consumer.ackWait / 3) }
    }
    if let idle = options.idle, consumer.name != nil, inHand.isEmpty, output.isEmpty {
      until = min(until, cameAt + idle)
    }
    if options.command == nil, output.hasRoom, !hand.isEmpty { until = 0 }
    var entries = [
      pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0),
      // With nothing to write it tells when the reader goes.
      pollfd(
        fd: options.command == nil ? 1 : -1, events: output.isEmpty ? 0 : Int16(POLLOUT), revents: 0
      ),
      job?.entry ?? pollfd(fd: -1, events: 0, revents: 0),
      pollfd(fd: options.confirms ? 0 : -1, events: Int16(POLLIN), revents: 0),
    ]
    stream.link.wait(for: &entries, until: until)
    while let signal = EndSignals.next() {
      if signal != SIGCHLD { end = .signal(signal) }
    }
    if entries[1].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
      end = end ?? .writing(WriteFailure(code: EPIPE))
    }
  }
}
