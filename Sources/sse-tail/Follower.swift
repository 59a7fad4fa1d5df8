import CLibc
import Core
import Web

/// The loop of sse-tail: drives the stream, prints what it tells, keeps the
/// resume point, and ends for the right reason.
final class Follower: StreamHandler {
  private let options: TailOptions
  private let target: Target
  private let client: WebClient
  private let writer: RecordWriter
  private let diagnostics: Diagnostics
  private let notes: LinkNotes
  private let selector: EventSelector
  private var records: EventRecord
  private var resume: ResumePoint?
  private var stream: EventStream?
  private var activity: ActivityFollower?

  private var printed = 0
  private var lastID: String?
  private var hadFault = false
  /// A signal cut a write short: the state must not run ahead of the output.
  private var lostOutput = false
  private var end: Ending?

  private enum Ending {
    case status(ExitStatus, reason: String)
    case signal(Int32)
    case writing(WriteFailure)
  }

  /// - Parameters:
  ///   - options: the command line.
  ///   - target: what is followed.
  ///   - request: the stream's request.
  ///   - client: drives all transfers.
  ///   - resume: the state file, nil without one.
  ///   - diagnostics: for words.
  init(
    _ options: TailOptions, target: Target, request: Request, client: WebClient,
    resume: ResumePoint?, diagnostics: Diagnostics
  ) {
    self.options = options
    self.target = target
    self.client = client
    self.resume = resume
    self.diagnostics = diagnostics
    writer = RecordWriter(interrupted: { Signals.hasPending })
    let speaks = options.verbose || (isatty(2) == 1 && !options.quiet)
    notes = LinkNotes(
      diagnostics: diagnostics, speaks: speaks, recordsWanted: options.lifecycle)
    selector = EventSelector(options.events)
    records = EventRecord(
      dataOnly: options.dataOnly, receivedAt: options.receivedAt, isTerminal: isatty(1) == 1)
    if target.stream == .activity { followActivity(request) }
    stream = EventStream(client, request, policy: policy, handler: self)
  }

  /// Follows until the end.
  ///
  /// - Returns: how to leave; a signal or a closed pipe ends the process itself.
  func run() -> ExitStatus {
    let deadline = options.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    if options.count == 0 { end = .status(.success, reason: "count") }
    while end == nil {
      client.perform()
      let now = Clock.monotonic
      var next = min(deadline, stream?.tick(now: now) ?? .infinity)
      next = min(next, activity?.tick(now: now) ?? .infinity)
      flush()
      if end != nil { break }
      if now >= deadline { timeIsUp() }
      next = min(next, saveState(now: now))
      if end != nil { break }
      client.wait(
        seconds: next - Clock.monotonic, reading: [Signals.descriptor], closing: [1])
      if let signal = Signals.next() { end = .signal(signal) }
      if Output.isClosed { end = .writing(WriteFailure(code: EPIPE)) }
    }
    return leave()
  }

  private var policy: StreamPolicy {
    var policy = StreamPolicy()
    if let wait = options.retryWait {
      policy.retryWait = wait
      policy.retryCap = max(60, wait)
    }
    policy.maxRetries = options.maxRetries
    policy.idleTimeout = options.idleTimeout ?? (target.stream == nil ? nil : 45)
    if policy.idleTimeout == 0 { policy.idleTimeout = nil }
    policy.keepsComments = options.comments
    policy.maxEventBytes = options.maxEventBytes
    policy.flushPartial = options.flushPartial
    let id = options.lastEventID ?? resume?.state.lastEventID ?? ""
    policy.lastEventID = Array(id.utf8)
    return policy
  }

  private func followActivity(_ request: Request) {
    guard let base = target.base, let address = try? base.appending("api/actions?limit=1000")
    else { return }
    var rows = request
    rows.address = address
    rows.method = "GET"
    rows.body = nil
    rows.headers = [Header("Accept", "application/json")]
    let follower = ActivityFollower(client, rows: rows, resumingAt: resume?.state.newest)
    follower.onBackfill = { [unowned self] in printBackfill($0) }
    follower.onGap = { [unowned self] gap in lifecycle(notes.gap(gap)) }
    follower.onDrop = { [unowned self] in stream?.drop($0) }
    follower.onRelease = { [unowned self] events in
      for event in events { event.withView(print) }
      stream?.release(now: Clock.monotonic)
    }
    activity = follower
  }

  // MARK: - What the stream tells

  func streamOpened(_ address: WebAddress, down: Double?) {
    lifecycle(notes.opened(address, down: down))
  }

  func streamItem(_ item: StreamItem) {
    guard end == nil else { return }
    switch item {
    case .event(let event):
      if case .held = activity?.take(event) {
        stream?.hold()
        return
      }
      print(event)
    case .comment(let text):
      var line = ByteBuffer()
      for byte in "{\"type\":\"comment\",\"text\":".utf8 { line.append(byte) }
      JSONQuote.append(text, to: &line)
      write(String(decoding: line.bytes, as: UTF8.self) + "}\n")
    case .oversize(let bytes):
      hadFault = true
      diagnostics.say("event of \(bytes) bytes or more dropped: over --max-event-bytes")
    case .retry: break
    }
  }

  func streamLost(_ reason: String, wait: Double) {
    activity?.connectionLost()
    lifecycle(notes.lost(reason, wait: wait))
  }

  func streamEnded(_ outcome: StreamEnd, at address: WebAddress) {
    if end != nil { return }
    let place = address.display
    switch outcome {
    case .noContent: end = .status(.success, reason: "204 no content")
    case .denied(let reason):
      diagnostics.error(place, "\(reason): the token is missing or was refused")
      end = .status(.denied, reason: reason)
    case .failed(let reason):
      let isHidden = target.stream != nil && reason.hasPrefix("404")
      let hint = isHidden ? " (through a tunnel a wrong token looks like this)" : ""
      diagnostics.error(place, reason + hint)
      end = .status(.failure, reason: reason)
    case .gaveUp(let reason):
      diagnostics.error(place, "gave up after \(options.maxRetries ?? 0) retries: \(reason)")
      end = .status(.temporary, reason: reason)
    }
  }

  // MARK: - Output

  private func print(_ event: StreamEventView) {
    guard end == nil else { return }
    lastID = String(decoding: event.id, as: UTF8.self)
    guard selector.matches(event.type) else { return }
    do throws(WriteFailure) {
      try records.write(event, time: Timestamp.now, to: writer)
    } catch {
      fail(error)
    }
    count()
  }

  private func printBackfill(_ rows: [[UInt8]]) {
    var data = Array("{\"actions\":[".utf8)
    for (index, row) in rows.enumerated() {
      if index > 0 { data.append(44) }
      data += row.map { $0 == 10 || $0 == 13 ? 32 : $0 }
    }
    data += Array("]}".utf8)
    let event = ActivityFollower.HeldEvent(
      type: Array("actions_backfill".utf8), id: [], data: data, isPartial: false)
    event.withView(print)
  }

  private func lifecycle(_ record: String) {
    if notes.recordsWanted { write(record) }
  }

  private func write(_ text: String) {
    do throws(WriteFailure) { try writer.write(text) } catch { fail(error) }
  }

  private func count() {
    printed += 1
    if end == nil, let most = options.count, printed >= most {
      end = .status(.success, reason: "count")
    }
  }

  private func flush() {
    do throws(WriteFailure) { try writer.flush() } catch { fail(error) }
  }

  private func fail(_ failure: WriteFailure) {
    if failure.code == EINTR, let signal = Signals.next() {
      lostOutput = true
      end = .signal(signal)
    } else {
      end = .writing(failure)
    }
  }

  // MARK: - The end

  /// Time that ends while the stream is up was used well; while it is down it was not enough.
  private func timeIsUp() {
    if stream?.isOpen == true {
      end = .status(.success, reason: "time is up")
    } else {
      diagnostics.error(target.address.display, "time is up and the stream is not open")
      end = .status(.temporary, reason: "time is up")
    }
  }

  /// - Returns: when the state is to be saved again.
  private func saveState(now: Double, force: Bool = false) -> Double {
    guard resume != nil else { return .infinity }
    // After -n the parser is ahead of what was printed.
    let id = options.count == nil ? stream?.lastEventID.text : (lastID ?? stream?.lastEventID.text)
    do throws(SettingsError) {
      return try resume!.save(
        lastEventID: id ?? "", newest: activity?.newest, now: now, force: force)
    } catch {
      diagnostics.say(error.message)
      resume = nil
      end = .status(.failure, reason: "state")
      return .infinity
    }
  }

  private func leave() -> ExitStatus {
    let reason =
      switch end {
      case .status(_, let reason): reason
      case .signal(let number): "signal \(number)"
      case .writing, nil: ""
      }
    if case .writing(let failure) = end { diagnostics.fail(writing: failure) }
    let outcome = end
    end = nil
    if !reason.isEmpty { lifecycle(notes.ended(reason)) }
    // A signal does not wait for a slow reader.
    var waits = true
    if case .signal = outcome { waits = !lostOutput && Output.isWritable }
    if waits { flush() }
    if case .writing(let failure) = end { diagnostics.fail(writing: failure) }
    if !lostOutput { _ = saveState(now: Clock.monotonic, force: true) }
    if case .signal(let number) = outcome { Process.die(by: number) }
    guard case .status(let status, _) = outcome else { return .failure }
    return status == .success && (hadFault || end != nil) ? .failure : status
  }
}

extension [UInt8] {
  /// The bytes as text, ill-formed UTF-8 repaired.
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
