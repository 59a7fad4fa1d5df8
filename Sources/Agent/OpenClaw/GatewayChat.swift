import Core
import Records
import Turns
import Web

/// A line to an agent behind a gateway. A connection that is lost between question and answer
/// is taken up again: what was said is looked for before it is said again, with the same
/// key (Agent/OpenClaw/CONTRACT.md 2 and 6).
final class GatewayChat: ServedLink<ChatWaiter>, ChatLine {
  /// What a request was for.
  private enum Asked {
    case send, abort, history, manner
    /// The whole text of a row.
    case row(String)
    case ending(run: String)
    case list(String, ChatList, key: String)
  }

  private let server: AgentServer
  private var auth: GatewayAuth
  private var gateway: Gateway?
  private var end: ChatEnd?
  private var aborts = false
  private var listed: Result<[[UInt8]], Failure>?
  private let origin: RecordOrigin
  private var turn: GatewayTurn?
  /// The list that is to be fetched once the link is open.
  private var wanted: ChatList?
  /// The requests that are not answered yet.
  private var asked: [Int: Asked] = [:]
  private var question: ChatQuestion?
  /// The conversation that was begun for the first of the questions that wanted one of their own.
  private var made: String?
  private var lookAt = Double.infinity
  private var looks = 0
  /// What was found, the rows whose texts were fetched so far, and the list that it is for, nil for
  /// the answer to a question.
  private var cut: (history: GatewayHistory, rows: [String], list: ChatList?)?
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
    (self.question, turn, end, aborts, asked) = (question, nil, nil, false, [:])
    waiter.endsItself = true
    defer { waiter.endsItself = false }
    self.waiter = waiter
    if let hello = gateway?.hello { begin(hello) }
    serve(waiter) { () throws(LinkEnd) in try talk() }
    defer { end = nil }
    guard let end else { throw .over }
    return end
  }

  func rest(_ waiter: ChatWaiter) throws(LinkEnd) -> Never {
    serve(waiter) { () throws(LinkEnd) in try talk() }
    throw .over
  }

  let takes = Set(ChatManner.Part.allCases)

  func stop() { drop() }

  override func drop() {
    gateway = nil
    // What was to be listed is asked for again.
    for case .list(_, let list, _) in asked.values { wanted = list }
    wanted = cut?.list ?? wanted
    (asked, cut) = ([:], nil)
  }

  private func talk() throws(LinkEnd) -> Never {
    let gateway = try open()
    while true {
      switch try gateway.receive() {
      case .event(let event): hear(event)
      case .missed:
        if turn != nil {
          turn?.tear()
          look(for: turn)
        }
      case .reply(let number, let reply):
        if let what = asked.removeValue(forKey: number) { settle(what, reply) }
      case nil: break
      }
      if end != nil || listed != nil { throw .over }
    }
  }

  private func settle(_ what: Asked, _ reply: GatewayReply) {
    switch (what, reply) {
    case (.send, _): sent(reply)
    case (.manner, .refused(let error)): finish(.refused(Self.problem(error)))
    case (.manner, .late): finish(.refused(Failure("no answer came in time", .temporary)))
    case (.manner, .answer): if aborts { finish(.aborted(nil)) } else { send() }
    case (.abort, .refused(let error)): finish(.lost("the run goes on: \(error.line)"))
    case (.abort, _): break
    case (.history, .answer):
      if let turn { complete(GatewayHistory(reply.object, key: turn.thread), for: nil) }
    case (.history, .refused(let error)) where isTooLate(error): look(for: turn)
    case (.history, _): settle(.absent)
    case (.row(let id), _):
      guard var cut else { return }
      if let row = reply.object?["message"] { cut.history.receive(row, of: id) }
      complete(cut.history, without: cut.rows + [id], for: cut.list)
    case (.ending(let run), _): ended(run, reply)
    case (.list(_, let list, let key), .answer(let payload)):
      if case .history = list {
        complete(GatewayHistory(reply.object, key: key), for: list)
      } else {
        if case .threads = list, let words = GatewayLists.shortfall(reply.object) {
          waiter?.isCut = true
          fault(words, at: nil)
        }
        listed = .success(GatewayLists.rows(list, payload, reply, key: key, origin))
      }
    case (.list(_, let list, _), .refused(let error)) where isTooLate(error):
      if let gateway { fetch(list, gateway) }
    case (.list(let method, _, _), .refused(let error)):
      let problem = Self.problem(error)
      listed = .failure(Failure(method, problem.message, problem.status))
    case (.list(let method, _, _), .late):
      listed = .failure(Failure(method, "no answer came in time", .temporary))
    }
  }

  private func open() throws(LinkEnd) -> Gateway {
    if let gateway { return gateway }
    let made = try Gateway.connect(self, &auth, server)
    gateway = made
    opened(place)
    let rights: [(GatewayScope, String)] = [
      (.approvals, "needs approval"), (.questions, "asks a person"),
    ]
    for (scope, what) in rights where scope == .approvals || made.hello.asksQuestions {
      guard let words = auth.notGranted(scope) else { continue }
      waiter?.link(.note("\(words); what \(what) fails in the turns that are begun here"))
    }
    if let wanted { fetch(wanted, made) }
    begin(made.hello)
    return made
  }

  override func look() throws(LinkEnd) -> Double {
    let now = Clock.monotonic
    if waiter?.isAborted == true, !aborts {
      aborts = true
      abort()
    }
    if lookAt <= now {
      lookAt = .infinity
      look(for: turn)
    }
    if turn?.isBehind == true, restAt <= now { tell(turn?.rest() ?? []) }
    if endAt <= now { finish(turn?.isAborting == true ? .aborted(nil) : .lost("no end came")) }
    if end != nil || listed != nil { throw .over }
    return min(lookAt, endAt, turn?.isBehind == true ? restAt : .infinity)
  }

  private func ask(
    _ method: String, _ params: RecordText, for what: Asked,
    time: Double = Gateway.usualTime
  ) {
    if let gateway { asked[gateway.ask(method, params, time: time)] = what }
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

  // MARK: - Asking

  private func abort() {
    guard var turn, !turn.isAborting else {
      question = nil
      end = .aborted(nil)
      return
    }
    turn.isAborting = true
    self.turn = turn
    endAt = Clock.monotonic + Self.abortTime
    let params = RecordText().string("sessionKey", turn.thread).string("runId", turn.run)
    ask("chat.abort", params, for: .abort, time: Self.abortTime)
  }

  private func begin(_ hello: GatewayHello) {
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
      gateway?.ask("sessions.messages.subscribe", RecordText().string("key", turn.thread))
    }
    if turn.isSent || turn.question.mayBeSaid { look(for: turn) } else { prepare() }
  }

  /// Has the conversation answer as is wanted, and sends the words then: a level that is none would
  /// be passed over, and one that the model has not be answered like words.
  private func prepare() {
    guard let manner = turn?.question.manner, let thread = turn?.thread else { return }
    guard manner.model != nil || manner.thinking != nil else { return send() }
    guard gateway?.hello.knows("sessions.patch") == true else {
      let reason = "the gateway is too old for --model and --thinking"
      return finish(.refused(Failure(reason, .failure)))
    }
    let params = RecordText().string("key", thread).string("model", manner.model)
      .string("thinkingLevel", manner.thinking)
    ask("sessions.patch", params, for: .manner)
  }

  private func send() {
    guard let question = turn?.question, let thread = turn?.thread else { return }
    if let problem = gateway?.hello.problem(of: question.attachments) {
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
      .string("queueMode", question.manner.busy?.rawValue)
    ask("chat.send", params, for: .send)
  }

  private func sent(_ reply: GatewayReply) {
    guard turn != nil else { return }
    switch reply {
    case .late: if turn?.isTaken == false { look(for: turn) }
    case .refused(let error): finish(.refused(Self.problem(error)))
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
        look(for: turn)
      }
    }
  }

  static func problem(_ error: GatewayError) -> Failure {
    if error.isScope { return Failure(error.line, .denied) }
    let isLater = error.code == "UNAVAILABLE" || error.code == "AGENT_TIMEOUT" || error.isRetryable
    return Failure(error.line, isLater ? .temporary : .failure)
  }

  // MARK: - After a loss

  private func look(for turn: GatewayTurn?) {
    guard let turn, let hello = gateway?.hello else { return }
    guard hello.knows("chat.history") else { return settle(.absent) }
    let params = GatewayLists.history(turn.thread, count: Self.rows, isWhole: asksForAll)
    ask("chat.history", params, for: .history)
  }

  private var asksForAll: Bool { lateMembers.contains("maxChars") }

  /// Whether that is because the gateway is too old for a member, which is left out from now on.
  private func isTooLate(_ error: GatewayError) -> Bool {
    guard let index = lateMembers.firstIndex(where: error.names) else { return false }
    lateMembers.remove(at: index)
    return true
  }

  /// Fetches the texts that are not whole, and then takes the history for what it is.
  ///
  /// - Parameter tried: the rows that were fetched.
  private func complete(
    _ history: GatewayHistory, without tried: [String] = [], for list: ChatList?
  ) {
    var rows: [String] = []
    if case .history(_, _, let count)? = list {
      rows = history.cut(last: count)
    } else if let turn, case .answered(_, let cut) = history.trace(of: turn) {
      rows = cut
    }
    if let row = rows.first(where: { !$0.isEmpty && !tried.contains($0) }),
      gateway?.hello.knows("chat.message.get") == true
    {
      cut = (history, tried, list)
      let params = RecordText().string("sessionKey", history.key).string("messageId", row)
      return ask("chat.message.get", params, for: .row(row))
    }
    cut = nil
    guard case .history(_, _, let count)? = list else { return found(history) }
    if !rows.isEmpty {
      waiter?.isCut = true
      let what = rows.count == 1 ? "1 text is cut" : "\(rows.count) texts are cut"
      fault("\(what): the gateway gives no more of it", at: nil)
    }
    listed = .success(history.records(origin).suffix(count).map(\.bytes))
  }

  private func found(_ history: GatewayHistory) {
    guard let asked = turn, let (news, trace) = turn?.receive(history, now: .now()) else { return }
    tell(news)
    if case .answered(_, let cut) = trace, !cut.isEmpty {
      return finish(.lost("the answer is cut: the gateway does not give it whole"))
    }
    let isRunning =
      history.running?.id == asked.run || history.active?.contains(asked.run) == true
    settle(trace, isRunning: isRunning, isBusy: history.isBusy)
  }

  private func settle(
    _ trace: GatewayHistory.Trace, isRunning: Bool = false, isBusy: Bool = false
  ) {
    guard let turn else { return }
    if turn.end != nil, !turn.wantsText { return conclude() }
    if isRunning, turn.end == nil {
      // What streams does not heal it: what there is by now is looked for again.
      if turn.isTorn { lookLater() }
      return
    }
    if trace == .absent, !turn.isTaken { return prepare() }
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
    if gateway?.hello.knows("agent.wait") == true { askForEnd(turn.run) } else { lookLater() }
  }

  private func lookLater() { lookAt = Clock.monotonic + Self.lookWait }

  /// Nothing tells of an answer: a run may have failed, or ended in silence.
  private func askForEnd(_ run: String) {
    let params = RecordText().string("runId", run).number("timeoutMs", 100)
    ask("agent.wait", params, for: .ending(run: run))
  }

  private func ended(_ run: String, _ reply: GatewayReply) {
    guard turn?.run == run, turn?.wantsText == true || turn?.end == nil else { return }
    guard let ending = reply.object else { return lookLater() }
    switch ending["status"]?.string {
    case "error":
      let words = ["error", "summary", "errorMessage"].compactMap { ending[$0]?.string }
      tell(turn?.fail(words.first ?? "the run failed", now: .now()) ?? [])
    case "ok" where ending["terminalReply"]?["disposition"]?.string == "empty":
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
    listed = nil
    defer { listed = nil }
    if let gateway { fetch(list, gateway) } else { wanted = list }
    if listed == nil { serve(waiter) { () throws(LinkEnd) in try talk() } }
    if let listed { return listed }
    if let closed { return .failure(Failure(place, closed.message, closed.status)) }
    throw .over
  }

  private func fetch(_ list: ChatList, _ gateway: Gateway) {
    wanted = nil
    let (method, params, key) = GatewayLists.request(
      list, gateway.hello, isWhole: asksForAll,
      hasTitles: lateMembers.contains("includeDerivedTitles"))
    if let reason = GatewayLists.fault(key: key) {
      listed = .failure(Failure(place, reason, .failure))
    } else {
      ask(method, params, for: .list(method, list, key: key))
    }
  }

  private func hear(_ event: GatewayEvent) {
    guard let before = turn else { return }
    tell(turn?.receive(event, now: .now()) ?? [])
    guard let turn else { return }
    if turn.end != nil, !turn.wantsText { return conclude() }
    if turn.end != nil ? before.end == nil : turn.isTorn && !before.isTorn {
      look(for: turn)
    } else if turn.end != nil || turn.isTorn, event.name == "chat",
      event.member("state") == "final", event.member("sessionKey") == turn.thread
    {
      // The answer may be what another run has said.
      lookAt = min(lookAt, Clock.monotonic + Self.rowTime)
    }
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
