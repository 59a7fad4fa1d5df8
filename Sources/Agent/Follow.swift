public import CLibc
public import Core
public import Frames
import Records
public import Web

/// A stream that is printed: what was printed last, how much is wanted, and why all ends.
public final class Follow: StreamLoop {
  enum End {
    case counted
    case signal(Int32)
    case writing(WriteFailure, String?)
    case ended(ExitStatus, String)
  }

  /// What is said beside the stream goes here.
  public let diagnostics: Diagnostics
  private let options: FollowOptions
  private let output: EventOutput
  /// Whether a person is told how the link is.
  private let speaks: Bool
  private let stream: FollowedStream
  /// Whose it is, a JSON string; nil where that need not be said.
  private let profile: [UInt8]?
  /// What is read beside the stream, lines to be sent, for one: the file to wait for, nil while
  /// nothing is wanted of it, and what does all that can be done without waiting.
  public var input: (descriptor: () -> Int32?, turn: () -> Void)?
  /// The number of the last event that was printed or skipped, where events have numbers.
  public private(set) var lastNumber: Int64?
  /// When that was, by the server's clock; nil where that is not known.
  public private(set) var lastTime: Timestamp?
  /// When the newest thing was that was printed, as a later run is to know it, where the wire says.
  public var newest: () -> String? = { nil }
  private var resume: ResumePoint?

  private let deadline: Double
  private var isOpen = false
  private var lastLoss: String?
  private var printed = 0
  /// Whether something could not be used: the status tells.
  public var hadFault = false
  /// A signal cut a write short: the state must not run ahead of the output.
  private var lostOutput = false
  private var end: End?

  public init(
    _ options: FollowOptions, _ client: WebClient, _ stream: FollowedStream, output: EventOutput,
    _ diagnostics: Diagnostics
  ) {
    (self.options, self.stream, self.output) = (options, stream, output)
    self.diagnostics = options.parent.map { diagnostics.about($0.profile) } ?? diagnostics
    profile = options.parent.map { Array(JSONQuote.string($0.profile).utf8) }
    speaks = options.isVerbose || (isatty(2) == 1 && !options.isQuiet)
    resume = stream.resume
    lastNumber = stream.isNumbered ? Int64(stream.lastEventID) : nil
    lastTime = stream.resume?.state.newest.flatMap { Timestamp(rfc3339: $0) }
    deadline = options.reconnect.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    super.init(
      client, stream.place,
      options.policy(usualSilence: stream.usualSilence, longestWait: stream.longestWait),
      judge: stream.judge)
    lastID = Array(stream.lastEventID.utf8)
    output.onFailure = { [unowned self] in fail($0, $1) }
  }

  /// Follows until nothing more comes, or is wanted.
  ///
  /// - Returns: how to leave; a signal or a closed pipe ends the process itself.
  public func run() -> ExitStatus {
    EndSignals.watch()
    if options.count == 0 { end = .counted }
    let wire = stream.wire(self)
    follow(wire)
    return withExtendedLifetime(wire) { leave() }
  }

  // MARK: - The link

  public override func opened(_ place: String, isFirst: Bool, down: Double?) {
    (isOpen, lastLoss) = (true, nil)
    let wait = down.map(Latency.short)
    if let wait {
      if speaks { diagnostics.say("stream is \(isFirst ? "open" : "back") after \(wait) s") }
    } else {
      diagnostics.note("stream is open: \(place)")
    }
    lifecycle(isFirst ? .open : .resumed) { $0.string("url", place).json("down", wait) }
  }

  public override func lost(_ reason: String, wait: Double) {
    (lastLoss, isOpen) = (reason, false)
    let wait = Latency.short(wait)
    if speaks { diagnostics.say("stream is down: \(reason); next try in \(wait) s") }
    lifecycle(.lost) { $0.string("reason", reason).json("retry_in", wait) }
  }

  public override func ended(_ outcome: StreamEnd, at place: String) {
    guard end == nil else { return }
    switch outcome {
    case .noContent: end = .ended(.success, "204 no content")
    case .failed(let problem):
      diagnostics.error(place, problem.message)
      end = .ended(problem.status, problem.message)
    case .gaveUp(let reason):
      diagnostics.error(place, "gave up after \(policy.maxRetries ?? 0) retries: \(reason)")
      end = .ended(.temporary, reason)
    }
  }

  // MARK: - What a wire tells

  /// Prints an event, behind which the stream then goes on.
  ///
  /// - Parameters:
  ///   - number: of a stream that numbers its events; else the event's id counts.
  ///   - time: when a numbered one was; nil where that is not known.
  /// - Throws: `LinkEnd.over` when that was the last one.
  public func print(
    _ event: StreamEventView, number: Int64? = nil, time: Timestamp? = nil
  ) throws(LinkEnd) {
    if let number {
      skip(to: number, time)
    } else if !stream.isNumbered, !lastID.elementsEqual(event.id) {
      lastID = Array(event.id)
    }
    if !event.isPartial { succeeded() }
    try count(output.write(event, profile: profile))
  }

  /// The same, of one that was kept.
  public func print(
    _ event: HeldEvent, number: Int64? = nil, time: Timestamp? = nil
  ) throws(LinkEnd) {
    if let number {
      skip(to: number, time)
    } else if !stream.isNumbered, lastID != event.id {
      lastID = event.id
    }
    succeeded()
    try printExtra(event)
  }

  /// Prints a message.
  public func print(_ message: SocketMessage) throws(LinkEnd) {
    succeeded()
    try count(output.write(message, profile: profile))
  }

  /// Prints an event that the stream itself never had.
  public func printExtra(_ event: HeldEvent) throws(LinkEnd) {
    try count(event.withView { output.write($0, profile: profile) })
  }

  /// Goes on behind an event that is not printed.
  public func skip(to number: Int64, _ time: Timestamp?) {
    succeeded()
    lastNumber = number
    lastTime = time ?? lastTime
  }

  /// Goes on from elsewhere.
  public func restart(behind number: Int64) { lastNumber = number }

  private func count(_ isPrinted: Bool) throws(LinkEnd) {
    if isPrinted {
      printed += 1
      if options.parent != nil {
        let news = news
        output.write(record: FollowParent.eventMark + (news.isEmpty ? "\n" : news))
      }
    }
    if let most = options.count, printed >= most, end == nil { end = .counted }
    try willGoOn()
  }

  /// Prints what came of an event stream.
  public func print(_ item: StreamItem) throws(LinkEnd) {
    switch item {
    case .event(let event): try print(event)
    case .comment(let text): output.write(comment: text)
    case .oversize(let bytes): oversize(bytes: bytes)
    case .retry: break
    }
  }

  public override func missed(_ numbers: ClosedRange<Int64>) {
    let (first, last) = (numbers.lowerBound, numbers.upperBound)
    let what = first == last ? "event \(first) was" : "events \(first) to \(last) were"
    diagnostics.say("gap: \(what) lost")
    lifecycle(.gap) { $0.number("from", first).number("to", last) }
  }

  /// Events may be missing.
  func report(_ gap: StreamGap) {
    let names = gap.parts.map(\.words)
    let named = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", and others" : "")
    let what = names.isEmpty || names.contains("") ? "" : " of \(named)"
    let time = "between \(gap.after ?? "the start") and \(gap.before ?? "now")"
    diagnostics.say("possible gap: \(gap.thing)\(what) \(time) may be missing")
    let list = gap.parts.map(\.record).joined(separator: ",")
    lifecycle(.gap) {
      $0.stringOrNull("after", gap.after).stringOrNull("before", gap.before)
        .json("unreached", gap.parts.isEmpty ? nil : "[\(list)]")
    }
  }

  public override func oversize(bytes: Int) {
    let thing = options.thing
    fault("\(thing) of \(bytes) bytes or more dropped: over --max-\(thing)-bytes")
  }

  /// Something came that cannot be used; one line.
  public func fault(_ reason: String) { fault(reason, at: nil) }

  public override func fault(_ reason: String, at place: String?) {
    hadFault = true
    if let place { diagnostics.error(place, reason) } else { diagnostics.say(reason) }
  }

  public override func note(_ words: String) { diagnostics.error(place, words) }

  private func lifecycle(_ type: RecordType, _ members: (RecordText) -> RecordText) {
    if !options.lifecycle { return }
    let record = members(RecordText(type).string("profile", options.parent?.profile))
    output.write(record: record.time(.now()).text + "\n")
  }

  // MARK: - Waiting

  public override var isOver: Bool { end != nil }

  private func willGoOn() throws(LinkEnd) { if end != nil { throw .over } }

  public override func willWait() throws(LinkEnd) -> Double {
    let now = Clock.monotonic
    if options.parent != nil { _ = saveState(now: now, force: true) }
    output.flush()
    output.turn()
    // Who is told of a file of an archive may compress it, and the resume point in it is then known
    // from the state alone.
    let tells = output.hasFinished
    let due = saveState(now: now, force: tells)
    if tells, end == nil { output.tellFinished() }
    if now >= deadline, end == nil { timeIsUp() }
    try willGoOn()
    return min(deadline, due, now + output.patience)
  }

  public override func hasWaited() throws(LinkEnd) {
    input?.turn()
    if let signal = EndSignals.next() { end = .signal(signal) }
    if OutputEnd.isClosed { end = .writing(WriteFailure(code: EPIPE), nil) }
    try willGoOn()
  }

  public override var files: [pollfd] { Self.signalsAndOutput + Self.reading(input?.descriptor()) }

  private func timeIsUp() {
    if !isOpen {
      let reason = lastLoss.map { ": \($0)" } ?? ""
      diagnostics.error(place, "time is up and the stream is not open\(reason)")
    }
    end = .ended(isOpen ? .success : .temporary, "time is up")
  }

  private func fail(_ failure: WriteFailure, _ file: String?) {
    if failure.code == EINTR, let signal = EndSignals.next() {
      lostOutput = true
      end = .signal(signal)
    } else {
      end = .writing(failure, file)
    }
  }

  /// The id that a later run goes on behind.
  private var resumeID: String {
    stream.isNumbered
      ? lastNumber.map { String($0) } ?? "" : String(decoding: lastID, as: UTF8.self)
  }

  private var news: String {
    resume?.news(lastEventID: resumeID, newest: newest() ?? lastTime?.rfc3339) ?? ""
  }

  private func saveState(now: Double, force: Bool) -> Double {
    guard resume != nil else { return .infinity }
    if options.parent != nil {
      let news = news
      if !news.isEmpty { output.write(record: FollowParent.stateMark + news) }
      return .infinity
    }
    do throws(Failure) {
      return try resume!.save(
        lastEventID: resumeID, newest: newest() ?? lastTime?.rfc3339, now: now, force: force,
        sync: output.sync)
    } catch {
      diagnostics.say(error.message)
      resume = nil
      hadFault = true
      if end == nil { end = .ended(.failure, "state") }
      return .infinity
    }
  }

  // MARK: - The end

  private func leave() -> ExitStatus {
    failIfUnwritten()
    let outcome = end
    switch outcome {
    case .counted: tellEnd("count")
    case .signal(let number): tellEnd("signal \(number)")
    case .ended(_, let reason): tellEnd(reason)
    case .writing, nil: break
    }
    // A signal does not wait for a slow reader.
    var waits = true
    if case .signal = outcome, !output.isArchive {
      waits = !lostOutput && OutputEnd.isWritable
    }
    if waits { output.flush() }
    failIfUnwritten()
    if !lostOutput { _ = saveState(now: Clock.monotonic, force: true) }
    failIfUnwritten()
    if case .signal(let number) = outcome { Process.die(by: number) }
    if case .ended(let status, _) = outcome, status != .success { return status }
    return hadFault ? .failure : .success
  }

  private func tellEnd(_ reason: String) { lifecycle(.end) { $0.string("reason", reason) } }

  private func failIfUnwritten() {
    guard case .writing(let failure, let file) = end else { return }
    // A disk that is full is so for a while.
    if let file { diagnostics.fail("\(file): \(failure.reason)", .temporary) }
    diagnostics.fail(writing: failure)
  }
}
