import Bus
import CLibc
import Core
import Records

/// The loop of bus-get: asks for as many records as it can hold, writes them, and acknowledges
/// what was written whole.
final class GetLoop {
  enum End {
    case done
    case signal(Int32)
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
  var looks = 0
  /// How often it had nothing left in a row, where a copy of the stream may be behind.
  var emptyLooks = 0
  var unacknowledged = 0
  /// Acknowledgements that no connection took.
  var unsent: [(subject: String, text: String)] = []
  var cameAt = Clock.monotonic
  var returned: Set<Int> = []
  var highest = 0
  private var keptAt = Clock.monotonic
  private var owedSince: Double?
  private var saveAt = Double.infinity
  var lastWanted: Int?
  /// Until when nothing is asked for, for the server refused it.
  var restUntil = 0.0
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
    _ options: GetOptions, _ door: BusAuth, _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.options, self.diagnostics) = (options, diagnostics)
    stream = BusStream(options.bus, door, pulling: true, diagnostics: diagnostics)
    archive = try options.archive.map { path throws(Failure) in
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
    stream.connection?.flush()
    look(now: now)
  }

  private func changed(_ change: BusStream.Change, now: Double) {
    pull.forget()
    consumer.lose()
    guard case .ready = change, !consumer.isOwn else { return }
    for (subject, text) in unsent { stream.connection?.tell(subject, text) }
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
    for record in inHand { stream.connection?.tell(record.message.reply, "+WPI") }
  }

  var inHand: [GetRecord] { unjudged + output.records + hand + (job.map { [$0.record] } ?? []) }

  private func ask(now: Double) throws(Failure) {
    guard let name = consumer.name, now >= restUntil else { return }
    if pull.isSilent(now: now) {
      pull.forget()
      // One of our own goes with the server that has it.
      if consumer.isOwn { return consumer.renew(now: now, "no answer") }
    }
    pull.limits = consumer.limits
    if let most = pull.tooFew {
      throw Failure(
        "consumer \(name)", "the next record is larger than its max_bytes of \(most)")
    }
    let held = inHand
    let bytes = held.reduce(0) { $0 + $1.message.count }
    guard let (token, count) = pull.ask(held: (held.count, bytes), now: now) else { return }
    stream.connection?.pull(
      .next(
        stream.name, name, count: count,
        bytes: pull.bytes(maxPayload: stream.connection?.maxPayload ?? 1 << 20),
        expires: pull.expires, heartbeat: pull.heartbeat), token: token)
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
    stream.connection?.ask(.consumerInfo(stream.name, name), answerTo: "e")
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

/// What an archive asks of bus-get: a file for each day, and the place saved before anything is
/// written behind it or anybody is told of a file.
extension GetLoop {
  func begin(now: Double) throws {
    guard let archive else {
      _ = try state?.save(now: now, force: true)
      return
    }
    try archive.begin()
    try state?.beginFile(now: now)
    try tellFinished(archive)
  }

  /// Tells the names of the files that are written to no more; what is told of may be compressed.
  private func tellFinished(_ archive: DayFolder) throws(WriteFailure) {
    let writer = RecordWriter()
    for name in archive.takeFinished() { try writer.write(name + "\n") }
    try writer.flush()
  }

  func turnDay(_ archive: DayFolder, now: Double) throws {
    let time = Timestamp.now()
    // A file takes all at once: no line is begun.
    guard archive.isOver(time) else { return }
    _ = try state?.save(now: now, force: true)
    do throws(WriteFailure) { try archive.turn(time) } catch { throw archive.failure(error) }
    try state?.beginFile(now: now)
    try tellFinished(archive)
  }

  func write() throws {
    do throws(WriteFailure) {
      for (record, bytes) in try output.write() { wrote(record, bytes: bytes) }
    } catch {
      if let archive { throw archive.failure(error) }
      throw error
    }
  }
}

extension GetLoop {
  /// How long nothing is asked for where the server refused it, seconds.
  private static let refusalRest = 0.5

  func answers(now: Double) throws(Failure) {
    while let arrival = stream.connection?.answer() {
      guard case .message(let message) = arrival else { continue }
      if message.token == "e" {
        let answer = BusAnswer(message)
        if answer.pending == 0 {
          emptyLooks += 1
          if !stream.hasCopies || emptyLooks >= Self.mostLooks { isAtEnd = true }
        }
        if isAtEnd { looks += 1 }
        unacknowledged = max(0, (answer.unacknowledged ?? 0) - inHand.count)
        continue
      }
      if !consumer.isOwn, highest > 0 { consumer.goesOnAt = firstUnsettled }
      let (wasThere, isFirst) = (consumer.name != nil, consumer.pendingAtStart == nil)
      try consumer.receive(message, now: now)
      guard !wasThere, consumer.name != nil else { continue }
      cameAt = now
      state?.origin = consumer.origin
      if isFirst {
        state?.begin(behind: consumer.last)
        if consumer.isOwn, options.endsThere { lastWanted = stream.lastSequence }
      }
      if options.endsThere, consumer.pendingAtStart == 0, isLast(consumer.deliveredAtStart) {
        isAtEnd = true
      }
    }
  }

  func arrivals(now: Double) {
    while let arrival = stream.connection?.pulled() {
      guard case .message(let message) = arrival else {
        pull.forget()
        consumer.renew(now: now, "nobody answers for it")
        return
      }
      if let place = BusPlace(message.reply) {
        pull.came(now: now, bytes: message.count)
        guard consumer.takes(place, now: now) else {
          pull.wantsOneMore()
          if consumer.name == nil { pull.forget() }
          continue
        }
        cameAt = now
        if givesAgain(message, place) { continue }
        // What comes again may do so for ever: its acknowledgement does not arrive.
        if place.deliveries == 1 || place.sequence > highest { stream.served() }
        highest = max(highest, place.sequence)
        if let lastWanted, place.sequence >= lastWanted {
          isAtEnd = true
          // What came since is for another run.
          if place.sequence > lastWanted {
            pull.wantsOneMore()
            continue
          }
        }
        if options.endsThere, place.pending == 0, isLast(place.sequence) { isAtEnd = true }
        emptyLooks = 0
        hand.append(GetRecord(message: message, place: place))
        continue
      }
      switch message.serverStatus {
      case 100:
        pull.heard(now: now)
        stream.served()
      case 408, 404:
        pull.end(Int(message.token) ?? 0, now: now)
        stream.served()
      default:
        let words = message.header("Description") ?? ""
        let isTooLarge = words.lowercased().holds("message size")
        pull.end(Int(message.token) ?? 0, now: now, isCut: isTooLarge)
        // Not at once again, what is refused; but what was too large is asked for otherwise.
        if isTooLarge { continue }
        rest(now: now, words)
        // A limit that was passed ends this request alone; anything else all of them, for the
        // consumer or its leader has gone.
        if !words.lowercased().holds("exceeded max") {
          pull.forget()
          consumer.renew(now: now, words)
        }
      }
    }
  }

  /// The first record that is in hand or was given back; else the one behind all that came.
  private var firstUnsettled: Int {
    (inHand.map(\.place.sequence) + returned).min() ?? highest + 1
  }

  /// Whether a record came anew that is in hand: one that a consumer gave that has gone. It is
  /// settled with the new one.
  private func givesAgain(_ message: BusMessage, _ place: BusPlace) -> Bool {
    guard !consumer.isOwn, place.sequence <= highest, place.deliveries == 1 else { return false }
    let record = GetRecord(message: message, place: place)
    guard exchange(record) else { return false }
    pull.wantsOneMore()
    return true
  }

  private func exchange(_ record: GetRecord) -> Bool {
    func swap(_ list: inout [GetRecord]) -> Bool {
      guard let index = list.firstIndex(where: { $0.place.sequence == record.place.sequence })
      else { return false }
      list[index] = record
      return true
    }
    if swap(&hand) || swap(&unjudged) || output.exchange(record) { return true }
    guard job?.record.place.sequence == record.place.sequence else { return false }
    job?.record = record
    return true
  }

  /// Whether nothing comes behind this record where the consumer has nothing left.
  private func isLast(_ sequence: Int) -> Bool {
    !stream.hasCopies || sequence >= stream.lastSequence ?? 0
  }

  private func rest(now: Double, _ words: String) {
    if restUntil == 0 { diagnostics.note("consumer: \(words)") }
    restUntil = now + Self.refusalRest
  }
}

extension GetLoop {
  private static let mostReturned = 100_000

  func work() throws(Failure) {
    job?.feed()
    if let job, let verdict = job.verdict {
      self.job = nil
      if case .never = verdict {} else { printed += 1 }
      settle(job.record, verdict, "the command ended with")
    }
    guard job == nil, !hand.isEmpty, let command = options.command else { return }
    let record = hand.removeFirst()
    if let fault = record.fault {
      name(record, fault)
      acknowledge(record, "+TERM")
    } else {
      job = try GetJob(command, record, isWrapped: options.isWrapped)
      job?.feed()
    }
  }

  /// Takes what standard input says of the records that were printed; its end ends all.
  func judge() {
    if case .misled = end { return }
    do throws(Failure) {
      while let verdict = try verdicts.next() {
        guard !unjudged.isEmpty else { return mislead("a status, but no record is left") }
        settle(unjudged.removeFirst(), verdict, "refused with")
      }
    } catch {
      return mislead(error.reason)
    }
    if verdicts.hasEnded { end = end ?? .done }
  }

  private func mislead(_ reason: String) {
    diagnostics.error("standard input", reason)
    end = .misled
  }

  private func settle(_ record: GetRecord, _ verdict: GetVerdict, _ words: String) {
    switch verdict {
    case .done: acknowledge(record, "+ACK")
    case .later: acknowledge(record, "-NAK {\"delay\": \(Int(consumer.ackWait * 1e9))}")
    case .never(let status):
      let place = record.place
      faults.event("\(place.stream) seq \(place.sequence)", "\(words) status \(status)")
      acknowledge(record, "+TERM")
    }
  }

  func wrote(_ record: GetRecord, bytes: Int) {
    state?.wrote(record.place, bytes: bytes, hasCopies: stream.hasCopies)
    if bytes > 0 { printed += 1 }
    if bytes > 0, options.confirms {
      unjudged.append(record)
    } else {
      acknowledge(record, bytes > 0 ? "+ACK" : "+TERM")
    }
  }

  func name(_ record: GetRecord, _ fault: String) {
    let place = record.place
    faults.event(
      "\(place.stream) seq \(place.sequence) on \(record.message.subject)", "not a record: \(fault)"
    )
    pull.wantsOneMore()
  }

  func acknowledge(_ record: GetRecord, _ text: String) {
    guard !consumer.isOwn else { return }
    if text.hasPrefix("-NAK") {
      if returned.count < Self.mostReturned { returned.insert(record.place.sequence) }
    } else {
      returned.remove(record.place.sequence)
    }
    if stream.connection?.tell(record.message.reply, text) != true {
      unsent.append((record.message.reply, text))
    }
  }
}

/// How bus-get leaves: nothing is asked for any more, a started line is ended, what is in hand is
/// given back, and the server says that it knows.
///
/// In another order what is given back would come to our own requests, and be gone for as long as
/// nobody acknowledges it.
extension GetLoop {
  /// How long a reader has for the rest of a line, seconds.
  private static let graceForLine = 1.0
  /// How long an answer may take, seconds.
  private static let graceForAnswer = 2.0

  func leave() throws {
    var failure: WriteFailure?
    if case .writing(let reason) = end { failure = reason }
    stream.connection?.stopPulls()
    if !consumer.isOwn {
      // What was under way comes before the answer.
      roundTrip("x", isLast: false)
      arrivals(now: Clock.monotonic)
    }
    if failure == nil { failure = finishLine() }
    if options.confirms { judge() }
    job?.end()
    if !consumer.isOwn {
      for record in inHand { stream.connection?.tell(record.message.reply, "-NAK") }
    }
    roundTrip("y", isLast: true)
    _ = try state?.save(now: Clock.monotonic, force: true)
    if let failure { throw failure }
    if case .signal(let number) = end { Process.die(by: number) }
  }

  private func finishLine() -> WriteFailure? {
    let deadline = Clock.monotonic + Self.graceForLine
    do throws(WriteFailure) {
      while output.isInsideLine {
        for (record, bytes) in try output.writeLine() { wrote(record, bytes: bytes) }
        let left = deadline - Clock.monotonic
        guard output.isInsideLine, left > 0 else { break }
        var entry = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, Int32(left * 1000))
      }
      return nil
    } catch {
      return error
    }
  }

  /// Asks something whose answer says that all before it arrived.
  private func roundTrip(_ token: String, isLast: Bool) {
    guard let connection = stream.connection, let name = consumer.name else { return }
    connection.ask(
      isLast && consumer.isOwn
        ? .deleteConsumer(stream.name, name) : .consumerInfo(stream.name, name), answerTo: token)
    let deadline = Clock.monotonic + Self.graceForAnswer
    while Clock.monotonic < deadline {
      do throws(Failure) {
        if try stream.link.turn(now: Clock.monotonic, owed: nil) != nil { return }
      } catch {
        return
      }
      while let arrival = stream.connection?.answer() {
        guard case .message(let message) = arrival else { return }
        if message.token == token { return }
      }
      var none: [pollfd] = []
      stream.link.wait(for: &none, until: deadline)
    }
  }
}
