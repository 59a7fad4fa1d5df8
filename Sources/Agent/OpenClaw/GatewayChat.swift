import Core
import Records
import Turns
import Web

/// A line to an agent behind a gateway. A connection that is lost between question and answer
/// is taken up again: what was said is looked for before it is said again, with the same
/// key (Agent/OpenClaw/CONTRACT.md 2 and 6).
final class GatewayChat: ServedLink<ChatWaiter>, ChatLine {
  private let server: AgentServer
  private let auth: GatewayAuth
  private var gateway: Gateway?
  private var end: ChatEnd?
  private var aborts = false
  private let origin: RecordOrigin
  private var turn: GatewayTurn?
  private var question: ChatQuestion?
  /// The requests whose replies nobody waits for in place: the words, and the wish that they end.
  private var (sending, aborting): (Int?, Int?)
  /// The conversation that was begun for the first of the questions that wanted one of their own.
  private var made: String?
  /// When the answer is looked for in what the gateway keeps.
  private var lookAt = Double.infinity
  private var looks = 0
  /// What an early gateway does not know, and is asked for until it says so: all of the texts of a
  /// history, and titles.
  private var lateMembers = ["maxChars", "includeDerivedTitles"]
  /// Which start of the gateway the question was sent to.
  private var boot: String?
  /// When it was started anew behind the question, seconds of `Clock.monotonic`; nil when it was not.
  private var restarted: Double?
  private var restAt = 0.0
  private var endAt = Double.infinity

  /// How often an answer is looked for that is not there, and how long apart, seconds.
  private static let (mostLooks, lookWait) = (5, 1.0)
  /// How long a gateway that was started anew may take until it goes on with what it was at, seconds.
  private static let recoveryTime = 60.0
  private static let rows = 50
  /// How long a run's end may be there before its row is, seconds.
  private static let rowTime = 0.05
  /// How long the end of an aborted run is waited for, seconds.
  private static let abortTime = 5.0

  init(
    _ client: WebClient, _ keys: GatewayKeys, isTalk: Bool, waits: Bool, origin: RecordOrigin,
    policy: StreamPolicy
  ) {
    let server = keys.server
    self.origin = origin
    self.server = server
    // What a run asks a person is asked in the name of whoever began it.
    auth = GatewayAuth(
      keys,
      GatewayAuth.Wishes(
        scopes: isTalk ? [.read, .write] : [.read], more: isTalk ? [.approvals, .questions] : [],
        caps: ["tool-events"], waitsForPairing: waits))
    super.init(client, server.base.socketDisplay, policy) { server.problem(of: $0, $1) }
  }

  // MARK: - The link

  func ask(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd {
    if let reason = GatewayLists.fault(thread: question.thread, agent: question.agent) {
      return .refused(Failure(reason, .failure))
    }
    if let closed { return .refused(closed) }
    (self.question, turn, end, aborts) = (question, nil, nil, false)
    (lookAt, endAt) = (.infinity, .infinity)
    // What the question before asked for is not this one's.
    (sending, aborting) = (nil, nil)
    waiter.endsItself = true
    defer {
      waiter.endsItself = false
      end = nil
    }
    serve(waiter) { () throws(LinkEnd) in try converse(open()) }
    guard let end else { throw .over }
    return end
  }

  func list(
    _ list: ChatList, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    switch list {
    case .history(let thread, let agent, _), .ending(let thread, let agent):
      if let reason = GatewayLists.fault(thread: thread, agent: agent) {
        return .failure(Failure(place, reason, .failure))
      }
    case .agents, .threads: break
    }
    var listed: Result<[[UInt8]], Failure>?
    serve(waiter) { () throws(LinkEnd) in
      listed = try fetch(list, open())
      throw .over
    }
    if let listed { return listed }
    if let closed { return .failure(Failure(place, closed.message, closed.status)) }
    throw .over
  }

  func rest(_ waiter: ChatWaiter) throws(LinkEnd) -> Never {
    serve(waiter) { () throws(LinkEnd) in
      let gateway = try open()
      while true { try hear(gateway) }
    }
    throw .over
  }

  let takes = Set(ChatManner.Part.allCases)

  func stop() { drop() }

  override func drop() { (gateway, sending, aborting) = (nil, nil, nil) }

  private func open() throws(LinkEnd) -> Gateway {
    if let gateway { return gateway }
    let made = try Gateway.connect(self, auth, server)
    gateway = made
    opened(place)
    let rights: [(GatewayScope, String)] = [
      (.approvals, "needs approval"), (.questions, "asks a person"),
    ]
    for (scope, what) in rights where scope == .approvals || made.hello.asksQuestions {
      guard let words = auth.notGranted(scope) else { continue }
      waiter?.link(.note("\(words); what \(what) fails in the turns that are begun here"))
    }
    return made
  }

  override func look() throws(LinkEnd) -> Double {
    let now = Clock.monotonic
    if waiter?.isAborted == true, !aborts {
      aborts = true
      abort()
    }
    if turn?.isBehind == true, restAt <= now { tell(turn?.rest() ?? []) }
    if endAt <= now { finish(turn?.isAborting == true ? .aborted(nil) : .lost("no end came")) }
    if end != nil { throw .over }
    return min(endAt, turn?.isBehind == true ? restAt : .infinity)
  }

  override func lost(_ reason: String, wait: Double) {
    turn?.tear()
    lookAt = .infinity
    super.lost(reason, wait: wait)
  }

  override func ended(_ outcome: StreamEnd, at place: String) {
    super.ended(outcome, at: self.place)
    let problem = outcome.problem
    if turn?.isSent == true {
      finish(.lost(problem.message))
    } else if turn != nil || question != nil {
      finish(.refused(problem))
    }
  }

  /// Waits for the reply to a request; what comes before it is heard.
  private func reply(
    _ gateway: Gateway, _ method: String, _ params: RecordText
  ) throws(LinkEnd) -> GatewayReply {
    let number = gateway.ask(method, params)
    while true {
      if let reply = try hear(gateway, for: number) { return reply }
    }
  }

  /// Hears what comes next; gives the reply to a request.
  @discardableResult
  private func hear(
    _ gateway: Gateway, for number: Int? = nil, until: Double = .infinity
  ) throws(LinkEnd) -> GatewayReply? {
    var found: GatewayReply?
    switch try gateway.receive(until: until) {
    case .event(let event): hear(event)
    case .missed where turn != nil:
      turn?.tear()
      lookAt = 0
    case .reply(let other, let reply) where other == number: found = reply
    case .reply(let other, let reply) where other == sending: sent(reply)
    case .reply(let other, .refused(let error)) where other == aborting:
      finish(.lost("the run goes on: \(error.line)"))
    case .missed, .reply, nil: break
    }
    if end != nil { throw .over }
    return found
  }

  private func hear(_ event: GatewayEvent) {
    guard let before = turn else { return }
    tell(turn?.receive(event, now: .now()) ?? [])
    guard let turn else { return }
    if turn.end != nil, !turn.wantsText { return conclude() }
    if turn.end != nil ? before.end == nil : turn.isTorn && !before.isTorn {
      lookAt = 0
    } else if turn.end != nil || turn.isTorn, event.name == "chat",
      event.member("state") == "final", event.member("sessionKey") == turn.thread
    {
      // The answer may be what another run has said.
      lookLater(Self.rowTime)
    }
  }

  // MARK: - Asking

  /// One question, from its words to the end of its answer, as far as this connection goes.
  private func converse(_ gateway: Gateway) throws(LinkEnd) -> Never {
    try begin(gateway)
    while end == nil {
      if lookAt <= Clock.monotonic {
        try look(gateway)
      } else {
        try hear(gateway, until: lookAt)
      }
    }
    throw .over
  }

  private func begin(_ gateway: Gateway) throws(LinkEnd) {
    let hello = gateway.hello
    if let question {
      let isFirst = question.isNew && self.made == nil
      if isFirst { self.made = "chat-\(question.key)" }
      let key = hello.sessionKey(
        thread: question.isNew ? self.made : question.thread, agent: question.agent)
      if let reason = GatewayLists.fault(key: key) {
        return finish(.refused(Failure(reason, .failure)))
      }
      self.question = nil
      if isFirst { waiter?.news(.thread(ThreadRecord(origin, id: key, time: .now()))) }
      (looks, restarted) = (0, nil)
      let now = Int64(Clock.unix * 1000)
      turn = GatewayTurn(
        question, thread: key, origin: origin, asked: now,
        since: hello.since(question.firstSaid?.milliseconds ?? now))
      turn?.isSent = question.firstSaid != nil
    }
    guard let turn else { return }
    // What another start took and did not write down is gone.
    if boot != hello.boot {
      self.turn?.isTaken = false
      restarted = boot == nil ? nil : Clock.monotonic
    }
    boot = hello.boot
    if hello.knows("sessions.messages.subscribe") {
      gateway.ask("sessions.messages.subscribe", RecordText().string("key", turn.thread))
    }
    if turn.isSent || turn.question.mayBeSaid { lookAt = 0 } else { try send(gateway) }
  }

  /// Has the conversation answer as is wanted, and sends the words then: a level that is none would
  /// be passed over, and one that the model has not be answered like words.
  private func send(_ gateway: Gateway) throws(LinkEnd) {
    guard let question = turn?.question, let thread = turn?.thread else { return }
    let manner = question.manner
    if manner.model != nil || manner.thinking != nil {
      guard gateway.hello.knows("sessions.patch") else {
        let reason = "the gateway is too old for --model and --thinking"
        return finish(.refused(Failure(reason, .failure)))
      }
      let params = RecordText().string("key", thread).string("model", manner.model)
        .string("thinkingLevel", manner.thinking)
      switch try reply(gateway, "sessions.patch", params) {
      case .refused(let error): return finish(.refused(error.failure))
      case .late: return finish(.refused(Failure("no answer came in time", .temporary)))
      case .answer: if aborts { return finish(.aborted(nil)) }
      }
    }
    if let problem = gateway.hello.problem(of: question.attachments) {
      return finish(.refused(problem))
    }
    if let problem = waiter?.sends() { return finish(.refused(problem)) }
    turn?.isSent = true
    let files = question.attachments.map { file in
      RecordText().string("fileName", file.name).string("mimeType", file.mediaType)
        .string("content", Base64.text(file.bytes)).bytes
    }
    let params = RecordText().string("sessionKey", thread).string("message", question.text)
      .string("idempotencyKey", question.key).list("attachments", files.isEmpty ? nil : files)
      .string("queueMode", manner.busy?.rawValue)
    sending = gateway.ask("chat.send", params)
  }

  private func sent(_ reply: GatewayReply) {
    guard turn != nil else { return }
    switch reply {
    case .late: if turn?.isTaken == false { lookAt = 0 }
    case .refused(let error): finish(.refused(error.failure))
    case .answer:
      turn?.isTaken = true
      let payload = reply.object
      if let run = payload?["runId"]?.string { turn?.run = run }
      if payload?["aborted"] != nil, payload?["runId"] == nil { return finish(.aborted(nil)) }
      switch payload?["status"]?.string {
      case "started", "accepted", nil: break
      case "error":
        let words = ["summary", "errorMessage", "error"].compactMap { payload?[$0]?.string }
        tell(turn?.fail(words.first ?? "the run failed", now: .now()) ?? [])
        conclude()
      // It was here before: what it has said so far is in the history.
      default:
        turn?.since = 0
        lookAt = 0
      }
    }
  }

  private func abort() {
    guard let turn, !turn.isAborting else {
      question = nil
      end = .aborted(nil)
      return
    }
    self.turn?.isAborting = true
    endAt = Clock.monotonic + Self.abortTime
    let params = RecordText().string("sessionKey", turn.thread).string("runId", turn.run)
    aborting = gateway?.ask("chat.abort", params, time: Self.abortTime)
  }

  // MARK: - After a loss

  private func look(_ gateway: Gateway) throws(LinkEnd) {
    lookAt = .infinity
    guard let thread = turn?.thread else { return }
    guard gateway.hello.knows("chat.history") else { return try settle(.absent, gateway) }
    let params = GatewayLists.history(thread, count: Self.rows, isWhole: asksForAll)
    let reply = try reply(gateway, "chat.history", params)
    switch reply {
    case .answer:
      var history = GatewayHistory(reply.object, key: thread)
      _ = try complete(&history, gateway) { [unowned self] history in
        guard let turn, case .answered(_, let cut) = history.trace(of: turn) else { return [] }
        return cut
      }
      try found(history, gateway)
    case .refused(let error) where isTooLate(error): lookAt = 0
    case .refused, .late: try settle(.absent, gateway)
    }
  }

  private var asksForAll: Bool { lateMembers.contains("maxChars") }

  /// Whether that is because the gateway is too old for a member, which is left out from now on.
  private func isTooLate(_ error: GatewayError) -> Bool {
    guard let index = lateMembers.firstIndex(where: error.names) else { return false }
    lateMembers.remove(at: index)
    return true
  }

  /// Fetches the texts of rows that are not whole, each once; gives those that stay so.
  private func complete(
    _ history: inout GatewayHistory, _ gateway: Gateway, _ cut: (GatewayHistory) -> [String]
  ) throws(LinkEnd) -> [String] {
    var tried: Set = [""]
    while gateway.hello.knows("chat.message.get"),
      let row = cut(history).first(where: { !tried.contains($0) })
    {
      tried.insert(row)
      let params = RecordText().string("sessionKey", history.key).string("messageId", row)
      let whole = try reply(gateway, "chat.message.get", params).object?["message"]
      if let whole { history.receive(whole, of: row) }
    }
    return cut(history)
  }

  private func found(_ history: GatewayHistory, _ gateway: Gateway) throws(LinkEnd) {
    guard let asked = turn, let (news, trace) = turn?.receive(history, now: .now()) else { return }
    tell(news)
    if case .answered(_, let cut) = trace, !cut.isEmpty {
      return finish(.lost("the answer is cut: the gateway does not give it whole"))
    }
    let isRunning =
      history.running?.id == asked.run || history.active?.contains(asked.run) == true
    try settle(trace, gateway, isRunning: isRunning, isBusy: history.isBusy)
  }

  private func settle(
    _ trace: GatewayHistory.Trace, _ gateway: Gateway, isRunning: Bool = false,
    isBusy: Bool = false
  ) throws(LinkEnd) {
    guard let turn else { return }
    if turn.end != nil, !turn.wantsText { return conclude() }
    if isRunning, turn.end == nil {
      // What streams does not heal it: what there is by now is looked for again.
      if turn.isTorn { lookLater() }
      return
    }
    if trace == .absent, !turn.isTaken { return try send(gateway) }
    // Its answer comes with another run, or in one that takes it up behind a restart.
    if isBusy { return lookLater() }
    looks += 1
    if turn.end != nil, looks > 1 {
      // A row that is to come comes soon.
      let isSilent = looks > Self.mostLooks && turn.text.isEmpty
      tell(self.turn?.conclude(isSilent: isSilent, now: .now()) ?? [])
      if self.turn?.wantsText == false { return conclude() }
    }
    if let restarted, Clock.monotonic < restarted + Self.recoveryTime { return lookLater() }
    if looks > Self.mostLooks {
      // With a hole in it is better than not at all, but it is not the answer.
      return finish(
        .lost(
          restarted == nil
            ? "the answer could not be found again"
            : "the gateway was started anew, and has not answered this: say it again"))
    }
    if gateway.hello.knows("agent.wait") { try askForEnd(turn.run, gateway) } else { lookLater() }
  }

  private func lookLater(_ wait: Double = lookWait) {
    lookAt = min(lookAt, Clock.monotonic + wait)
  }

  /// Nothing tells of an answer: a run may have failed, or ended in silence.
  private func askForEnd(_ run: String, _ gateway: Gateway) throws(LinkEnd) {
    let params = RecordText().string("runId", run).number("timeoutMs", 100)
    let ending = try reply(gateway, "agent.wait", params).object
    guard turn?.run == run, turn?.wantsText == true || turn?.end == nil else { return }
    switch ending?["status"]?.string {
    case "error":
      let words = ["error", "summary", "errorMessage"].compactMap { ending?[$0]?.string }
      tell(turn?.fail(words.first ?? "the run failed", now: .now()) ?? [])
    case "ok" where ending?["terminalReply"]?["disposition"]?.string == "empty":
      tell(turn?.conclude(isSilent: true, now: .now()) ?? [])
    default: break
    }
    if turn?.end != nil, turn?.wantsText == false { conclude() } else { lookLater() }
  }

  private func tell(_ news: [ChatNews]) {
    for each in news {
      waiter?.news(each)
      guard case .message(let message) = each else { continue }
      restAt = Clock.monotonic + TextPace.rest(after: message.text.utf8.count)
    }
  }

  private func conclude() { if let end = turn?.end { finish(end) } }

  private func finish(_ end: ChatEnd) {
    guard turn != nil || question != nil else { return }
    tell(turn?.rest() ?? [])
    turn = nil
    question = nil
    (lookAt, endAt) = (.infinity, .infinity)
    self.end = end.hiding(auth.mask.hide)
  }

  // MARK: - Lists

  private func fetch(
    _ list: ChatList, _ gateway: Gateway
  ) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    while true {
      let (method, params, key) = GatewayLists.request(
        list, gateway.hello, isWhole: asksForAll,
        hasTitles: lateMembers.contains("includeDerivedTitles"))
      if let reason = GatewayLists.fault(key: key) {
        return .failure(Failure(place, reason, .failure))
      }
      let reply = try reply(gateway, method, params)
      switch reply {
      case .answer(let payload):
        if case .history(_, _, let count) = list {
          return .success(try rows(GatewayHistory(reply.object, key: key), count, gateway))
        }
        if case .threads = list, let words = GatewayLists.shortfall(reply.object) {
          waiter?.isCut = true
          fault(words, at: nil)
        }
        return .success(GatewayLists.rows(list, payload, reply, key: key, origin))
      case .refused(let error) where isTooLate(error): continue
      case .refused(let error): return .failure(Failure(method, error.failure))
      case .late: return .failure(Failure(method, "no answer came in time", .temporary))
      }
    }
  }

  private func rows(
    _ history: GatewayHistory, _ count: Int, _ gateway: Gateway
  ) throws(LinkEnd) -> [[UInt8]] {
    var history = history
    let cut = try complete(&history, gateway) { $0.cut(last: count) }
    if !cut.isEmpty {
      waiter?.isCut = true
      let what = cut.count == 1 ? "1 text is cut" : "\(cut.count) texts are cut"
      fault("\(what): the gateway gives no more of it", at: nil)
    }
    return history.records(origin).suffix(count).map(\.bytes)
  }
}

enum GatewayLists {
  static func request(
    _ list: ChatList, _ hello: GatewayHello, isWhole: Bool, hasTitles: Bool
  ) -> (method: String, params: RecordText, key: String) {
    switch list {
    case .agents: return ("agents.list", RecordText(), "")
    case .threads:
      return (
        "sessions.list", sessions.bool("includeDerivedTitles", hasTitles ? true : nil), ""
      )
    case .history(let thread, let agent, let count):
      let key = hello.sessionKey(thread: thread, agent: agent)
      return ("chat.history", history(key, count: count, isWhole: isWhole), key)
    case .ending(let thread, let agent):
      let key = hello.sessionKey(thread: thread, agent: agent)
      return ("chat.abort", RecordText().string("sessionKey", key), key)
    }
  }

  /// What asks for the conversations: unasked, a gateway gives a hundred.
  static let sessions = RecordText().number("limit", 1000)

  /// What is wrong with a list that has a beginning alone; nil for a whole one.
  static func shortfall(_ payload: JSONValue?) -> String? {
    guard payload?["hasMore"]?.bool == true else { return nil }
    return "there are more than these: the gateway gives no more at a time"
  }

  /// - Parameter isWhole: whether its texts are wanted whole.
  static func history(_ key: String, count: Int, isWhole: Bool) -> RecordText {
    RecordText().string("sessionKey", key).number("limit", min(max(count, 1), 1000))
      .number("maxChars", isWhole ? GatewayHistory.longestText : nil)
  }

  /// The longest session key that a gateway takes, UTF-16 units.
  private static let longestKey = 512

  static func fault(key: String) -> String? {
    guard key.utf16.count > longestKey else { return nil }
    return "the thread's name is too long: its session key would have \(key.utf16.count)"
      + " characters, \(longestKey) at most"
  }

  static func fault(thread: String?, agent: String?) -> String? {
    guard let agent, let thread, let owner = GatewayKey(thread)?.agent,
      owner != GatewayKey.agent(agent)
    else {
      return nil
    }
    return "the thread \(thread) is of the agent \(owner), not of \(agent)"
  }

  static func rows(
    _ list: ChatList, _ payload: ScanValue, _ reply: GatewayReply, key: String,
    _ origin: RecordOrigin
  ) -> [[UInt8]] {
    switch list {
    case .agents: return elements("agents", in: payload)
    case .threads: return threads(reply.object, origin).map(\.bytes)
    case .history: return []
    case .ending:
      let runs = reply.object?["runIds"]?.elements.compactMap(\.string) ?? []
      return runs.map {
        TurnRecord(origin, id: $0, thread: key, state: .aborted, time: .now()).bytes
      }
    }
  }

  static func elements(_ name: String, in payload: ScanValue) -> [[UInt8]] {
    var list = payload
    if payload.isObject {
      list = (try? ScanMembers.value(of: name, in: payload.bytes)) ?? .absent
    }
    // White space of an object that was written over several lines.
    return (Answer.elements(Array(list.bytes)) ?? []).map { row in
      row.map { $0 == 10 || $0 == 13 ? 32 : $0 }
    }
  }

  static func threads(_ payload: JSONValue?, _ origin: RecordOrigin) -> [ThreadRecord] {
    let rows = payload?["sessions"]?.elements ?? payload?.elements ?? []
    return rows.compactMap { row in
      guard let key = row[either: "key", "sessionKey"]?.string else { return nil }
      let time = row[either: "updatedAt", "lastActivityAt"]?.instant
      var thread = ThreadRecord(origin, id: key, time: time)
      thread.title = row[either: "displayName", "label", "derivedTitle", "title", "subject"]?.string
      thread.agent = row["agentId"]?.string ?? GatewayKey(key)?.agent
      thread.messages = row["messageCount"]?.integer.map(Int.init(clamping:))
      thread.last = time
      if let archived = row["archived"]?.bool { thread.state = archived ? .archived : .active }
      return thread
    }
  }
}
