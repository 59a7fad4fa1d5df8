import Core
import Records
import Web

/// A line to the agent of a Pincer server. A question is sent once, whatever happens
/// (Agent/Pincer/CONTRACT.md 4.3): what its own stream does not tell is found by watching the
/// thread behind the number at which it stood before.
final class PincerChat: ChatLine {
  /// How far a question is.
  enum Phase {
    case idle
    /// The thread is made, or asked for its last number; again at a time.
    case preparing(ChatQuestion, again: Double)
    case asking(ConnectStream)
    case watching(PincerWatch)
  }

  weak var listener: (any ChatListener)?
  let place: String
  var knowsKeys: Bool { false }
  var hasPatience: Bool { true }
  let origin: RecordOrigin
  let calls: PincerCalls
  let client: WebClient
  let wishes: ChatWishes
  let finder: PincerFinder
  private let lists: PincerLists
  private var reconnect: Reconnect
  var phase = Phase.idle
  var turn: PincerTurn?
  private var records: PincerRecords
  /// The thread that was made for this conversation.
  private var made: String?
  /// When something of the answer came last, seconds of `Clock.monotonic`.
  var lastNews = 0.0
  /// Whether the server says that the turn is over, and not how.
  var isDead = false
  /// Whether there was a connection for the question, and why it was not used then.
  private(set) var isSent = false
  private(set) var withheld: AnswerProblem?

  init(_ agent: AgentAccess, _ wishes: ChatWishes) {
    client = agent.client
    self.wishes = wishes
    place = agent.backend.base.display
    origin = agent.origin(.pincer)
    calls = PincerCalls(agent.client, agent.backend)
    finder = PincerFinder(calls)
    lists = PincerLists(calls, origin)
    reconnect = Reconnect(wishes.policy)
    records = PincerRecords(origin)
  }

  func tick(now: Double) -> Double {
    // Not from within what a stream tells.
    if case .watching = phase { settle() }
    var next = min(calls.tick(now: now), finder.tick(now: now))
    switch phase {
    case .preparing(let question, let again):
      if again <= now { prepare(question) } else { next = min(next, again) }
    case .asking(let stream):
      next = min(next, stream.tick(now: now), silence(of: stream))
      if next <= now, case .asking = phase, now >= silence(of: stream) {
        watch()
        return tick(now: now)
      }
    case .watching(let watch): next = min(next, watch.tick(now: now))
    case .idle: return next
    }
    let limit = deadline
    if now >= limit { giveUp() }
    return min(next, limit)
  }

  func stop() {
    calls.stop()
    leave()
  }

  /// Ends what is under way without a word.
  func leave() {
    switch phase {
    case .asking(let stream): stream.cancel()
    case .watching(let watch): watch.stop()
    case .idle, .preparing: break
    }
    phase = .idle
  }

  // MARK: - Asking

  func ask(_ question: ChatQuestion) {
    let problem: String? =
      !question.attachments.isEmpty
      ? "a Pincer server takes no files"
      : question.agent != nil ? "a Pincer server has one agent, which has no name" : nil
    if let problem {
      listener?.chatEnded(.refused(AnswerProblem(problem, .failure)))
      return
    }
    reconnect = Reconnect(wishes.policy)
    lastNews = Clock.monotonic
    prepare(question)
  }

  /// A turn cannot be ended from outside.
  func abort() {
    let wasSent = turn != nil
    calls.stop()
    leave()
    turn = nil
    if wasSent { listener?.chatLink(.fault("the turn goes on: a Pincer server ends none")) }
    listener?.chatEnded(.aborted(nil))
  }

  private func prepare(_ question: ChatQuestion) {
    phase = .preparing(question, again: .infinity)
    let thread = question.thread ?? made
    let method: PincerMethod = thread == nil ? .createThread : .listThreadMessages
    let params = RecordText().string("threadId", thread)
    calls.call(method, thread == nil ? params : params.number("pageSize", 1)) {
      [unowned self] outcome in
      switch outcome {
      case .success(let reply):
        let id = thread ?? reply.value.pincerText("threadId")
        guard !id.isEmpty, let last = reply.value.pincerNumber("lastSequence") else {
          return finish(
            .refused(AnswerProblem("\(method.name): the answer has no thread", .failure)))
        }
        if thread == nil { tellThread(id) }
        send(question, thread: id, base: last)
      case .failure(let failure): unprepared(question, failure.problem)
      }
    }
  }

  private func tellThread(_ id: String) {
    made = id
    listener?.chatNews(.thread(ThreadRecord(origin, id: id, time: .now())))
  }

  /// Nothing was sent yet: it may be tried again.
  private func unprepared(_ question: ChatQuestion, _ problem: AnswerProblem) {
    let now = Clock.monotonic
    guard problem.status == .temporary, let wait = reconnect.failed(now: now) else {
      return finish(.refused(problem))
    }
    phase = .preparing(question, again: now + wait)
    listener?.chatLink(.lost(problem.line, wait: wait))
  }

  private func send(_ question: ChatQuestion, thread: String, base: Int64) {
    let now = Clock.monotonic
    let (isFirst, down) = reconnect.opened(now: now)
    listener?.chatLink(.open(place: place, isFirst: isFirst, down: down))
    turn = PincerTurn(question, thread: thread, base: base)
    records = PincerRecords(origin)
    (lastNews, isDead) = (now, false)
    let request: Request
    do throws(SettingsError) {
      request = try calls.server.request(PincerMethod.startTurn.path, method: "POST", body: [])
    } catch {
      return finish(.refused(AnswerProblem(error.message, error.status)))
    }
    (isSent, withheld) = (false, nil)
    let onSend = { [unowned self] in
      withheld = listener?.chatSends()
      isSent = withheld == nil
      return isSent
    }
    let message = RecordText().string("threadId", thread)
      .string("clientMessageId", question.key).string("userText", question.text)
      .string("triggerType", "CHAT_MESSAGE")
    phase = .asking(
      ConnectStream(
        client, request, message: message.bytes, now: now, onSend: onSend, handler: self))
  }

  // MARK: - What comes

  /// Takes an event.
  ///
  /// - Parameter isWatched: whether others' events come on the same stream.
  func take(_ message: [UInt8], isWatched: Bool) {
    guard turn != nil, let event = message.withUnsafeBytes({ try? JSONValue.parse($0) }) else {
      return
    }
    if turn?.id == nil {
      if isWatched { return search(message, event) }
      let turnID = event.pincerText("turnId")
      if !turnID.isEmpty { turn?.claim(turnID, message: "") }
    }
    if turn?.id != nil, let begin = PincerTurn.beginning(event), begin.turn == turn?.id {
      turn?.claim(begin.turn, message: begin.message)
    }
    guard turn?.take(event) == true else { return }
    lastNews = Clock.monotonic
    if let turn, PincerTurn.beginning(event) != nil, let id = turn.message {
      var own = MessageRecord(
        origin, id: id, thread: turn.thread, role: .user, text: turn.question.text, state: .final,
        time: event.pincerTime("occurredAt"))
      own.turn = turn.id
      listener?.chatNews(.message(own))
    }
    for news in records.take(message) { listener?.chatNews(news) }
  }

  /// Looks for the turn among those that began since.
  private func search(_ message: [UInt8], _ event: JSONValue) {
    guard let turn else { return }
    finder.take(message, event, thread: turn.thread, text: turn.question.text) {
      [unowned self] found, events in
      self.turn?.claim(found.turn, message: found.message)
      for event in events { take(event, isWatched: true) }
    }
  }

  /// Ends the question if that is known by now.
  func settle() {
    guard let turn else { return }
    if let end = turn.end {
      finish(end)
    } else if turn.isPaused, !wishes.waits {
      finish(.paused(turn.waitsFor))
    } else if turn.isPaused, case .asking = phase {
      watch()
    }
  }

  func finish(_ end: ChatEnd) {
    calls.stop()
    leave()
    turn = nil
    finder.reset()
    listener?.chatEnded(end)
  }

  // MARK: - Lists

  func list(_ list: ChatList, then: @escaping (Result<[[UInt8]], CallFailure>) -> Void) {
    lists.fetch(list, place: place, then: then)
  }
}

// MARK: - What is waited for

extension PincerChat {
  /// How long nothing of an answer may come, in general and while a tool runs, seconds. A
  /// server ends a turn after 2 minutes, a tool after 15 at most.
  private static let (usualPatience, toolPatience) = (300.0, 1000.0)
  /// How long the last word of a turn that is over may be on its way, seconds.
  private static let lastWord = 10.0
  /// How long an approval waits where that is not said, seconds.
  private static let approvalLife = 86_400.0

  /// The question's own stream tells no more: the thread does.
  func watch() {
    guard let turn else { return }
    leave()
    finder.reset()
    var policy = wishes.policy
    policy.idleTimeout = policy.idleTimeout ?? PincerBackend.usualSilence
    policy.lastEventID = Array(String(turn.base).utf8)
    phase = .watching(
      PincerWatch(client, calls.server, thread: turn.thread, policy: policy, handler: self))
  }

  /// When the question's own stream is left for the thread's, seconds of `Clock.monotonic`:
  /// a connection may die without a word, and the turn does not end with it.
  func silence(of stream: ConnectStream) -> Double {
    stream.lastHeard + (wishes.policy.idleTimeout ?? PincerBackend.usualSilence)
  }

  /// When the question is given up, seconds of `Clock.monotonic`.
  var deadline: Double {
    guard let turn else { return wishes.patience.map { lastNews + $0 } ?? .infinity }
    if turn.isStuck || isDead {
      return lastNews + min(Self.lastWord, wishes.patience ?? .infinity)
    }
    if let patience = wishes.patience { return lastNews + patience }
    guard turn.isPaused else {
      return lastNews + (turn.isWorking ? Self.toolPatience : Self.usualPatience)
    }
    let left = turn.lastExpiry.map { Double($0.seconds) - Clock.unix } ?? Self.approvalLife
    return max(Clock.monotonic + left, lastNews) + Self.usualPatience
  }

  func giveUp() {
    guard let turn else {
      let seconds = Latency.seconds(wishes.patience ?? 0)
      return finish(.lost("no answer of the server in \(seconds) s; nothing was sent"))
    }
    if turn.isStuck {
      return finish(.failed("an approval expired, and the server does not go on with the turn"))
    }
    if isDead { return finish(.lost("the turn is over, and how it ended is not said")) }
    if turn.isPaused { return finish(.paused(turn.waitsFor)) }
    let usual = turn.isWorking ? Self.toolPatience : Self.usualPatience
    let seconds = Latency.seconds(wishes.patience ?? usual)
    let what = turn.id == nil ? "whether it arrived is not known" : "the turn may go on"
    finish(.lost("nothing of the answer came for \(seconds) s; \(what)"))
  }
}

// MARK: - The question's own stream

extension PincerChat: ConnectStreamHandler {
  func connectOpened(_ place: String) {}

  func connectMessage(_ message: [UInt8]) -> Bool {
    take(message, isWatched: false)
    return turn?.end == nil && turn?.isPaused == false
  }

  func connectOversize(bytes: Int) {
    listener?.chatLink(.fault("skipped an event of \(bytes) bytes"))
  }

  func connectEnded(_ end: ConnectEnd) {
    guard let turn else { return }
    if let withheld { return finish(.refused(withheld)) }
    if case .cut(let reason) = end, !isSent { return finish(.lost(reason)) }
    if turn.end != nil || turn.isPaused { return settle() }
    switch end {
    case .failed(let error, let head):
      let problem = calls.server.problem(of: error, head)
      if turn.id == nil, error.code.meansUndone { return finish(.refused(problem)) }
      isDead = error.code == .internal
      lastNews = Clock.monotonic
    case .refused(let head, let body):
      let problem =
        calls.server.problem(of: head, body, method: "POST")
        ?? AnswerProblem("\(head.summary): not a stream of a Pincer server", .failure)
      if problem.status != .temporary || head.status == 429 { return finish(.refused(problem)) }
    case .unusable(let reason):
      return finish(.refused(AnswerProblem(reason, .failure)))
    case .cut, .complete, .stopped: break
    }
    watch()
  }
}

// MARK: - The thread's stream

extension PincerChat: StreamHandler {
  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    if let down { listener?.chatLink(.open(place: place, isFirst: false, down: down)) }
  }

  func streamItem(_ item: StreamItem) {
    switch item {
    case .event(let event): take(Array(event.data), isWatched: true)
    case .oversize(let bytes): connectOversize(bytes: bytes)
    case .fault(let reason): listener?.chatLink(.fault(reason))
    case .comment, .retry, .message: break
    }
  }

  func streamFaulted(_ reason: String) { listener?.chatLink(.fault(reason)) }

  func streamLost(_ reason: String, wait: Double) {
    listener?.chatLink(.lost(reason, wait: wait))
  }

  func streamEnded(_ end: StreamEnd, at place: String) {
    let problem = AnswerProblem("\(end.problem.line); the turn may go on", end.problem.status)
    finish(problem.status == .denied ? .refused(problem) : .lost(problem.line))
  }
}
