import CLibc
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
  private var lock: LockFile?
  /// What is asked beside a prompt, the name of the conversation or the end of what the agent is at,
  /// and what came of it.
  private var (wanted, listed): (ChatList?, Result<[[UInt8]], Failure>?)
  private var listPace = StatusPace()
  /// When it is given up, seconds of `Clock.monotonic`.
  private var listLimit = Double.infinity
  private var ending: JoelclawStatus.Request?
  /// How long is waited for a status, where the user gives no time, and for the end of what the
  /// agent is at; seconds.
  private static let (listTime, abortTime) = (10.0, 5.0)
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
    let reason: String? =
      switch list {
      case .agents: "a joelclaw gateway has one agent, and no list"
      case .history: "a joelclaw gateway shows no history"
      case .ending(let thread, let agent) where thread != nil || agent != nil:
        "a joelclaw gateway has one agent and one conversation"
      case .threads, .ending: nil
      }
    if let reason { return .failure(Failure(place, reason, .failure)) }
    (wanted, listed, ending, listLimit) = (list, nil, nil, .infinity)
    listPace.begin(Clock.monotonic, after: 0)
    defer {
      (wanted, listed) = (nil, nil)
      listPace.stop()
    }
    serve(waiter) { () throws(LinkEnd) in try talk() }
    if let listed { return listed }
    if let closed { return .failure(Failure(place, closed.message, closed.status)) }
    throw .over
  }

  /// Takes a status for what is asked; whether the agent is to be told to end what it is at.
  private func answerList(_ status: JoelclawStatus) -> Bool {
    guard let list = wanted, listed == nil else { return false }
    listPace.answered(Clock.monotonic)
    guard case .ending = list else {
      let threads = status.session.map { [ThreadRecord(origin, id: $0, time: .now()).bytes] }
      listed = .success(threads ?? [])
      return false
    }
    if let ending {
      if status.active?.id == ending.id { return false }
      let record = TurnRecord(
        origin, id: ending.id, thread: status.session ?? "gateway", state: .aborted, time: .now())
      listed = .success([record.bytes])
      return false
    }
    guard let active = status.active else {
      listed = .success([])
      return false
    }
    (ending, listLimit) = (active, Clock.monotonic + Self.abortTime)
    listPace.begin(Clock.monotonic)
    return true
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
      let until = min(listPace.due, turn?.pace.due ?? .infinity)
      switch try JoelclawBackend.receive(socket, idle: idle, until: until) {
      case .message(let message) where message.isText: receive(message.bytes, socket)
      case .message: fault("a frame that is not text", at: nil)
      case .oversize(let bytes):
        turn?.missed()
        fault("a frame of \(bytes) bytes or more was dropped", at: nil)
      case nil: continue
      }
      if end != nil || listed != nil { throw .over }
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
    if wanted != nil, listed == nil, now >= listLimit {
      let words = ending == nil ? "no status came in time" : "the agent goes on with what it is at"
      listed = .failure(Failure(place, words, .temporary))
    }
    if end != nil || listed != nil { throw .over }
    var due = wanted == nil ? .infinity : listLimit
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
    socket.send(text: JoelclawBackend.frame("prompt", text: text))
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
    guard min(turn?.pace.due ?? .infinity, listPace.due) <= now else { return }
    turn?.pace.asked(now)
    listPace.asked(now)
    if wanted != nil, listLimit == .infinity {
      listLimit = now + (wishes.patience ?? Self.listTime)
    }
    socket.send(text: JoelclawBackend.frame("status"))
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
    if answerList(status) {
      socket.send(text: JoelclawBackend.frame("abort"))
    }
    let isWaiting = turn?.phase == .sent
    tell(turn?.receive(status, now: now, clock: clock) ?? [])
    if let failure, let turn, turn.failure == nil { complain(failure) }
    // If that cannot be noted the next prompt waits a little longer.
    if isWaiting, turn?.isTaken == true { try? book.close(now: Clock.unix) }
    if turn?.wantsAbort == true {
      socket.send(text: JoelclawBackend.frame("abort"))
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

/// The digests of what was sent to a gateway in the last two minutes, and when. A gateway drops
/// the same words in silence for so long (CONTRACT.md 4).
struct PromptBook {
  private let file: StateFile
  private let lockPath: String

  private struct Entry {
    let time: Double
    let digest: String
  }

  /// How long the same words are dropped, seconds.
  static let memory = 120.0

  /// Stands for a digest where a prompt was sent that was not seen to begin.
  private static let open = "open"

  init(of address: WebAddress, in folders: Folders = Folders()) throws(Failure) {
    let folder = Folders.join(folders.state, "joelclaw")
    try Folders.make(folder)
    let name = Self.digest(Self.name(of: address)).prefix(16)
    file = StateFile(path: Folders.join(folder, "prompts-" + name))
    lockPath = Folders.join(folder, "lock-" + name)
  }

  static func name(of address: WebAddress) -> String {
    var host = address.host[...]
    if host.hasSuffix(".") { host = host.dropLast() }
    if host == "[::1]" || host.hasPrefix("127.") || host.hasPrefix("[::ffff:127.") {
      host = "localhost"
    }
    return "\(host):\(address.port)"
  }

  /// The right to have a prompt in flight: two processes destroy each other's (CONTRACT.md 4).
  func turn() throws(Failure) -> LockFile? { try LockFile(lockPath, patience: 0) }

  /// Whether a prompt was sent and nobody saw it begin: it may wait in the gateway.
  func isOpen(now: Double) throws(Failure) -> Bool {
    try entries(now).contains { $0.digest == Self.open }
  }

  func close(now: Double) throws(Failure) {
    try write(try entries(now).filter { $0.digest != Self.open })
  }

  /// How long ago the same words (white space aside) were sent, seconds; nil: forgotten.
  func age(of text: String, now: Double) throws(Failure) -> Double? {
    let digest = Self.digest(text)
    return try entries(now).filter { $0.digest == digest }.map { max(now - $0.time, 0) }.min()
  }

  func add(_ text: String, now: Double) throws(Failure) {
    let others = try entries(now).filter { $0.digest != Self.open }
    try write(others + [Self.digest(text), Self.open].map { Entry(time: now, digest: $0) })
  }

  private func write(_ entries: [Entry]) throws(Failure) {
    let lines = entries.map { "\(Int64($0.time * 1000)) \($0.digest)\n" }
    try file.replace(with: Array(lines.joined().utf8))
  }

  /// The text with a mark that makes other words of it.
  func marked(_ text: String, now: Double) throws(Failure) -> String {
    var number = 1
    while true {
      let other = text + (number == 1 ? " (again)" : " (again \(number))")
      if try age(of: other, now: now) == nil { return other }
      number += 1
    }
  }

  private func entries(_ now: Double) throws(Failure) -> [Entry] {
    let text = String(decoding: try file.read() ?? [], as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 2, let time = Int64(words[0]).map({ Double($0) / 1000 }) else {
        return nil
      }
      // The clock may have been set back.
      let age = now - time
      return abs(age) < Self.memory ? Entry(time: time, digest: String(words[1])) : nil
    }
  }

  private static func digest(_ text: String) -> String {
    let folded = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return sha256(folded.utf8).hex
  }
}
