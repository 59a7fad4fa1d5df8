import Agent
import CLibc
import Core
import Web

/// The loop of sse-tail: drives the stream, prints what it tells, keeps the
/// resume point, and ends for the right reason.
final class Follower: StreamHandler {
  private let options: TailOptions
  private let target: Target
  private let client: WebClient
  private let output: TailOutput
  private let diagnostics: Diagnostics
  private let notes: LinkNotes
  private var resume: ResumePoint?
  private var stream: EventStream?
  private var activity: ActivityFollower?

  private var printed = 0
  /// The id of the last event printed, or passed over; before it, the start's.
  private var printedID: [UInt8]
  private var hadFault = false
  /// A signal cut a write short: the state must not run ahead of the output.
  private var lostOutput = false
  private var end: Ending?

  private enum Ending {
    case status(ExitStatus, reason: String)
    case signal(Int32)
    case writing(WriteFailure, String?)
  }

  /// - Parameters:
  ///   - options: the command line.
  ///   - target: what is followed.
  ///   - request: the stream's request.
  ///   - backend: whose token it carries, for words.
  ///   - client: drives all transfers.
  ///   - resume: the state file, nil without one.
  ///   - archive: where records go, nil for standard output.
  ///   - diagnostics: for words.
  init(
    _ options: TailOptions, target: Target, request: Request, backend: Backend,
    client: WebClient, resume: ResumePoint?, archive: Archive?, diagnostics: Diagnostics
  ) {
    self.options = options
    self.target = target
    self.client = client
    self.resume = resume
    // What is in the archive is nearer to the truth than what was saved beside it.
    let known = archive?.lastEventID ?? resume?.state.lastEventID ?? ""
    printedID = Array((options.lastEventID ?? known).utf8)
    self.diagnostics = diagnostics
    output = TailOutput(options, archive: archive)
    let speaks = options.verbose || (isatty(2) == 1 && !options.quiet)
    notes = LinkNotes(
      diagnostics: diagnostics, speaks: speaks, recordsWanted: options.lifecycle)
    output.onFailure = { [unowned self] in fail($0, $1) }
    if target.stream == .activity { followActivity(request) }
    stream = EventStream(
      client, request, policy: policy,
      judge: { backend.problem(of: $0, $1, method: request.method) }, handler: self)
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
      output.flush()
      settle(now: now)
      next = min(next, now + output.patience)
      if end != nil { break }
      if now >= deadline { timeIsUp() }
      next = min(next, saveState(now: now))
      if end != nil { break }
      client.wait(
        seconds: next - Clock.monotonic, reading: [EndSignals.descriptor], closing: [1])
      if let signal = EndSignals.next() { end = .signal(signal) }
      if OutputEnd.isClosed { end = .writing(WriteFailure(code: EPIPE), nil) }
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
    policy.lastEventID = printedID
    return policy
  }

  private func followActivity(_ request: Request) {
    guard let base = target.base else { return }
    var rows = request
    rows.method = "GET"
    rows.body = nil
    rows.headers = [Header("Accept", "application/json")]
    let follower = ActivityFollower(
      client, rows, base: base, resumingAt: resume?.state.newest)
    follower.onBackfill = { [unowned self] rows in
      if end == nil { count(output.write(backfill: rows)) }
    }
    follower.onGap = { [unowned self] gap in lifecycle(notes.gap(gap)) }
    follower.onDrop = { [unowned self] in stream?.drop($0) }
    follower.onPrint = { [unowned self] event in
      guard end == nil else { return false }
      event.withView(print)
      return true
    }
    follower.onRelease = { [unowned self] in stream?.release(now: Clock.monotonic) }
    activity = follower
  }

  // MARK: - What the stream tells

  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    lifecycle(notes.opened(place, isFirst: isFirst, down: down))
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
      output.write(comment: text)
    case .oversize(let bytes):
      hadFault = true
      diagnostics.say("event of \(bytes) bytes or more dropped: over --max-event-bytes")
    case .retry: break
    }
  }

  func streamLost(_ reason: String, wait: Double) {
    // What was held was never printed: a server with ids must send it again.
    if activity?.connectionLost() == true { stream?.rewind(to: printedID) }
    lifecycle(notes.lost(reason, wait: wait))
  }

  func streamEnded(_ outcome: StreamEnd, at place: String) {
    if end != nil { return }
    switch outcome {
    case .noContent: end = .status(.success, reason: "204 no content")
    case .failed(let problem):
      diagnostics.error(place, problem.line)
      end = .status(problem.status, reason: problem.line)
    case .gaveUp(let reason):
      diagnostics.error(place, "gave up after \(options.maxRetries ?? 0) retries: \(reason)")
      end = .status(.temporary, reason: reason)
    }
  }

  private func print(_ event: StreamEventView) {
    guard end == nil else { return }
    printedID = Array(event.id)
    count(output.write(event))
  }

  private func lifecycle(_ record: String) {
    if notes.recordsWanted { output.write(record: record) }
  }

  private func count(_ isPrinted: Bool) {
    guard isPrinted else { return }
    printed += 1
    if end == nil, let most = options.count, printed >= most {
      end = .status(.success, reason: "count")
    }
  }

  /// Ends the archive's day; who is told of a file may compress it, and the resume
  /// point in it is then known from the state alone.
  private func settle(now: Double) {
    output.turn()
    guard output.hasFinished, end == nil else { return }
    _ = saveState(now: now, force: true)
    if end == nil { output.tellFinished() }
  }

  private func fail(_ failure: WriteFailure, _ file: String?) {
    if failure.code == EINTR, let signal = EndSignals.next() {
      lostOutput = true
      end = .signal(signal)
    } else {
      end = .writing(failure, file)
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
    // While events are held, and after -n, the parser is ahead of what was printed.
    let isAhead = activity?.isHolding == true || options.count.map { printed >= $0 } == true
    let id = isAhead ? printedID : stream?.lastEventID ?? printedID
    do throws(SettingsError) {
      return try resume!.save(
        lastEventID: id.text, newest: activity?.newest, now: now, force: force,
        sync: output.sync)
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
    failIfUnwritten()
    let outcome = end
    end = nil
    if !reason.isEmpty { lifecycle(notes.ended(reason)) }
    // A signal does not wait for a slow reader.
    var waits = true
    if case .signal = outcome, options.archive == nil {
      waits = !lostOutput && OutputEnd.isWritable
    }
    if waits { output.flush() }
    failIfUnwritten()
    if !lostOutput { _ = saveState(now: Clock.monotonic, force: true) }
    if case .signal(let number) = outcome { Process.die(by: number) }
    guard case .status(let status, _) = outcome else { return .failure }
    return status == .success && (hadFault || end != nil) ? .failure : status
  }

  private func failIfUnwritten() {
    guard case .writing(let failure, let file) = end else { return }
    // A disk that is full is so for a while.
    if let file { diagnostics.fail("\(file): \(failure.reason)", .temporary) }
    diagnostics.fail(writing: failure)
  }
}

extension [UInt8] {
  /// The bytes as text, ill-formed UTF-8 repaired.
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
