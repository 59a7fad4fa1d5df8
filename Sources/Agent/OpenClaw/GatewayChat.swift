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

/// One question and what a gateway makes of it, as records (Agent/OpenClaw/CONTRACT.md 7): what is
/// told of its run, folded. A text with a hole in it is not told as final before it is whole again.
/// No network, no clock.
struct GatewayTurn {
  let question: ChatQuestion
  let thread: String
  let origin: RecordOrigin
  /// The run, which is the question's key unless the gateway says otherwise.
  var run: String
  /// When it was asked, milliseconds since 1970.
  let asked: Int64
  /// How old a row of the history may be to be the question, milliseconds since 1970. What
  /// the gateway knows by its key may have been said long ago.
  var since: Int64
  var isSent = false
  var isTaken = false
  var isAborting = false
  private(set) var end: ChatEnd?
  /// Whether a hole may have swallowed a piece of the text: what is appended to such a text is not
  /// to be trusted until something whole comes.
  private(set) var isTorn = false
  /// Whether there is more of it than the text, for all that is known.
  private var isShort = false
  private var decoder = OpenClawTurns()
  private let fold = TurnFold()
  private var pace = FoldPace()
  /// The reply, once there is any.
  private var reply: (any FoldedEntity)?
  /// Whether the fold knows of it.
  private var isTold = false
  /// What it asks a person.
  private var questions: Set<String> = []
  /// The end of a text that had a hole in it, told when that is whole.
  private var ending: TurnRecord?

  /// The longest text that is put together, bytes; what would pass it leaves a hole.
  static let mostBytes = 64 << 20
  /// The longest id of a call that is one, bytes.
  private static let longestID = 1024
  /// More than that is no run's.
  private static let mostQuestions = 1024

  init(
    _ question: ChatQuestion, thread: String, origin: RecordOrigin, asked: Int64, since: Int64
  ) {
    (self.question, self.thread, self.origin, self.asked) = (question, thread, origin, asked)
    run = question.key
    self.since = since
  }

  /// What was said so far.
  var text: String {
    if case .message(let record)? = reply?.entity { record.text } else { "" }
  }

  /// What failed or was stopped has said all that it will say.
  var wantsText: Bool { isTorn && (end == nil || end == .answered) }

  // MARK: - What comes

  /// Reads an event of the gateway; of another run it tells nothing.
  mutating func receive(_ event: GatewayEvent, now: Timestamp) -> [ChatNews] {
    if event.name.hasPrefix("question.") { return asks(event, now) }
    let isChat = event.name == "chat"
    guard isChat || event.name == "agent", event.member("runId") == run else { return [] }
    isTaken = true
    // Too deep to be read, and a piece of the text may have been in it.
    if isChat, event.object == nil { tear() }
    if isChat, end != nil { return [] }
    var events: [TurnEvent] = []
    decoder.decode(isChat ? .chat : .agent, event.payload, origin, now, into: &events)
    return events.flatMap { receive($0, isChat: isChat, now) }
  }

  /// What the run asks a person, and what comes of it, which does not say whose it is.
  private mutating func asks(_ event: GatewayEvent, _ now: Timestamp) -> [ChatNews] {
    let isOver = event.name == "question.resolved"
    guard let id = event.member("id"),
      isOver ? questions.contains(id) : event.member("runId") == run
    else { return [] }
    if !isOver, questions.count < Self.mostQuestions { questions.insert(id) }
    var events: [TurnEvent] = []
    decoder.decode(
      .approval(tool: AskedQuestion.tool, isOver: isOver), event.payload, origin, now,
      into: &events)
    return events.flatMap { tell($0, now) }
  }

  private mutating func receive(
    _ event: TurnEvent, isChat: Bool, _ now: Timestamp
  ) -> [ChatNews] {
    switch event.change {
    case .setTurn(let record, _) where record.state.isEnd:
      // The reply says how a run ended.
      if !isChat { return [] }
      end = record.end(ofFailure: "the run failed")
      // Without words its answer may be in another run; of just as many as a gateway sends there may
      // be more in the history (CONTRACT.md 3 and 6).
      if text.isEmpty || 0...1 ~= GatewayHistory.longestText - text.utf16.count {
        (isTorn, isShort) = (true, true)
      }
      if isTorn, end == .answered {
        ending = record
        return []
      }
    case .setToolCall(let call) where call.id.utf8.count > Self.longestID: return []
    case .setMessage(var record, var text) where record.id == run:
      record.time = now
      // It is told with its end.
      if text == .whole { (isTorn, isShort) = (false, false) }
      let isFull =
        text == .appended && self.text.utf8.count + record.text.utf8.count > Self.mostBytes
      if isFull { tear() }
      if text == .appended, isTorn { (text, isShort) = (.unchanged, true) }
      if record.state == .final, isTorn { return [] }
      if record.state == .failed || record.state == .aborted, reply == nil, text == .unchanged {
        text = .whole
      }
      var event = event
      event.change = .setMessage(record, text: text)
      return tell(event, now)
    default: break
    }
    return tell(event, now)
  }

  /// What an event of ours tells.
  private mutating func tell(_ event: TurnEvent, _ now: Timestamp) -> [ChatNews] {
    var changed: [any FoldedEntity] = []
    if !isTold {
      isTold = true
      var turn = TurnRecord(
        origin, id: run, thread: thread, state: .queued, time: Timestamp(milliseconds: asked))
      (turn.agent, turn.started) = (question.agent, now)
      fold.fold(TurnEvent(origin, thread: thread, time: turn.time, .setTurn(turn)), into: &changed)
      changed = []
    }
    var event = event
    (event.thread, event.time) = (thread, event.time ?? now)
    fold.fold(event, into: &changed)
    var news: [ChatNews] = []
    for entity in changed {
      switch entity.entity {
      case .message(let record) where record.id == run: reply = entity
      // What was said before a tool was used is told before it.
      case .toolCall: news += rest()
      // That a thought has ended is no news beside the end of the turn.
      case .message(let record) where record.role == .thinking && record.state.isEnd: continue
      default: break
      }
      if pace.isDue(entity) { news.append(tell(entity)) }
    }
    return news
  }

  private func tell(_ entity: any FoldedEntity) -> ChatNews {
    entity.marks.tell(size: entity.textSize)
    if case .toolCall(var call) = entity.entity, call.tool.isEmpty {
      call.tool = "tool"
      return .toolCall(call)
    }
    return ChatNews(entity.entity)
  }

  var isBehind: Bool { pace.isBehind }

  mutating func rest() -> [ChatNews] { pace.rest().map(tell) }

  // MARK: - After a loss

  mutating func tear() { if end == nil { (isTorn, isShort) = (true, true) } }

  mutating func fail(_ reason: String, now: Timestamp) -> [ChatNews] {
    if end != nil { return [] }
    end = .failed(reason)
    var (message, turn) = (message("", .failed, now), turn(.failed, now))
    (message.reason, turn.reason) = (reason, reason)
    return tell(.setMessage(message, text: reply == nil ? .whole : .unchanged), now)
      + tell(.setTurn(turn), now)
  }

  /// Reads what the session's history says.
  ///
  /// - Returns: what changed, and whether anything was found.
  mutating func receive(
    _ history: GatewayHistory, now: Timestamp
  ) -> (news: [ChatNews], trace: GatewayHistory.Trace) {
    if let running = history.running, running.id == run {
      isTaken = true
      if end != nil { return (mend(running.text, now), .said) }
      return (tell(.setTurn(turn(.running, now)), now) + reseat(running.text, now), .said)
    }
    let trace = history.trace(of: question, since: since)
    if trace != .absent || history.active?.contains(run) == true { isTaken = true }
    guard case .answered(let text, let cut) = trace else { return ([], trace) }
    if !cut.isEmpty {
      isTorn = true
      return (tell(.setMessage(message(text, .partial, now), text: .whole), now), trace)
    }
    if end != nil { return (mend(text, now), trace) }
    return (finish(text, now), trace)
  }

  /// Takes over the text so far from the session's history, where the stream has left a hole.
  /// Nobody can say whether what streams next is in it already: the hole stays until the
  /// stream brings something whole, so that nothing is doubled and nothing left out.
  private mutating func reseat(_ text: String, _ now: Timestamp) -> [ChatNews] {
    let known = self.text
    guard !text.isEmpty, isTorn || known.isEmpty else { return [] }
    isTorn = true
    if text.utf8.count >= known.utf8.count { isShort = false }
    // A text that streamed meanwhile is newer.
    if known.utf8.starts(with: text.utf8) { return [] }
    return tell(.setMessage(message(text, .partial, now), text: .whole), now)
  }

  /// A reply that ended with a hole in it gets its whole text.
  private mutating func mend(_ text: String, _ now: Timestamp) -> [ChatNews] {
    ending == nil ? [] : finish(text, now)
  }

  /// `isSilent`: the run said nothing at its end, for all that is known.
  mutating func conclude(isSilent: Bool, now: Timestamp) -> [ChatNews] {
    isShort && !isSilent ? [] : finish(text, now)
  }

  private mutating func finish(_ text: String, _ now: Timestamp) -> [ChatNews] {
    var turn = ending ?? turn(.completed, now)
    (ending, end, isTorn, isShort) = (nil, end ?? .answered, false, false)
    // An agent that chose silence said nothing.
    turn.message = text.isEmpty ? nil : run
    let said = text.isEmpty ? [] : tell(.setMessage(message(text, .final, now), text: .whole), now)
    return said + tell(.setTurn(turn), now)
  }

  private mutating func tell(_ change: TurnChange, _ now: Timestamp) -> [ChatNews] {
    tell(TurnEvent(origin, thread: thread, time: now, change), now)
  }

  private func turn(_ state: TurnRecord.State, _ now: Timestamp) -> TurnRecord {
    TurnRecord(origin, id: run, thread: thread, state: state, time: now)
  }

  private func message(
    _ text: String, _ state: MessageRecord.State, _ now: Timestamp
  ) -> MessageRecord {
    return MessageRecord(
      origin, id: run, thread: thread, turn: run, role: .assistant, text: text, state: state,
      time: now)
  }
}

/// The answer to `chat.history` (Agent/OpenClaw/CONTRACT.md 6).
struct GatewayHistory {
  let key: String
  /// Oldest first.
  private(set) var rows: [OpenClawRow]
  let running: (id: String, text: String)?
  /// The runs that are under way; nil where the gateway does not say.
  let active: [String]?
  /// Whether any is, or waits to be.
  let isBusy: Bool
  /// The rows that are no part of an answer.
  private let asides: Set<String>
  /// The longest text that a gateway gives of a row, where it is asked for more than it gives
  /// unasked.
  static let longestText = 500_000

  init(_ payload: JSONValue?, key: String) {
    self.key = payload?["sessionKey"]?.string ?? key
    let all = (payload?["messages"]?.elements ?? []).compactMap(OpenClawRow.init)
    (rows, asides) = (all.filter(\.isHeard), OpenClawRow.asides(all))
    let run = payload?["inFlightRun"]
    running = run?["runId"]?.string.map { ($0, run?["text"]?.string ?? "") }
    let info = payload?["sessionInfo"]
    let isActive = info?["hasActiveRun"]?.bool
    active = info?["activeRunIds"]?.elements.compactMap(\.string) ?? (isActive == false ? [] : nil)
    isBusy =
      isActive == true || running != nil || active?.isEmpty == false
      || payload?["pendingInputs"]?["total"]?.integer ?? 0 > 0
  }

  /// The rows whose texts are not whole, of the last so many; an id is empty where there is none.
  func cut(last count: Int) -> [String] {
    rows.suffix(count).filter(\.isCut).map { $0.id ?? "" }
  }

  /// Takes the whole of a row.
  mutating func receive(_ whole: JSONValue, of id: String) {
    guard let row = OpenClawRow(whole), !row.isCut else { return }
    for index in rows.indices where rows[index].id == id && rows[index].isCut {
      (rows[index].text, rows[index].isCut) = (row.text, false)
    }
  }

  func records(_ origin: RecordOrigin) -> [MessageRecord] {
    rows.enumerated().map { index, row in
      var record = MessageRecord(
        origin, id: row.id ?? "\(key)/\(row.time?.rfc3339 ?? "")/\(index)", thread: key,
        turn: row.run, role: row.role, text: row.text, state: .final, time: row.time)
      record.attachments = row.attachments
      return record
    }
  }

  enum Trace: Equatable {
    case absent
    case said
    /// What the agent said to it, and the rows of that whose texts are not whole, as of `cut`.
    case answered(String, cut: [String])
  }

  /// Looks for what was said under a key, or where rows have none, in these words since then,
  /// milliseconds since 1970, and for its answer: what the agent says behind it, which is whole
  /// once none of the runs that say it is under way.
  func trace(of turn: GatewayTurn) -> Trace { trace(of: turn.question, since: turn.since) }

  func trace(of question: ChatQuestion, since: Int64) -> Trace {
    let wanted = question.text.trimmed
    let index =
      rows.lastIndex { $0.role == .user && $0.key == question.key }
      ?? rows.lastIndex { row in
        row.role == .user && (row.key == nil ? row.text.trimmed == wanted : row.collects(wanted))
          && row.time.map { $0.milliseconds >= since } ?? true
      }
    guard let index else { return .absent }
    // What went into one run together is answered together.
    let target = rows[index].steered
    let said = rows[(index + 1)...].filter { !$0.isOwn }
      .drop { $0.role == .user && target != nil && $0.steered == target }
      .prefix { $0.role != .user }
      .filter { row in row.role == .assistant && !(row.id.map(asides.contains) ?? false) }
    let isGoingOn = said.contains { row in
      guard let run = row.run, let active else { return isBusy }
      return active.contains(run) || running?.id == run
    }
    if said.isEmpty || isGoingOn { return .said }
    return .answered(
      said.map(\.text).joined(separator: "\n\n"), cut: said.filter(\.isCut).map { $0.id ?? "" })
  }
}

extension OpenClawRow {
  /// Whether it holds these words among others that were said while the agent was at work: their
  /// own keys are gone (CONTRACT.md 6).
  fileprivate func collects(_ words: String) -> Bool {
    guard key?.hasPrefix("followup-collect:") == true else { return false }
    let whole = text.trimmed
    return whole.hasSuffix("\n\(words)") || whole.holds("\n\(words)\n\n---\nQueued #")
  }
}

extension Timestamp {
  /// Since 1970.
  var milliseconds: Int64 { seconds * 1000 + Int64(nanoseconds / 1_000_000) }
}
