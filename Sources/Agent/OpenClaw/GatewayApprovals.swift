import Core
import Records
import Web

/// A line to a gateway that asks a person before it runs something
/// (Agent/OpenClaw/CONTRACT.md 8). What waits is listed at each greeting and followed in
/// between: a gateway gives up at once what nobody listens to.
final class GatewayApprovals: ServedLink<ApprovalWaiter>, ApprovalLine {
  let origin: RecordOrigin
  private let server: AgentServer
  private var door: GatewayDoor
  private var gateway: Gateway?
  private let book: ApprovalBook
  private var answers: GatewayAnswers!
  /// The lists of which the answer is on its way.
  private var listing = 0
  /// Whether another list is to follow, for something was missed.
  private var listsAgain = false
  /// Why the connection is to be made again; one line.
  private var failure: String?
  /// When it was listed, seconds of `Clock.monotonic`.
  private var listedAt = -Double.infinity

  /// What expires is looked for so long after its time, and not more often, seconds.
  private static let (grace, pause) = (0.5, 2.0)

  init(
    _ client: WebClient, _ keys: GatewayKeys, waits: Bool,
    origin: RecordOrigin, policy: StreamPolicy
  ) {
    let server = keys.server
    self.origin = origin
    self.server = server
    book = ApprovalBook(origin)
    door = GatewayDoor(
      keys,
      GatewayDoor.Wishes(
        scopes: [.read, .approvals], caps: ["approvals", "exec-approvals", "plugin-approvals"],
        waitsForPairing: waits))
    super.init(client, server.base.socketDisplay, policy) { server.problem(of: $0, $1) }
    answers = GatewayAnswers(
      book, origin, gateway: { [unowned self] in gateway }, list: { [unowned self] in list() },
      tell: { [unowned self] in waiter?.changed($0) })
  }

  func answer(_ decision: ApprovalDecision, then: @escaping (ApprovalAnswer) -> Void) {
    answers.add(decision, then: then)
    settle()
  }

  func follow(_ waiter: ApprovalWaiter) {
    serve(waiter) { () throws(LinkEnd) in
      let gateway = try open()
      while true {
        switch try gateway.receive() {
        case .event(let event): hear(event)
        case .missed: list()
        case nil: break
        }
      }
    }
  }

  func stop() { drop() }

  override func drop() { gateway = nil }

  private func open() throws(LinkEnd) -> Gateway {
    if let gateway { return gateway }
    let made = try Gateway.connect(self, &door, server)
    gateway = made
    opened(place)
    list()
    return made
  }

  override func look() throws(LinkEnd) -> Double {
    if let reason = failure {
      failure = nil
      throw .lost(reason)
    }
    let now = Clock.monotonic
    let expiry = nextCheck(now)
    if expiry <= now { list() }
    if answers.next <= now { settle() }
    return min(answers.next, expiry <= now ? .infinity : expiry)
  }

  /// When to look whether something has expired, which a gateway tells nobody; seconds of
  /// `Clock.monotonic`.
  private func nextCheck(_ now: Double) -> Double {
    guard listing == 0, gateway != nil, let time = book.nextExpiry else { return .infinity }
    let left = Double(time.seconds) + Double(time.nanoseconds) / 1e9 - Clock.unix + Self.grace
    // By the clock of another machine it may wait still: the longer, the less often.
    return max(now + left, listedAt + max(Self.pause, -left))
  }

  private func settle() { if gateway != nil, listing == 0 { answers.settle() } }

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
      $0 == .exec || gateway.hello.methods.contains("\($0.rawValue).approval.list")
    }
    listing = kinds.count
    book.beginList()
    for kind in kinds {
      let method = "\(kind.rawValue).approval.list"
      gateway.call(method, RecordText()) { [unowned self] reply in
        switch reply {
        case .answer(let payload):
          for approval in book.take(kind, list: payload) { waiter?.changed(approval) }
          listed()
        case .refused(let error) where kind == .exec:
          let problem = GatewayChat.problem(error)
          waiter?.failed(CallFailure(method, problem.line, problem.status))
        case .refused(let error):
          waiter?.link(.fault("\(method): \(error.line)"))
          listed()
        case .late: failure = "the list of approvals did not come"
        case .lost: break
        }
      }
    }
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
    if event.name.hasSuffix(".requested") {
      if let approval = book.take(kind, requested: event.payload) {
        waiter?.changed(approval)
      }
    } else if event.name.hasSuffix(".resolved") {
      if let approval = book.take(kind, resolved: event.payload, now: .now()) {
        waiter?.changed(approval)
      }
    }
    settle()
  }

  override func lost(_ reason: String, wait: Double) {
    listing = 0
    listsAgain = false
    book.dropList()
    super.lost(reason, wait: wait)
  }

  override func ended(_ end: StreamEnd, at place: String) {
    answers.end(end.problem.line)
    super.ended(end, at: place)
  }
}

extension StreamEnd {
  /// The end of a link, as a problem.
  var problem: AnswerProblem {
    switch self {
    case .failed(let problem): problem
    case .gaveUp(let reason): AnswerProblem(reason, .temporary)
    case .noContent: AnswerProblem("204 No Content", .failure)
    }
  }
}
