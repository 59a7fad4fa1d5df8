import Core
import Frames
import Web

/// The events of one repository, out of the stream that a server has for all: each with the
/// records as they became (Agent/PDS/CONTRACT.md 6). A server without such a stream is asked
/// again and again instead.
final class FirehoseStream: StreamLink {
  /// The largest message, bytes, where no larger one is asked for.
  private static let usualLargest = 8 << 20
  /// How often a ping asks whether anybody is there, seconds.
  private static let pingEvery = 30.0

  private let client: WebClient
  private let visit: PDSVisit
  private let repository: DID
  private let collections: [NSID]
  private unowned let handler: any StreamHandler
  private let maxBytes: Int?
  private let state: String?
  private var socket: SocketStream!
  private let policy: StreamPolicy
  private let note: (String) -> Void
  /// Takes the place of the socket where there is no stream.
  private var poll: RepositoryPoll?
  private var hasOpened = false
  /// Whether the last refusal was of those that no later try betters but polling may.
  private var mayPoll = true
  private var values: FirehoseValues?
  /// What is refused to who has not logged in: the stream, or the records of an event.
  private var refusal: (error: XRPCError, event: FirehoseEvent?)?
  /// When to log in at the earliest, seconds of `Clock.monotonic`.
  private var enterAt = 0.0
  /// How often in a row records were not to be had.
  private var fetching: Reconnect
  /// The number of the last event, of whatever repository; nil before the first.
  private var last: Int64?
  /// When that was, by the server's clock; nil where that is not known.
  private var lastTime: Timestamp?
  /// Whether this connection has brought no number yet.
  private var isFresh = true
  /// What is not newer was told before the numbers began again; nil when they did not.
  private var floor: Timestamp?
  /// Whether the server has said that it does not keep all that was missed.
  private var isOutdated = false
  /// Why the connection is to end, as soon as it may.
  private var dropReason: String?
  private var dropWait: Double?
  private var isOver = false

  /// - Parameters:
  ///   - client: drives the connection and the requests.
  ///   - visit: as whom the server is asked.
  ///   - repository: of which the events are wanted.
  ///   - collections: of which changes are wanted; none for all.
  ///   - policy: how it is followed, and behind which event it begins.
  ///   - time: when that event was; nil where that is not known.
  ///   - state: the file which that number is from, for messages; nil for none.
  ///   - handler: told what happens; not retained.
  ///   - note: told what a person is to know, one line.
  init(
    _ client: WebClient, _ visit: PDSVisit, _ repository: DID,
    _ collections: [NSID], policy: StreamPolicy, time: String?, state: String?,
    handler: any StreamHandler,
    note: @escaping (String) -> Void
  ) {
    self.client = client
    self.visit = visit
    self.repository = repository
    self.collections = collections
    self.handler = handler
    self.policy = policy
    self.state = state
    lastTime = time.flatMap { Timestamp(rfc3339: $0) }
    fetching = Reconnect(policy)
    self.note = note
    maxBytes = policy.maxEventBytes
    last = Int64(String(decoding: policy.lastEventID, as: UTF8.self))
    var options = SocketOptions()
    options.maxMessageBytes = max(Self.usualLargest, maxBytes ?? 0)
    var policy = policy
    policy.maxEventBytes = nil
    socket = SocketStream(
      client, request ?? Request(visit.base), options: options, policy: policy,
      pingEvery: Self.pingEvery,
      judge: { [unowned self] in judge($0, $1) }, handler: self)
  }

  private var request: Request? {
    try? visit.request(
      "com.atproto.sync.subscribeRepos", [("cursor", last.map { String($0) })])
  }

  private func judge(_ head: ResponseHead, _ body: [UInt8]) -> AnswerProblem {
    let error = XRPCError(head, body, now: Clock.unix)
    refusal = visit.canEnter(error) ? (error, nil) : nil
    mayPoll = error.isMethodMissing
    return AnswerProblem(error.line, mayPoll && !hasOpened ? .failure : error.exit)
  }

  // MARK: - The link

  var lastEventID: [UInt8] { last.map { Array(String($0).utf8) } ?? [] }
  var newest: Timestamp? { lastTime }
  var isOpen: Bool { poll?.isOpen ?? socket.isOpen }

  func rewind(to id: [UInt8]) { last = Int64(String(decoding: id, as: UTF8.self)) }

  func tick(now: Double) -> Double {
    if let poll { return poll.tick(now: now) }
    if let refusal {
      if now < enterAt { return enterAt }
      self.refusal = nil
      enter(refusal.error, refusal.event, now)
    }
    if let reason = dropReason {
      dropReason = nil
      socket.drop(reason, after: dropWait)
      dropWait = nil
    }
    // While nobody listens, the next connection is to begin behind what is known.
    if !socket.isOpen, let request { socket.request = request }
    let next = min(socket.tick(now: now), values?.tick(now: now) ?? .infinity)
    return poll == nil && dropReason == nil && refusal == nil ? next : now
  }

  func hold() { socket.hold() }
  func release(now: Double) { socket.release(now: now) }
  func drop(_ reason: String) { dropReason = reason }

  func stop() {
    isOver = true
    values?.cancel()
    values = nil
    poll?.stop()
    socket.stop()
  }

  // MARK: - What comes

  private func take(_ bytes: UnsafeRawBufferPointer) {
    // The next connection brings what comes now once more.
    if isOver || dropReason != nil { return }
    if let maxBytes, bytes.count > maxBytes {
      return handler.streamItem(.oversize(bytes: bytes.count))
    }
    let frame: FirehoseFrame
    do throws(Failure) { frame = try FirehoseFrame(bytes) } catch {
      return fault("an event is dropped: \(error.reason)")
    }
    switch frame {
    case .error(let name, let message): fail(name, message)
    case .event(let name, let body): take(name, body)
    }
  }

  private func fail(_ name: String, _ message: String) {
    let words = [name, message].filter { !$0.isEmpty }.joined(separator: ": ").cut
    // Not every server closes the connection then.
    guard name == "FutureCursor" else {
      dropReason = words.isEmpty ? "the server ended the stream" : words
      return
    }
    let help = state.map { ": remove \($0) to begin with what happens now" } ?? ""
    let place = last.map { " (event \($0))\(help)" } ?? ""
    end(.failed(AnswerProblem(words + place, .failure)))
  }

  private func take(_ name: String, _ body: CBORValue) {
    let event = FirehoseEvent(name, body, collections: collections)
    if name == "#info" {
      isOutdated = isOutdated || body["name"]?.text == "OutdatedCursor"
      return print(event)
    }
    guard let number = event.number else {
      if event.owner == repository.description {
        fault("\(name.cut) without a number is dropped")
      }
      return
    }
    if isFresh, let last, beginsAgain(event, number, behind: last) {
      note("the server's events are numbered anew: \(number) comes behind \(last)")
      // Those before this one are new, too.
      (self.last, floor) = (0, lastTime)
      dropReason = "the numbers of the events began again"
      return
    }
    isFresh = false
    guard number > last ?? .min else { return }
    if let floor, let time = event.time, time <= floor {
      last = number
      return
    }
    floor = nil
    if isOutdated, let last, last + 1 < number { handler.streamMissed(last + 1...number - 1) }
    isOutdated = false
    guard event.owner == repository.description,
      event.changes?.isEmpty != true || collections.isEmpty || event.isTooBig
    else {
      last = number
      lastTime = event.time ?? lastTime
      return
    }
    let fetch = fetch(event)
    if fetch.isEmpty { return print(event) }
    // It comes again if the link is lost now.
    if last == nil, number > 0 { last = number - 1 }
    values = fetch
    socket.hold()
  }

  /// Whether a server that was asked for what is behind an event numbers anew: it sends a number
  /// that is not behind it, of something that happened later.
  private func beginsAgain(_ event: FirehoseEvent, _ number: Int64, behind last: Int64) -> Bool {
    guard number <= last else { return false }
    if let time = event.time, let lastTime { return time > lastTime }
    return number < last
  }

  private func fetch(_ event: FirehoseEvent) -> FirehoseValues {
    FirehoseValues(
      client, visit, repository, event, onFault: { [unowned self] in fault($0) },
      onEnd: { [unowned self] in done($0, event) })
  }

  private func done(
    _ result: Result<FirehoseEvent, FirehoseValues.Failure>, _ asked: FirehoseEvent
  ) {
    values = nil
    switch result {
    case .success(let event):
      fetching.succeeded()
      visit.succeeded()
      print(event)
      if !isOver { socket.release(now: Clock.monotonic) }
    // It comes again, as it was not the last.
    case .failure(.lost(let reason, let least)):
      guard let wait = fetching.failed(now: Clock.monotonic, after: least) else {
        return end(.gaveUp(reason))
      }
      (dropReason, dropWait) = (reason, wait)
    case .failure(.denied(let error, _)) where visit.canEnter(error):
      refusal = (error, asked)
    case .failure(.denied(_, let reason)): end(.failed(AnswerProblem(reason, .denied)))
    }
  }

  /// Logs in, and asks again.
  private func enter(_ error: XRPCError, _ event: FirehoseEvent?, _ now: Double) {
    if let problem = visit.enter(error) {
      if problem.status != .temporary { return end(.failed(problem)) }
      guard let wait = fetching.failed(now: now) else { return end(.gaveUp(problem.line)) }
      // The event comes again.
      if event != nil {
        (dropReason, dropWait) = (problem.line, wait)
        return
      }
      (refusal, enterAt) = ((error, nil), now + wait)
      return handler.streamLost(problem.line, wait: wait)
    }
    if let event {
      values = fetch(event)
    } else {
      socket.tryAgain()
    }
  }

  private func fault(_ reason: String) {
    handler.streamFaulted("\(visit.base.display): \(reason)")
  }

  private func end(_ end: StreamEnd) {
    isOver = true
    handler.streamEnded(end, at: visit.base.display)
  }

  private func print(_ event: FirehoseEvent) {
    // What is said of the stream has no place in it.
    let number = event.name == "#info" ? nil : event.number
    last = number ?? last
    if number != nil { lastTime = event.time ?? lastTime }
    let id = number.map { Array(String($0).utf8) } ?? lastEventID
    let data = event.data
    if poll != nil, let maxBytes, data.count > maxBytes {
      return handler.streamItem(.oversize(bytes: data.count))
    }
    HeldEvent(type: Array(event.name.utf8), id: id, data: data).withView {
      handler.streamItem(.event($0))
    }
  }
}

extension FirehoseStream: StreamHandler {
  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    hasOpened = true
    isFresh = true
    visit.succeeded()
    handler.streamOpened(place, isFirst: isFirst, down: down)
  }

  func streamItem(_ item: StreamItem) {
    switch item {
    case .message(let message) where !message.isText: take(message.bytes)
    case .message: fault("a text is no event")
    case .oversize(let bytes) where bytes > maxBytes ?? .max: handler.streamItem(item)
    case .oversize:
      fault("an event of more than \(Self.usualLargest) bytes dropped; see --max-event-bytes")
    default: handler.streamItem(item)
    }
  }

  func streamLost(_ reason: String, wait: Double) {
    mayPoll = true
    values?.cancel()
    values = nil
    (refusal, dropReason, dropWait) = (nil, nil, nil)
    handler.streamLost(reason, wait: wait)
  }

  func streamEnded(_ end: StreamEnd, at place: String) {
    // One logs in with the next tick.
    if case .failed = end, refusal != nil { return }
    if case .failed(let problem) = end, !hasOpened, mayPoll {
      let number = last.map { $0 > 0 ? ", and not behind event \($0)" : "" } ?? ""
      poll = RepositoryPoll(
        client, visit, repository, collections, policy: policy, tellsAll: last == 0,
        because: problem, handler: handler,
        opened: { [note] in note("no stream of events: \(problem.line); it is polled\(number)") },
        print: { [unowned self] in print($0) })
      return
    }
    isOver = true
    handler.streamEnded(end, at: place)
  }
}
