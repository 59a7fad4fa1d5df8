import Core
import Frames
import Records
import Web

/// A line to the agent behind a gateway: one prompt in flight, which is never sent twice
/// (CONTRACT.md 4).
final class JoelclawChat: DrivenLine {
  weak var listener: (any ChatListener)?
  let place: String
  var knowsKeys: Bool { false }
  var dropsRepeats: Bool { true }
  var hasPatience: Bool { true }
  let origin: RecordOrigin
  private let wishes: ChatWishes
  private let book: PromptBook
  private let request: Request
  private var stream: SocketStream!
  private var turn: JoelclawTurn? { didSet { if turn == nil { lock = nil } } }
  /// Held while a prompt is in flight.
  private var lock: PromptLock?
  var lists = JoelclawLists()
  /// The conversation, once the gateway has said it.
  private var session = "gateway"
  /// How long an agent is free before a prompt that was not seen to begin waits no more, seconds.
  private static let freeTime = 2.0
  /// When what is left of a text that grows is told.
  private var restAt = 0.0

  init(_ agent: AgentAccess, _ wishes: ChatWishes) throws(SettingsError) {
    request = try JoelclawDoor.request(agent.backend)
    place = request.address.socketDisplay
    origin = agent.origin(.joelclaw)
    self.wishes = wishes
    book = try PromptBook(of: request.address)
    stream = JoelclawDoor.stream(
      agent.client, request, agent.backend, policy: wishes.policy, handler: self)
  }

  func tick(now: Double) -> Double {
    let next = stream.tick(now: now)
    if stream.isOpen { askStatus(now) }
    if turn?.speech.isBehind == true, restAt <= now { tell(turn?.speech.rest(.now()) ?? []) }
    tell(turn?.tick(now: .now(), clock: now) ?? [])
    settle()
    lists.tick(now, place: place)
    var dues = [next, lists.limit]
    if stream.isOpen { dues += [turn?.pace.due ?? .infinity, lists.pace.due] }
    if let turn {
      dues.append(turn.limits.next(turn.phase))
      if turn.speech.isBehind { dues.append(restAt) }
    }
    return dues.min() ?? next
  }

  func stop() { stream.stop() }

  // MARK: - Asking

  func ask(_ question: ChatQuestion) {
    if let reason = Self.fault(of: question) { return refuse(reason) }
    do throws(SettingsError) { _ = try allowed(question) } catch {
      return refuse(error.message, error.status)
    }
    let turn = JoelclawTurn(
      question, origin, thread: session, patience: wishes.patience, now: .now(),
      clock: Clock.monotonic)
    self.turn = turn
    tell(turn.beginning)
  }

  func abort() {
    guard turn != nil else { return listener?.chatEnded(.aborted(nil)) ?? () }
    turn?.abort(clock: Clock.monotonic)
    settle()
  }

  private static func fault(of question: ChatQuestion) -> String? {
    if !question.attachments.isEmpty { return "a joelclaw gateway takes no files" }
    if question.agent != nil { return "a joelclaw gateway has one agent, which has no name" }
    return question.text.allSatisfy(\.isWhitespace) ? "the message is empty" : nil
  }

  private func refuse(_ reason: String, _ status: ExitStatus = .failure) {
    turn = nil
    listener?.chatEnded(.refused(AnswerProblem(reason, status)))
  }

  /// The words that may be sent now: the gateway drops those that it had not long ago.
  private func allowed(_ question: ChatQuestion) throws(SettingsError) -> String {
    let now = Clock.unix
    guard let age = try book.age(of: question.text, now: now) else {
      return question.text
    }
    if question.isAgain { return try book.marked(question.text, now: now) }
    throw SettingsError(
      "the same words were sent \(Int(age)) s ago",
      "the gateway would drop them; wait \(Int((PromptBook.memory - age).rounded(.up))) s, "
        + "or mark them with --again", .temporary)
  }

  private func send() {
    guard let question = turn?.question else { return }
    if let thread = question.thread, thread != session {
      return refuse("a joelclaw gateway has one conversation: \(session)")
    }
    let text: String
    do throws(SettingsError) {
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
    if let problem = listener?.chatSends() { return refuse(problem.line, problem.status) }
    stream.send(text: JoelclawDoor.promptFrame(text))
    tell(turn?.sent(text, now: .now(), clock: Clock.monotonic) ?? [])
  }

  /// Whether an earlier prompt may still wait in the gateway: one that nobody saw begin, as long
  /// as the agent was not free for a while.
  private func mayWait() throws(SettingsError) -> Bool {
    let now = Clock.monotonic
    guard try book.isOpen(now: Clock.unix), let since = turn?.freeSince,
      now - since < Self.freeTime
    else { return false }
    turn?.limits.hasEarlier = true
    turn?.pace.begin(now, after: Self.freeTime / 4, then: Self.freeTime / 4)
    return true
  }

  private func askStatus(_ now: Double) {
    guard min(turn?.pace.due ?? .infinity, lists.pace.due) <= now else { return }
    turn?.pace.asked(now)
    lists.asked(now, patience: wishes.patience)
    stream.send(text: JoelclawDoor.statusFrame)
  }

  // MARK: - What comes

  private func take(_ event: JoelclawEvent) {
    let (now, clock) = (Timestamp.now(), Clock.monotonic)
    let failure = turn?.failure
    defer { settle() }
    guard case .status(let status) = event else {
      tell(turn?.take(event, now: now, clock: clock) ?? [])
      // Of what the agent gets over, and of what is nobody's.
      if case .error(let reason) = event, turn?.failure == nil { fault(reason) }
      if let failure, turn?.failure == nil { fault(failure) }
      return
    }
    session = status.session ?? session
    if lists.take(status, origin: origin, clock: clock) {
      stream.send(text: JoelclawDoor.abortFrame)
    }
    let isWaiting = turn?.phase == .sent
    tell(turn?.take(status, now: now, clock: clock) ?? [])
    if let failure, let turn, turn.failure == nil { fault(failure) }
    // If that cannot be noted the next prompt waits a little longer.
    if isWaiting, turn?.isTaken == true { try? book.close(now: Clock.unix) }
    if turn?.wantsAbort == true {
      stream.send(text: JoelclawDoor.abortFrame)
      turn?.aborted(clock: clock)
    }
    if turn?.phase == .queued, turn?.isFree == true { send() }
  }

  private func fault(_ reason: String) {
    listener?.chatLink(.fault("the gateway says: \(request.hide(reason))"))
  }

  private func tell(_ news: [ChatNews]) {
    for each in news { listener?.chatNews(each) }
    if let length = turn?.speech.length, !news.isEmpty {
      restAt = Clock.monotonic + TextPace.rest(after: length)
    }
  }

  /// Ends the question if it is over.
  private func settle() {
    guard let end = turn?.end else { return }
    tell(turn?.speech.rest(.now()) ?? [])
    turn = nil
    listener?.chatEnded(end.hiding(request.hide))
  }

  func list(_ list: ChatList, then: @escaping (Result<[[UInt8]], CallFailure>) -> Void) {
    lists.ask(list, place: place, now: Clock.monotonic, then: then)
  }
}

extension JoelclawChat: StreamHandler {
  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    listener?.chatLink(.open(place: place, isFirst: isFirst, down: down))
    turn?.opened(clock: Clock.monotonic)
  }

  func streamItem(_ item: StreamItem) {
    switch item {
    case .message(let message) where message.isText:
      do throws(Failure) {
        take(try JoelclawEvent(message.bytes))
      } catch {
        turn?.missed()
        listener?.chatLink(.fault("a frame that cannot be read: \(error.reason)"))
      }
    case .message: listener?.chatLink(.fault("a frame that is not text"))
    case .oversize(let bytes):
      turn?.missed()
      listener?.chatLink(.fault("a frame of \(bytes) bytes or more was dropped"))
    case .fault(let reason): listener?.chatLink(.fault(reason))
    case .event, .comment, .retry: break
    }
  }

  func streamLost(_ reason: String, wait: Double) {
    tell(turn?.lost(now: .now(), clock: Clock.monotonic) ?? [])
    listener?.chatLink(.lost(reason, wait: wait))
  }

  func streamEnded(_ end: StreamEnd, at place: String) {
    let problem = end.problem
    lists.fail(CallFailure(place, problem.line, problem.status))
    listener?.chatLink(.ended(problem))
    guard let turn else { return }
    tell(self.turn?.lost(now: .now(), clock: Clock.monotonic) ?? [])
    self.turn = nil
    listener?.chatEnded(turn.phase == .queued ? .refused(problem) : .lost(problem.line))
  }
}
