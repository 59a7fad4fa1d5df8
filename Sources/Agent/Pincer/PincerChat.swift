import Core
import Records
import Turns
import Web

/// A line to the agent of a Pincer server. A question is sent once, whatever happens
/// (Agent/Pincer/CONTRACT.md 4.3): what its own stream does not tell is found by watching the
/// thread behind the number at which it stood before.
final class PincerChat: ChatLine {
  /// How long nothing of an answer may come, in general and while a tool runs, seconds. A
  /// server ends a turn after 2 minutes, a tool after 15 at most.
  private static let (usualPatience, toolPatience) = (300.0, 1000.0)
  /// How long the last word of a turn that is over may be on its way, and how soon a turn goes on
  /// whose end came before its last action was done, seconds.
  private static let (lastWord, goesOn) = (2.0, 2.0)
  /// How long an approval waits where that is not said, seconds.
  private static let approvalLife = 86_400.0

  let place: String
  var knowsKeys: Bool { false }
  var hasPatience: Bool { true }
  /// Without a thread that is named it makes one anyway.
  var takes: Set<ChatManner.Part> { [.new] }
  private let calls: PincerCalls
  private let wishes: ChatWishes
  private let origin: RecordOrigin
  private var made: String?

  private var turn: PincerTurn?
  private var finder: PincerFinder
  /// When something of the answer came last, seconds of `Clock.monotonic`.
  private var lastNews = 0.0
  /// Whether the server says that the turn is over, and not how.
  private var isDead = false
  /// The turn's own stream, once the thread is watched.
  private var own: ConnectReply?

  init(_ agent: AgentAccess, _ wishes: ChatWishes) {
    self.wishes = wishes
    place = agent.backend.base.display
    origin = agent.origin(.pincer)
    calls = PincerCalls(agent.client, agent.backend)
    finder = PincerFinder(calls)
  }

  func ask(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd {
    let problem: String? =
      !question.attachments.isEmpty
      ? "a Pincer server takes no files"
      : question.agent != nil ? "a Pincer server has one agent, which has no name" : nil
    if let problem { return .refused(Failure(problem, .failure)) }
    (turn, lastNews) = (nil, Clock.monotonic)
    do throws(LinkEnd) {
      if let end = try prepare(question, waiter) { return end }
      finder = PincerFinder(calls)
      (lastNews, isDead) = (Clock.monotonic, false)
      if let end = try send(question, waiter) { return end }
      return try watch(waiter)
    } catch {
      guard waiter.isAborted else { throw error }
      // A turn cannot be ended from outside.
      if turn != nil { waiter.link(.fault("the turn goes on: a Pincer server ends none")) }
      return .aborted(nil)
    }
  }

  // MARK: - Asking

  /// Finds the thread, which is made if none is named, and the number of its last event. Nothing was
  /// sent yet: it may be tried again.
  private func prepare(
    _ question: ChatQuestion, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> ChatEnd? {
    let loop = ThreadLoop(self, waiter.client, wishes.policy)
    loop.serve(waiter) { () throws(LinkEnd) in
      var (thread, last): (String?, Int64?) = (question.thread ?? made, nil)
      let method: PincerMethod = thread == nil ? .createThread : .listThreadMessages
      if let thread {
        last = try calls.lastSequence(of: thread, loop)
      } else {
        let reply = try calls.get(method, RecordText(), loop).value
        (thread, last) = (reply.pincerWord("threadId"), reply.pincerNumber("lastSequence"))
      }
      guard let thread, let last else {
        throw .failed(Failure("\(method.name): the answer has no thread", .failure))
      }
      if question.thread == nil, made == nil {
        made = thread
        waiter.news(.thread(ThreadRecord(origin, id: thread, time: .now())))
      }
      loop.opened(place)
      turn = PincerTurn(question, origin, thread: thread, base: last)
      throw .over
    }
    if let end = loop.end { return end }
    if turn == nil { throw .over }
    return nil
  }

  /// Nil when its own stream does not tell all, and the thread is to be watched.
  private func send(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd? {
    guard let turn else { return nil }
    let message = RecordText().string("threadId", turn.thread)
      .string("clientMessageId", question.key).string("userText", question.text)
      .string("triggerType", "CHAT_MESSAGE")
    // Whether there was a connection for the question, and why it was not used then.
    var isSent = false
    var withheld: Failure?
    do throws(LinkEnd) {
      let reply = try calls.stream(.startTurn, message, waiter) {
        withheld = waiter.sends()
        isSent = withheld == nil
        return isSent
      }
      return try receive(reply, waiter)
    } catch {
      if let withheld { return .refused(withheld) }
      if let end { return end }
      switch error {
      case .lost(let reason, _) where !isSent: return .lost(reason)
      case .lost: return nil
      case .refused(let head, let body):
        let problem = calls.server.pincerProblem(head, body)
        let isRefused = problem.status != .temporary || head.status == 429
        return isRefused ? .refused(problem) : nil
      case .failed(let problem, _): return .refused(problem)
      default: throw error
      }
    }
  }

  private func receive(
    _ reply: ConnectReply, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> ChatEnd? {
    let silence = wishes.policy.idleTimeout ?? PincerBackend.usualSilence
    while true {
      // A connection may die without a word, and the turn does not end with it.
      let until = reply.lastHeard + silence
      switch try reply.receive(until: min(until, deadline)) {
      case .message(let message):
        try receive(message, isWatched: false, waiter)
        if let end { return end }
        if turn?.isPaused == true { return nil }
      case .oversize(let bytes): waiter.link(.fault("skipped an event of \(bytes) bytes"))
      case .end(let error?, let head):
        if turn?.id == nil, error.code.meansUndone {
          return .refused(calls.server.problem(of: error, head))
        }
        if error.code == .internal { die() }
        lastNews = Clock.monotonic
        return nil
      case .end(nil, _): return nil
      case nil:
        if let end = giveUp(waiter) { return end }
        // What the server gives up it tells there alone: it stays open beside the thread.
        if Clock.monotonic >= reply.lastHeard + silence {
          own = reply
          return nil
        }
      }
    }
  }

  /// Reads what has come of the turn's own stream, beside the thread.
  private func receiveOwn(_ waiter: ChatWaiter) throws(LinkEnd) {
    while let own, own.isReady {
      do throws(LinkEnd) {
        switch try own.receive(until: 0) {
        case .message(let message): try receive(message, isWatched: false, waiter)
        case .end(let error?, _):
          self.own = nil
          if error.code == .internal { die() }
        case .end(nil, _): self.own = nil
        case .oversize, nil: break
        }
      } catch {
        self.own = nil
        if case .over = error { throw error }
      }
    }
  }

  private func die() { (isDead, lastNews) = (true, Clock.monotonic) }

  private func watch(_ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd {
    guard let turn else { return .aborted(nil) }
    defer { own = nil }
    finder = PincerFinder(calls)
    var policy = wishes.policy
    policy.idleTimeout = policy.idleTimeout ?? PincerBackend.usualSilence
    let loop = ThreadLoop(self, waiter.client, policy)
    let watch = PincerWatch(loop, calls.server, thread: turn.thread, last: turn.base)
    loop.serve(waiter) { () throws(LinkEnd) in
      try watch.run { _, message throws(LinkEnd) in
        try receive(message, isWatched: true, waiter)
        if end != nil { throw .over }
      }
    }
    if let end = loop.end ?? self.end { return end }
    throw .over
  }

  private final class ThreadLoop: ServedLink<ChatWaiter> {
    private let chat: PincerChat
    private(set) var end: ChatEnd?

    init(_ chat: PincerChat, _ client: WebClient, _ policy: StreamPolicy) {
      self.chat = chat
      super.init(client, chat.place, policy, judge: chat.calls.server.pincerProblem)
    }

    override func look() throws(LinkEnd) -> Double {
      if let waiter { try chat.receiveOwn(waiter) }
      end = end ?? chat.end ?? chat.giveUp(waiter)
      if end != nil { throw .over }
      return chat.deadline
    }

    override func opened(_ place: String, isFirst: Bool, down: Double?) {
      // That the server is there was told before the words went out.
      if chat.turn == nil || down != nil {
        super.opened(place, isFirst: isFirst && chat.turn == nil, down: down)
      }
    }
    override func oversize(bytes: Int) { fault("skipped an event of \(bytes) bytes", at: nil) }
    override func ended(_ end: StreamEnd, at place: String) {
      guard chat.turn != nil else {
        self.end = .refused(end.problem)
        return
      }
      let problem = Failure("\(end.problem.message); the turn may go on", end.problem.status)
      self.end = problem.status == .denied ? .refused(problem) : .lost(problem.message)
    }
  }

  // MARK: - What comes

  /// `isWatched`: whether others' events come on the same stream.
  private func receive(
    _ message: [UInt8], isWatched: Bool, _ waiter: ChatWaiter
  ) throws(LinkEnd) {
    guard let turn, let event = try? JSONValue.parse(message) else { return }
    if turn.id == nil, isWatched {
      guard
        let found = try finder.found(
          message, thread: turn.thread, text: turn.question.text, waiter, until: deadline)
      else { return }
      self.turn?.claim(found.turn, message: found.message)
      for earlier in finder.events { try receive(earlier, isWatched: true, waiter) }
      return
    }
    if turn.id == nil {
      let turnID = event.pincerText("turnId")
      if !turnID.isEmpty { self.turn?.claim(turnID) }
    }
    guard let news = self.turn?.receive(message, event) else { return }
    lastNews = Clock.monotonic
    for each in news { waiter.news(each) }
  }

  // MARK: - The end

  private var end: ChatEnd? {
    guard let turn else { return nil }
    return turn.end ?? (turn.isPaused && !wishes.waits ? .paused(turn.waitsFor) : nil)
  }

  /// When the question is given up, seconds of `Clock.monotonic`.
  private var deadline: Double {
    guard let turn else { return lastNews + (wishes.patience ?? .infinity) }
    if turn.isStuck || isDead {
      return lastNews + min(Self.lastWord, wishes.patience ?? .infinity)
    }
    if turn.mayGoOn { return lastNews + Self.goesOn }
    if let patience = wishes.patience { return lastNews + patience }
    guard turn.isPaused else {
      return lastNews + (turn.isWorking ? Self.toolPatience : Self.usualPatience)
    }
    let left = turn.lastExpiry.map { Double($0.seconds) - Clock.unix } ?? Self.approvalLife
    return max(Clock.monotonic + left, lastNews) + Self.usualPatience
  }

  private func giveUp(_ waiter: ChatWaiter?) -> ChatEnd? {
    guard Clock.monotonic >= deadline else { return nil }
    guard let turn else {
      let seconds = Latency.seconds(wishes.patience ?? 0)
      return .lost("no answer of the server in \(seconds) s; nothing was sent")
    }
    if turn.mayGoOn {
      for each in self.turn?.settle() ?? [] { waiter?.news(each) }
      return end
    }
    if turn.isStuck {
      return .failed("an approval expired, and the server does not go on with the turn")
    }
    if isDead { return .lost("the turn is over, and how it ended is not said") }
    if turn.isPaused { return .paused(turn.waitsFor) }
    let usual = turn.isWorking ? Self.toolPatience : Self.usualPatience
    let seconds = Latency.seconds(wishes.patience ?? usual)
    let what = turn.id == nil ? "whether it arrived is not known" : "the turn may go on"
    return .lost("nothing of the answer came for \(seconds) s; \(what)")
  }
}

// MARK: - Lists

extension PincerChat {
  func list(
    _ list: ChatList, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    switch list {
    case .agents: return refused("a Pincer server has one agent, and no list")
    case .ending: return refused("a Pincer server ends no turn")
    case .threads:
      return try result { () throws(LinkEnd) in
        try calls.rows(.listThreads, waiter).compactMap { Self.thread($0, origin)?.bytes }
      }
    case .history(nil, _, _):
      return refused("name the thread with --thread; --threads lists them")
    case .history(let thread?, _, let count):
      var (rows, messages) = ([[UInt8]](), PincerMessages(calls, thread: thread))
      while let page = try messages.next(waiter) {
        switch page {
        case .success(let reply): rows += PincerPages.items(reply.bytes)
        case .failure(let refusal): return .failure(Failure(place, refusal.problem))
        }
      }
      let missing = messages.missing.filter { $0 > rows.count + messages.missing.count - count }
      for place in missing {
        waiter.link(
          .fault("message \(place) of thread \(thread): the server cannot send it: not UTF-8"))
      }
      return .success(
        rows.suffix(max(count - missing.count, 0)).compactMap {
          Self.message($0, thread, origin)?.bytes
        })
    }
  }

  private func refused(_ reason: String) -> Result<[[UInt8]], Failure> {
    .failure(Failure(place, reason, .failure))
  }

  private static func thread(_ row: [UInt8], _ origin: RecordOrigin) -> ThreadRecord? {
    guard let value = try? JSONValue.parse(row) else { return nil }
    guard let id = value.pincerWord("threadId") else { return nil }
    let last = value.pincerTime("updatedAt")
    var record = ThreadRecord(origin, id: id, time: last)
    record.title = value.pincerWord("title")
    record.messages = value.pincerNumber("messageCount").map(Int.init(clamping:))
    record.last = last
    return record
  }

  private static func message(
    _ row: [UInt8], _ thread: String, _ origin: RecordOrigin
  ) -> MessageRecord? {
    guard let value = try? JSONValue.parse(row) else { return nil }
    guard let id = value.pincerWord("messageId") else { return nil }
    return MessageRecord(
      origin, id: id, thread: thread,
      role: MessageRecord.Role(rawValue: value.pincerText("role")) ?? .system,
      text: value.pincerText("content"), state: .final, time: value.pincerTime("createdAt"))
  }
}

/// One question and how far the server is with it, as its thread tells
/// (Agent/Pincer/CONTRACT.md 4.1). No network, no clock.
struct PincerTurn {
  let question: ChatQuestion
  let thread: String
  let base: Int64
  private(set) var id: String?
  private(set) var end: ChatEnd?
  private(set) var isPaused = false
  private(set) var message: String?

  private let origin: RecordOrigin
  private var decoder = PincerTurns()
  private let fold: TurnFold
  private var scan = RecordScan()
  /// What a person is or was asked, also where the server could not propose it.
  private var actions: PincerActions
  /// The same as events propose it, in order.
  private var approvals: [String: ApprovalRecord.State] = [:]
  /// The calls of tools that run.
  private var running: Set<String> = []
  /// The numbers of the events that came: both streams bring the same ones.
  private var known: Set<Int64> = []

  init(_ question: ChatQuestion, _ origin: RecordOrigin, thread: String, base: Int64) {
    (self.question, self.origin, self.thread, self.base) = (question, origin, thread, base)
    fold = TurnFold(thread: thread)
    actions = PincerActions(origin, thread: thread)
  }

  // MARK: - What comes

  /// The turn that an event begins, and the message that it answers; nil for any other event.
  static func beginning(_ message: [UInt8]) -> (turn: String, message: String)? {
    var decoder = PincerTurns()
    guard
      let event = message.withUnsafeBytes({ decoder.event($0, origin: RecordOrigin(.pincer)) }),
      case .started(let message) = event.change, !event.turn.isEmpty
    else { return nil }
    return (event.turn, message)
  }

  mutating func claim(_ turn: String, message: String = "") {
    id = turn
    if !message.isEmpty { self.message = message }
  }

  /// Reads an event of the thread.
  ///
  /// - Returns: what it tells of this turn; nil for one that is of another, or came before.
  mutating func receive(_ message: [UInt8], _ event: JSONValue) -> [ChatNews]? {
    let turn = event.pincerText("turnId")
    // Behind an answer of a person, events name no turn until it goes on.
    if !turn.isEmpty, turn != id { return nil }
    if let number = event.pincerNumber("sequence"), number > 0, !known.insert(number).inserted {
      return nil
    }
    actions.receive(event)
    var events: [TurnEvent] = []
    message.withUnsafeBytes { bytes in
      guard let line = try? TurnLine(bytes, &scan) else { return }
      _ = decoder.decode(line, into: &events)
    }
    var news: [ChatNews] = []
    for var event in events {
      event.origin = origin
      if case .started(let message) = event.change, !turn.isEmpty {
        claim(turn, message: message)
        if let own = ownMessage(event.time) { news.append(.message(own)) }
      }
      for entity in fold.receive(event) where entity.turn == id {
        tell(entity, &news)
      }
    }
    return turn.isEmpty && news.isEmpty ? nil : news
  }

  private mutating func tell(_ entity: ConversationRecord, _ news: inout [ChatNews]) {
    note(entity)
    // What a model that failed leaves behind is no answer, and stands in the turn.
    if case .message(let record) = entity, record.role == .assistant,
      record.text.hasPrefix(PincerTurns.failing)
    {
      return
    }
    news.append(ChatNews(entity))
  }

  /// The end that came too early was the end after all.
  mutating func settle() -> [ChatNews] {
    let event = TurnEvent(
      origin, thread: thread, turn: id ?? "", time: nil, .completed(message: nil))
    var news: [ChatNews] = []
    for entity in fold.receive(event) where entity.turn == id { tell(entity, &news) }
    return news
  }

  private func ownMessage(_ time: Timestamp?) -> MessageRecord? {
    guard let message else { return nil }
    return MessageRecord(
      origin, id: message, thread: thread, turn: id, role: .user, text: question.text,
      state: .final,
      time: time)
  }

  private mutating func note(_ entity: ConversationRecord) {
    switch entity {
    case .turn(let record):
      isPaused = record.state == .paused
      end = end ?? record.end(ofFailure: "no reason is given")
    case .toolCall(let record):
      if record.state == .running { running.insert(record.id) } else { running.remove(record.id) }
    case .approval(let record): approvals[record.id] = record.state
    case .message, .thread: break
    }
  }

  // MARK: - What is waited for

  /// How much of a preview is told, characters.
  private static let longest = 200

  private var pending: [ApprovalRecord] { actions.records.filter { $0.state == .pending } }

  var waitsFor: String {
    let waiting = pending.map { approval in
      // What the model says of it is left out: it decides nothing.
      let request = try? JSONValue.parse(approval.request)
      let preview = request?["preview"].map { " " + $0.compact(limit: Self.longest) } ?? ""
      let risk = approval.risk.map { " (\($0))" } ?? ""
      return approval.tool + risk + preview + ", approval " + approval.id
    }
    return waiting.isEmpty ? "for what is not said" : waiting.joined(separator: "; ")
  }

  /// Nobody is asked any more, and one was not answered in time: the server does not go on.
  var isStuck: Bool {
    isPaused && pending.isEmpty && approvals.values.contains(.expired)
  }

  /// How many actions are open though its end was told; none when it may go on any time.
  private var openActions: Int? { id.flatMap { fold.openActions(of: $0) } }

  var isWorking: Bool { !running.isEmpty || (openActions ?? 0) > 0 }

  /// Whether its end came before its last action was done, so that it is likely to go on.
  var mayGoOn: Bool { openActions == 0 }

  var lastExpiry: Timestamp? { pending.compactMap(\.expires).max() }
}

/// Finds the turn that answers a question of which no answer came: among those that began
/// behind it in the thread, the first whose message has its words
/// (Agent/Pincer/CONTRACT.md 4.3).
struct PincerFinder {
  /// How much is kept until the turn is found, bytes.
  private static let most = 64 << 20
  /// How soon it is asked again what could not be had, seconds.
  private static let pause = 2.0

  private let calls: PincerCalls
  private(set) var events: [[UInt8]] = []
  private var size = 0

  init(_ calls: PincerCalls) { self.calls = calls }

  /// The turn that answers and the message, if it is this one; searches until `until`, monotonic.
  mutating func found(
    _ message: [UInt8], thread: String, text: String, _ waiter: Waiter,
    until: Double
  ) throws(LinkEnd) -> (turn: String, message: String)? {
    if size + message.count <= Self.most {
      events.append(message)
      size += message.count
    }
    guard let begin = PincerTurn.beginning(message), !begin.message.isEmpty else { return nil }
    while Clock.monotonic < until {
      if let isOurs = try has(begin.message, thread, text, waiter) {
        return isOurs ? begin : nil
      }
      let again = min(Clock.monotonic + Self.pause, until)
      while Clock.monotonic < again { try waiter.wait(until: again) }
    }
    return nil
  }

  /// Whether a message has the words; nil when that could not be found out now.
  private func has(
    _ id: String, _ thread: String, _ text: String, _ waiter: Waiter
  ) throws(LinkEnd) -> Bool? {
    var messages = PincerMessages(calls, thread: thread)
    while let page = try messages.next(waiter) {
      switch page {
      case .failure(let refusal): return refusal.problem.status == .temporary ? nil : false
      case .success(let reply):
        let items = reply.value.pincer("items")?.elements ?? []
        if let item = items.first(where: { $0.pincerText("messageId") == id }) {
          return item.pincerText("content").trimmed == text.trimmed
        }
      }
    }
    return false
  }
}
