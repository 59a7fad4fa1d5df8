import Core
import Frames
import Records
import Turns
import Web

/// A line to the agent: one prompt in flight, which is never sent twice (CONTRACT.md 4).
final class JoelclawChat: ServedLink<ChatWaiter>, ChatLine {
  var knowsKeys: Bool { false }
  var dropsRepeats: Bool { true }
  var hasPatience: Bool { true }
  private let origin: RecordOrigin
  private let wishes: ChatWishes
  private let book: PromptBook
  private let request: Request
  private var socket: LiveSocket?
  private var turn: JoelclawTurn? { didSet { if turn == nil { lock = nil } } }
  private var end: ChatEnd?
  private var aborts = false
  private var lock: PromptLock?
  private var lists = JoelclawLists()
  private var session = "gateway"
  /// How long an agent is free before a prompt that was not seen to begin waits no more, seconds.
  private static let freeTime = 2.0
  private var restAt = 0.0
  /// Seconds.
  private static let firstWait = 0.5
  private var isWithoutRedis = false

  init(_ agent: AgentAccess, _ wishes: ChatWishes) throws(Failure) {
    let server = agent.backend
    request = try JoelclawBackend.request(server)
    origin = agent.origin(.joelclaw)
    self.wishes = wishes
    book = try PromptBook(of: request.address)
    super.init(agent.client, request.address.socketDisplay, wishes.policy) {
      server.problem(of: $0, $1)
    }
    // A gateway that was restarted begins again within 0.2 s.
    setFirstWait(min(Self.firstWait, wishes.policy.retryWait))
  }

  func ask(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd {
    if let reason = Self.fault(of: question) { return .refused(Failure(reason, .failure)) }
    do throws(Failure) { _ = try allowed(question) } catch {
      return .refused(error)
    }
    if let closed { return .refused(closed) }
    let turn = JoelclawTurn(
      question, origin, thread: session, patience: wishes.patience, now: .now(),
      clock: Clock.monotonic)
    (self.turn, end, aborts) = (turn, nil, false)
    for news in turn.beginning { waiter.news(news) }
    waiter.endsItself = true
    defer { waiter.endsItself = false }
    serve(waiter) { () throws(LinkEnd) in try talk() }
    defer { end = nil }
    guard let end else { throw .over }
    return end
  }

  func list(
    _ list: ChatList, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    lists.ask(list, place: place, now: Clock.monotonic)
    defer { lists.result = nil }
    if lists.result == nil { serve(waiter) { () throws(LinkEnd) in try talk() } }
    if let result = lists.result { return result }
    if let closed { return .failure(Failure(place, closed.message, closed.status)) }
    throw .over
  }

  func rest(_ waiter: ChatWaiter) throws(LinkEnd) -> Never {
    serve(waiter) { () throws(LinkEnd) in try talk() }
    throw .over
  }

  func stop() { drop() }

  override func drop() { socket = nil }

  // MARK: - The link

  private func talk() throws(LinkEnd) -> Never {
    let socket = try open()
    let idle = policy.idleTimeout
    while true {
      askStatus(socket)
      switch try socket.receive(
        idle: idle, pingEvery: JoelclawBackend.ping(idle),
        mostUnanswered: JoelclawBackend.mostUnanswered,
        until: min(lists.pace.due, turn?.pace.due ?? .infinity))
      {
      case .message(let message) where message.isText: receive(message.bytes, socket)
      case .message: fault("a frame that is not text", at: nil)
      case .oversize(let bytes):
        turn?.missed()
        fault("a frame of \(bytes) bytes or more was dropped", at: nil)
      case nil: continue
      }
      if end != nil || lists.result != nil { throw .over }
    }
  }

  private func open() throws(LinkEnd) -> LiveSocket {
    if let socket { return socket }
    let made = try LiveSocket.connect(
      self, request, options: JoelclawBackend.options, idle: policy.idleTimeout)
    socket = made
    opened(made.place)
    turn?.opened(clock: Clock.monotonic)
    return made
  }

  override func look() throws(LinkEnd) -> Double {
    let now = Clock.monotonic
    if waiter?.isAborted == true, !aborts {
      aborts = true
      turn?.abort(clock: now)
    }
    if turn?.speech.isBehind == true, restAt <= now { tell(turn?.speech.rest(.now()) ?? []) }
    tell(turn?.giveUp(now: .now(), clock: now) ?? [])
    settle()
    lists.giveUp(now, place: place)
    if end != nil || lists.result != nil { throw .over }
    var due = lists.limit
    if let turn {
      due = min(due, turn.limits.next(turn.phase))
      if turn.speech.isBehind { due = min(due, restAt) }
    }
    return due
  }

  override func lost(_ reason: String, wait: Double) {
    tell(turn?.lost(now: .now(), clock: Clock.monotonic) ?? [])
    super.lost(reason, wait: wait)
  }

  override func ended(_ outcome: StreamEnd, at place: String) {
    super.ended(outcome, at: place)
    guard let turn else { return }
    tell(self.turn?.lost(now: .now(), clock: Clock.monotonic) ?? [])
    let problem = outcome.problem
    finish(turn.phase == .queued ? .refused(problem) : .lost(problem.message))
  }

  // MARK: - Asking

  private static func fault(of question: ChatQuestion) -> String? {
    if !question.attachments.isEmpty { return "a joelclaw gateway takes no files" }
    if question.agent != nil { return "a joelclaw gateway has one agent, which has no name" }
    return question.text.allSatisfy(\.isWhitespace) ? "the message is empty" : nil
  }

  private func refuse(_ reason: String, _ status: ExitStatus = .failure) {
    finish(.refused(Failure(reason, status)))
  }

  private func finish(_ end: ChatEnd) { (turn, self.end) = (nil, end) }

  private func allowed(_ question: ChatQuestion) throws(Failure) -> String {
    let now = Clock.unix
    guard let age = try book.age(of: question.text, now: now) else {
      return question.text
    }
    if question.isAgain { return try book.marked(question.text, now: now) }
    throw Failure(
      "the same words were sent \(Int(age)) s ago",
      "the gateway would drop them; wait \(Int((PromptBook.memory - age).rounded(.up))) s, "
        + "or mark them with --again", .temporary)
  }

  private func send(_ socket: LiveSocket) {
    guard let question = turn?.question else { return }
    if let thread = question.thread, thread != session {
      return refuse("a joelclaw gateway has one conversation: \(session)")
    }
    let text: String
    do throws(Failure) {
      lock = try book.turn()
      // Another process of this user: the next status is another chance.
      if lock == nil {
        turn?.limits.blocker = JoelclawStatus.ours
        return
      }
      if try mayWait() {
        lock = nil
        return
      }
      text = try allowed(question)
      // Noted first: what may have been sent is not to be sent again.
      try book.add(text, now: Clock.unix)
    } catch {
      return refuse(error.message, error.status)
    }
    if let problem = waiter?.sends() { return refuse(problem.message, problem.status) }
    socket.send(text: JoelclawBackend.promptFrame(text))
    tell(turn?.sent(text, now: .now(), clock: Clock.monotonic) ?? [])
  }

  /// Whether an earlier prompt may still wait in the gateway: one that nobody saw begin, as long
  /// as the agent was not free for a while.
  private func mayWait() throws(Failure) -> Bool {
    let now = Clock.monotonic
    guard try book.isOpen(now: Clock.unix), let since = turn?.freeSince,
      now - since < Self.freeTime
    else { return false }
    turn?.limits.hasEarlier = true
    turn?.pace.begin(now, after: Self.freeTime / 4, then: Self.freeTime / 4)
    return true
  }

  private func askStatus(_ socket: LiveSocket) {
    let now = Clock.monotonic
    guard min(turn?.pace.due ?? .infinity, lists.pace.due) <= now else { return }
    turn?.pace.asked(now)
    lists.asked(now, patience: wishes.patience)
    socket.send(text: JoelclawBackend.statusFrame)
  }

  // MARK: - What comes

  private func receive(_ frame: UnsafeRawBufferPointer, _ socket: LiveSocket) {
    let event: JoelclawEvent
    do throws(Failure) { event = try JoelclawEvent(frame) } catch {
      turn?.missed()
      return fault("a frame that cannot be read: \(error.reason)", at: nil)
    }
    let (now, clock) = (Timestamp.now(), Clock.monotonic)
    let failure = turn?.failure
    defer { settle() }
    guard case .status(let status) = event else {
      tell(turn?.receive(event, now: now, clock: clock) ?? [])
      // Of what the agent gets over, and of what is nobody's.
      if case .error(let reason) = event, turn?.failure == nil { complain(reason) }
      if let failure, turn?.failure == nil { complain(failure) }
      return
    }
    session = status.session ?? session
    if status.isWithoutRedis != isWithoutRedis {
      isWithoutRedis = status.isWithoutRedis
      waiter?.link(
        .note(
          isWithoutRedis
            ? "the gateway has lost its Redis: it does not answer, and loses what is sent"
            : "the gateway has its Redis again, and may take nothing until it is restarted"))
    }
    if lists.receive(status, origin: origin, clock: clock) {
      socket.send(text: JoelclawBackend.abortFrame)
    }
    let isWaiting = turn?.phase == .sent
    tell(turn?.receive(status, now: now, clock: clock) ?? [])
    if let failure, let turn, turn.failure == nil { complain(failure) }
    // If that cannot be noted the next prompt waits a little longer.
    if isWaiting, turn?.isTaken == true { try? book.close(now: Clock.unix) }
    if turn?.wantsAbort == true {
      socket.send(text: JoelclawBackend.abortFrame)
      turn?.aborted(clock: clock)
    }
    if turn?.phase == .queued, turn?.isFree == true { send(socket) }
  }

  private func complain(_ reason: String) {
    fault("the gateway says: \(request.hide(reason))", at: nil)
  }

  private func tell(_ news: [ChatNews]) {
    for each in news { waiter?.news(each) }
    if let length = turn?.speech.length, !news.isEmpty {
      restAt = Clock.monotonic + TextPace.rest(after: length)
    }
  }

  private func settle() {
    guard let end = turn?.end else { return }
    tell(turn?.speech.rest(.now()) ?? [])
    finish(end.hiding(request.hide))
  }
}
