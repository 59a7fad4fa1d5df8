import Core
import Records
import Turns
import Web

/// A line to a gateway that asks a person before it runs something
/// (Agent/OpenClaw/CONTRACT.md 8). What waits is listed at each greeting and followed in
/// between: a gateway gives up at once what nobody listens to.
final class GatewayApprovals: AnsweringLink {
  /// What a request was for.
  private enum Asked {
    case list(ApprovalBook.Kind)
    case resolve(String)
    case look(String)
    /// What has become of one that is not listed.
    case unlisted(String)
  }

  private let server: AgentServer
  private let auth: GatewayAuth
  private var gateway: Gateway?
  private let book: ApprovalBook
  /// The requests that are not answered yet.
  private var asked: [Int: Asked] = [:]
  /// Approvals that the gateway says to be over: until when the event that tells more is waited
  /// for, seconds of `Clock.monotonic`.
  private var gone: [String: Double] = [:]
  private var listing = 0
  /// Whether another list is to follow, for something was missed.
  private var listsAgain = false
  /// Whether it was said what is not seen.
  private var hasSaid = false
  /// When it was listed, seconds of `Clock.monotonic`.
  private var listedAt = -Double.infinity

  /// What expires is looked for so long after its time, and not more often, seconds.
  private static let (grace, pause) = (0.5, 2.0)
  /// How long the event is waited for that says who was faster, seconds.
  private static let patience = 1.0

  init(
    _ client: WebClient, _ keys: GatewayKeys, _ wishes: ApprovalWishes,
    origin: RecordOrigin, policy: StreamPolicy
  ) {
    let server = keys.server
    self.server = server
    book = ApprovalBook(origin)
    // Once a gateway has granted that, nothing more is to be asked for.
    let seesAll = wishes.isAll || keys.tokens.allows(.admin)
    auth = GatewayAuth(
      keys,
      GatewayAuth.Wishes(
        scopes: [.read, .approvals] + (wishes.isAll ? [.admin] : []),
        more: (seesAll && !wishes.isAll ? [.admin] : []) + [.questions],
        caps: ["approvals", "exec-approvals", "plugin-approvals"],
        waitsForPairing: wishes.waits))
    super.init(client, server.base.socketDisplay, origin, policy) { server.problem(of: $0, $1) }
  }

  override var count: Int { book.asked }
  override var isReady: Bool { gateway != nil && listing == 0 }

  override func follow(_ waiter: ApprovalWaiter) {
    serve(waiter) { () throws(LinkEnd) in
      let gateway = try open()
      while true {
        switch try gateway.receive() {
        case .event(let event): hear(event)
        case .missed: list()
        case .reply(let number, let reply):
          if let what = asked.removeValue(forKey: number) { try settle(what, reply) }
        case nil: break
        }
      }
    }
  }

  override func stop() { drop() }

  override func drop() {
    gateway = nil
    asked = [:]
    (listing, listsAgain) = (0, false)
    book.dropList()
    loseReplies()
  }

  private func open() throws(LinkEnd) -> Gateway {
    if let gateway { return gateway }
    let made = try Gateway.connect(self, auth, server)
    gateway = made
    opened(place)
    let shortfall = auth.notGranted(.questions)
    if made.hello.asksQuestions, let shortfall {
      waiter?.link(.note("\(shortfall); what agents ask a person is not seen"))
    }
    // Older gateways show all to whoever may answer.
    if made.hello.methods.contains("approval.history"),
      made.hello.scopes?.contains(GatewayScope.admin.rawValue) == false, !hasSaid
    {
      hasSaid = true
      waiter?.link(
        .note(
          "only what runs of this device ask is seen: --all shows what the TUI, the clock and other"
            + " devices ask, for which the gateway grants operator.admin"))
    }
    list()
    return made
  }

  override func look() throws(LinkEnd) -> Double {
    let now = Clock.monotonic
    let expiry = nextCheck(now)
    if expiry <= now { list() }
    return min(try super.look(), expiry <= now ? .infinity : expiry)
  }

  /// A gateway tells nobody what has expired; seconds of `Clock.monotonic`.
  private func nextCheck(_ now: Double) -> Double {
    guard listing == 0, gateway != nil, let time = book.nextExpiry else { return .infinity }
    let left = Double(time.seconds) + Double(time.nanoseconds) / 1e9 - Clock.unix + Self.grace
    // By the clock of another machine it may wait still: the longer, the less often.
    return max(now + left, listedAt + max(Self.pause, -left))
  }

  // MARK: - What waits

  private func list() {
    guard let gateway else { return }
    if listing > 0 {
      listsAgain = true
      return
    }
    listsAgain = false
    listedAt = Clock.monotonic
    let kinds = ApprovalBook.Kind.allCases.filter {
      $0 == .exec || gateway.hello.methods.contains($0.list)
    }.filter { $0 != .question || gateway.hello.grants(.questions) }
    listing = kinds.count
    book.beginList()
    for kind in kinds { asked[gateway.ask(kind.list)] = .list(kind) }
  }

  private func listed() {
    listing -= 1
    guard listing == 0 else { return }
    for gone in book.endList(now: .now()) { waiter?.changed(gone) }
    waiter?.listed()
    if listsAgain { list() } else { settle() }
  }

  private func hear(_ event: GatewayEvent) {
    guard let kind = ApprovalBook.Kind(event: event.name) else { return }
    var changed: ApprovalRecord?
    if event.name.hasSuffix(".requested") {
      changed = book.receive(kind, requested: event.payload)
    } else if event.name.hasSuffix(".resolved") {
      changed = book.receive(kind, resolved: event.payload, now: .now())
    }
    if let changed { waiter?.changed(changed) }
    settle()
  }

  private func settle(_ what: Asked, _ reply: GatewayReply) throws(LinkEnd) {
    switch (what, reply) {
    case (.list(let kind), .answer(let payload)):
      for approval in book.receive(kind, list: payload) { waiter?.changed(approval) }
      listed()
    case (.list(.exec), .refused(let error)):
      waiter?.failed(Failure(ApprovalBook.Kind.exec.list, error.failure))
    case (.list(let kind), .refused(let error)):
      waiter?.link(.fault("\(kind.list): \(error.line)"))
      listed()
    case (.list, .late): throw .lost("the list of approvals did not come")
    case (.resolve(let id), _), (.look(let id), _), (.unlisted(let id), _):
      guard let answer = answer(to: id) else { return }
      switch (what, reply) {
      case (.resolve, _): settle(id, fate(of: answer, reply))
      case (.unlisted, .refused): settle(id, .ended(.notFound, nil))
      case (.unlisted, .answer):
        settle(
          id,
          fate(of: answer, known: Self.approval(reply))
            ?? .ended(.notFound, "it waits, and is not for this device to answer"))
      default: settle(id, fate(of: answer, known: reply))
      }
      settle()
    }
  }

  // MARK: - Answers

  /// The gateway's word for what denies, and ours for what cancels a question.
  private static let no = "deny"

  private static func cancels(_ decision: ApprovalDecision) -> Bool {
    decision.answers.isEmpty && decision.decision == no
  }

  /// The gateway's word for a decision; to a question all but one are answers, as they are chosen.
  override func word(_ decision: ApprovalDecision) -> String {
    if book.kind(of: decision.id) == .question {
      let questions = book.questions(of: decision.id)
      guard !Self.cancels(decision),
        let words = try? AskedQuestion.answers(decision, to: questions)
      else { return decision.decision }
      return AskedQuestion.line(words)
    }
    return switch decision.decision {
    case "approve", "approved", "yes": "allow-once"
    case "reject", "rejected", "denied", "no": Self.no
    default: decision.decision
    }
  }

  override func send(_ answer: GivenAnswer) -> AnswerFate? {
    guard let gateway else { return .later(.infinity) }
    let id = answer.decision.id
    let kind = book.kind(of: id)
    if kind == .question, !gateway.hello.grants(.questions) {
      return .ended(.refused, "the gateway does not grant \(GatewayScope.questions.rawValue)")
    }
    switch book.fate(of: id) {
    case .over(let decision?, _): return fate(of: answer, decided: decision)
    case .over(nil, let reason) where answer.tries == 0: return .ended(.late, reason)
    case .over(nil, let reason): return .unclear(reason ?? "it was over")
    case .unknown where answer.tries > 0: return .unclear("it is not listed")
    case .unknown where book.complete > answer.born:
      // A late gateway knows those that are over, and who was first.
      let method = kind == .question ? "question.get" : "approval.get"
      guard gateway.hello.methods.contains(method) else { return .ended(.notFound, nil) }
      asked[gateway.ask(method, RecordText().string("id", id))] = .unlisted(id)
      return nil
    case .unknown:
      if book.asked <= answer.born { list() }
      return .later(.infinity)
    case .waits(let approval):
      if let until = gone[id] {
        if until > Clock.monotonic { return .later(until) }
        gone[id] = nil
        let reason = "answered elsewhere, or expired"
        if let record = book.expire(id, reason, now: .now()) { waiter?.changed(record) }
        return answer.tries > 1 ? .unclear(reason) : .ended(.late, reason)
      }
      if kind == .question { return reply(answer, gateway) }
      // Whoever answers a question, and names another id, allows nothing by that.
      guard answer.decision.answers.isEmpty else { return .ended(.refused, "it is no question") }
      guard approval.decisions.contains(answer.word) else {
        let words =
          approval.decisions.isEmpty
          ? "no answer" : approval.decisions.joined(separator: ", ")
        return .ended(.refused, "the gateway takes: \(words)")
      }
    }
    var method = "\(kind.rawValue).approval.resolve"
    var params = RecordText().string("id", id)
    // Where there is one for all kinds it also says who was faster.
    if gateway.hello.methods.contains("approval.resolve") {
      method = "approval.resolve"
      params = params.string("kind", kind.rawValue)
    }
    asked[gateway.ask(method, params.string("decision", answer.word))] = .resolve(id)
    return nil
  }

  /// Answers a question, in the name of this suite: whoever is later hears who was first.
  private func reply(_ answer: GivenAnswer, _ gateway: Gateway) -> AnswerFate? {
    let id = answer.decision.id
    var params = RecordText().string("id", id)
    if Self.cancels(answer.decision) {
      params = params.bool("cancel", true)
    } else {
      do throws(Failure) {
        let questions = book.questions(of: id)
        let words = try AskedQuestion.answers(answer.decision, to: questions)
        let members = zip(questions, words).reduce(RecordText()) { $0.strings($1.0.id, $1.1) }
        params = params.object("answers", RecordText().object("answers", members))
      } catch {
        return .ended(.refused, error.reason)
      }
    }
    asked[gateway.ask("question.resolve", params.string("resolvedBy", "agent-approve"))] =
      .resolve(id)
    return nil
  }

  /// The reply to an answer may be of another approval, or say something else than what was
  /// decided.
  private func fate(of answer: GivenAnswer, _ reply: GatewayReply) -> AnswerFate {
    let id = answer.decision.id
    switch reply {
    case .late: return .unclear("no reply came in time")
    case .refused(let error):
      let isGone =
        ["APPROVAL_NOT_FOUND", "QUESTION_NOT_FOUND", "QUESTION_ALREADY_TERMINAL"]
        .contains { [error.code, error.detail, error.reason].contains($0) }
        || error.message.lowercased().holds("unknown or expired")
      guard isGone else { return .ended(.refused, error.line) }
      // Somebody else was faster, or it was too late. The event that says which may be on
      // its way.
      let until = Clock.monotonic + Self.patience
      gone[id] = until
      return .later(until)
    case .answer: break
    }
    let object = reply.object
    if book.kind(of: id) == .question {
      book.decide(id, answer.word)
      return .ended(.accepted, nil)
    }
    let approval = object?["approval"]?.isObject == true ? object?["approval"] : object
    let named = [object?["id"]?.text, approval?["id"]?.text].compactMap { $0 }
    if let other = named.first(where: { $0 != id }) {
      return .ended(.unknown, "the reply is about another approval: \(other)")
    }
    if object?["ok"]?.bool == false || approval?["ok"]?.bool == false {
      let reason = object?["reason"]?.string ?? "the gateway says that it is not done"
      return .ended(.refused, reason)
    }
    let decision = approval?["decision"]?.string
    let status = approval?["status"]?.string ?? ""
    if object?["applied"]?.bool == false || decision ?? answer.word != answer.word {
      return fate(of: answer, known: approval) ?? .ended(.late, "it was over")
    }
    let others = answer.word == "deny" ? ["allowed", "approved"] : ["denied", "rejected"]
    if status == "pending" { return .unclear("it waits still") }
    if (others + ["expired", "cancelled"]).contains(status) {
      return fate(of: answer, decided: status)
    }
    book.decide(id, answer.word)
    let isUnheard = answer.decision.reason?.isEmpty == false
    return .ended(.accepted, isUnheard ? "a gateway takes no reason: yours was not sent" : nil)
  }

  override func look(for answer: GivenAnswer) -> AnswerFate? {
    let id = answer.decision.id
    let kind = book.kind(of: id)
    let methods = gateway?.hello.methods ?? []
    let all =
      kind == .question ? ["question.get"] : ["approval.get", "\(kind.rawValue).approval.get"]
    let method = all.first { methods.contains($0) }
    guard let method, let gateway, !answer.hasLooked else {
      return .ended(.unknown, "no reply came, and it does not wait any more")
    }
    asked[gateway.ask(method, RecordText().string("id", id))] = .look(id)
    return nil
  }

  private func fate(of answer: GivenAnswer, known reply: GatewayReply) -> AnswerFate {
    guard case .answer = reply else {
      return .ended(.unknown, "no reply came, and nothing is known of it")
    }
    if let fate = fate(of: answer, known: Self.approval(reply)) { return fate }
    if case .waits = book.fate(of: answer.decision.id) { return .waits }
    return .ended(.unknown, "no reply came in time")
  }

  private static func approval(_ reply: GatewayReply) -> JSONValue? {
    let object = reply.object
    return object?["approval"] ?? object?["question"] ?? object
  }

  /// What the gateway says of an approval that was decided before; nil where it was not.
  private func fate(of answer: GivenAnswer, known approval: JSONValue?) -> AnswerFate? {
    let status = approval?["status"]?.string
    let who = Self.resolver(approval) ?? approval?["resolvedBy"]?.string.map { "by \($0)" }
    if let answers = OpenClawApproval.answers(approval) {
      book.decide(answer.decision.id, answers)
      // One that was over before it was seen has told only now what may be chosen.
      let given = try? AskedQuestion.answers(answer.decision, to: AskedQuestion.all(in: approval))
      let isSame = given.map(AskedQuestion.line) == answers
      return fate(of: answer, decided: isSame ? answer.word : answers, who)
    }
    if status != "expired", status != "cancelled", let decision = approval?["decision"]?.string {
      book.decide(answer.decision.id, decision)
      return fate(of: answer, decided: decision, who)
    }
    guard let status, status != "pending" else { return nil }
    return fate(of: answer, decided: status, who)
  }

  private func fate(
    of answer: GivenAnswer, decided word: String, _ who: String? = nil
  ) -> AnswerFate {
    switch (word, answer.word) {
    // What a gateway says that keeps no decision, only how it ended.
    case ("denied", "deny"), ("allowed", "allow-once"): .decided(answer.word, who)
    case ("cancelled", Self.no) where book.kind(of: answer.decision.id) == .question:
      .decided(answer.word, who)
    case ("expired", _), ("cancelled", _): .ended(.late, "it is \(word)")
    default: .decided(word, who)
    }
  }

  /// Who was first: `by device 048e7ef65d96`.
  private static func resolver(_ approval: JSONValue?) -> String? {
    guard let resolver = approval?["resolver"], let kind = resolver["kind"]?.string else {
      return nil
    }
    let id = resolver["id"]?.string.map { " " + $0.prefix(idLength) } ?? ""
    return "by \(kind)\(id)"
  }

  /// How much of a device's id people are shown.
  private static let idLength = 12
}

extension StreamEnd {
  var problem: Failure {
    switch self {
    case .failed(let problem): problem
    case .gaveUp(let reason): Failure(reason, .temporary)
    case .noContent: Failure("204 No Content", .failure)
    }
  }
}

/// What is known of a gateway's approvals (Agent/OpenClaw/CONTRACT.md 8): lists and events
/// in, records out. No network, no clock.
final class ApprovalBook {
  /// The kinds of approvals, by the first word of their methods and events.
  enum Kind: String, CaseIterable {
    case exec, plugin, question

    /// The method that lists what waits.
    var list: String { "\(prefix).list" }

    /// What its methods and events begin with.
    private var prefix: String { self == .question ? rawValue : "\(rawValue).approval" }

    init?(event: String) {
      guard let kind = Kind.allCases.first(where: { event.hasPrefix("\($0.prefix).") }) else {
        return nil
      }
      self = kind
    }
  }

  enum Fate {
    case unknown
    case waits(ApprovalRecord)
    /// It was decided, or expired; nothing says who was faster where there is no decision.
    case over(decision: String?, reason: String?)
  }

  private let origin: RecordOrigin
  private var known: [String: ApprovalRecord] = [:]
  private var order: [String] = []
  /// The bytes of the requests that are kept.
  private var held = 0
  /// What was decided, by id: also of approvals that were never seen.
  private var decided: [String: String] = [:]
  private var decidedOrder: [String] = []
  private var found: Set<String>?
  /// The lists that were asked for, and the number of the last one that is complete.
  private(set) var (asked, complete) = (0, 0)

  private let (most, mostBytes): (Int, Int)

  /// `most` approvals, and `mostBytes` of their requests, are kept; the oldest go first.
  init(_ origin: RecordOrigin, most: Int = 4096, bytes mostBytes: Int = 64 << 20) {
    (self.origin, self.most, self.mostBytes) = (origin, most, mostBytes)
  }

  // MARK: - What is asked

  func fate(of id: String) -> Fate {
    if let decision = decided[id] { return .over(decision: decision, reason: known[id]?.reason) }
    guard let approval = known[id] else { return .unknown }
    if approval.state == .pending { return .waits(approval) }
    return .over(decision: approval.decision, reason: approval.reason)
  }

  /// The kind of an approval; of one that was never seen what its id looks like.
  func kind(of id: String) -> Kind {
    known[id].flatMap { Kind(rawValue: $0.tool) } ?? (id.hasPrefix("ask_") ? .question : .exec)
  }

  /// The questions of one that is a question.
  func questions(of id: String) -> [AskedQuestion] {
    guard let request = known[id]?.request, kind(of: id) == .question else { return [] }
    return AskedQuestion.all(in: try? JSONValue.parse(request))
  }

  var nextExpiry: Timestamp? {
    known.values.reduce(nil) { next, approval in
      guard approval.state == .pending, let expires = approval.expires else { return next }
      return next.map { min($0, expires) } ?? expires
    }
  }

  // MARK: - What comes

  /// A list is asked for; what comes until `endList` is not taken for gone.
  func beginList() {
    asked += 1
    found = []
  }

  func dropList() { found = nil }

  func receive(_ kind: Kind, list payload: ScanValue) -> [ApprovalRecord] {
    Self.rows(payload).compactMap { row in
      row.withUnsafeBytes { receive(kind, requested: ScanValue($0)) }
    }
  }

  private static func rows(_ payload: ScanValue) -> [[UInt8]] {
    for name in ["approvals", "pending", "requests", "items", "questions"] {
      let rows = GatewayLists.elements(name, in: payload)
      if !rows.isEmpty { return rows }
    }
    return []
  }

  /// All lists are there: what waited and is in none of them is over.
  func endList(now: Timestamp) -> [ApprovalRecord] {
    defer {
      found = nil
      complete = asked
    }
    guard let found else { return [] }
    return order.compactMap { id in
      found.contains(id) ? nil : expire(id, "it does not wait any more", now: now)
    }
  }

  /// Ends an approval of which is only known that it does not wait.
  func expire(_ id: String, _ reason: String, now: Timestamp) -> ApprovalRecord? {
    guard var gone = known[id], gone.state == .pending, decided[id] == nil else { return nil }
    gone.state = .expired
    gone.reason = reason
    gone.time = now
    return put(gone)
  }

  /// Takes an approval that waits: an element of a list, or the payload of an event.
  func receive(_ kind: Kind, requested payload: ScanValue) -> ApprovalRecord? {
    guard payload.isObject, let object = try? JSONValue.parse(payload.bytes),
      let approval = OpenClawApproval.requested(object, payload, kind.rawValue, origin)
    else { return nil }
    found?.insert(approval.id)
    // A list may be older than the event that decided it.
    return decided[approval.id] == nil ? put(approval) : nil
  }

  /// Nil where nothing changed, or for an approval that was never seen.
  func receive(_ kind: Kind, resolved payload: ScanValue, now: Timestamp) -> ApprovalRecord? {
    guard payload.isObject, let object = try? JSONValue.parse(payload.bytes),
      let end = OpenClawApproval.resolved(object, payload, kind.rawValue, origin, now)
    else { return nil }
    // Nobody is to see what was answered to a question that asks for a secret.
    let isSecret = questions(of: end.id).contains(where: \.isSecret)
    let decision = isSecret ? end.decision.map { _ in "answered" } : end.decision
    if let decision { decide(end.id, decision) }
    guard var approval = known[end.id] ?? (end.request.isEmpty ? nil : end) else { return nil }
    (approval.state, approval.time, approval.by) = (end.state, end.time, end.by)
    approval.decision = decision ?? approval.decision
    approval.reason = end.reason ?? approval.reason
    return put(approval)
  }

  func decide(_ id: String, _ decision: String) {
    if decided[id] != nil { return }
    decided[id] = decision
    decidedOrder.append(id)
    if decidedOrder.count > most { decided[decidedOrder.removeFirst()] = nil }
  }

  private func put(_ approval: ApprovalRecord) -> ApprovalRecord? {
    if let before = known[approval.id] {
      guard before != approval, before.state.mayBecome(approval.state) else { return nil }
      held -= before.request.count
    } else {
      order.append(approval.id)
    }
    known[approval.id] = approval
    held += approval.request.count
    while order.count > most || (held > mostBytes && order.count > 1) {
      held -= known.removeValue(forKey: order.removeFirst())?.request.count ?? 0
    }
    return approval
  }
}
