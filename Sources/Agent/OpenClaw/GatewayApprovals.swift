import Core
import Records
import Web

/// A line to a gateway that asks a person before it runs something
/// (Agent/OpenClaw/CONTRACT.md 8). What waits is listed at each greeting and followed in
/// between: a gateway gives up at once what nobody listens to.
final class GatewayApprovals: ApprovalLine {
  weak var listener: (any ApprovalListener)?
  let origin: RecordOrigin
  private var link: GatewayLink!
  private let book: ApprovalBook
  private var answers: GatewayAnswers!
  /// The lists of which the answer is on its way.
  private var listing = 0
  /// Whether another list is to follow, for something was missed.
  private var listsAgain = false
  /// When it was listed, seconds of `Clock.monotonic`.
  private var listedAt = -Double.infinity

  /// What expires is looked for so long after its time, and not more often, seconds.
  private static let (grace, pause) = (0.5, 2.0)

  init(
    _ client: WebClient, _ keys: GatewayKeys, waits: Bool,
    origin: RecordOrigin, policy: StreamPolicy
  ) {
    self.origin = origin
    book = ApprovalBook(origin)
    link = GatewayLink(
      client, keys,
      wishes: GatewayDoor.Wishes(
        scopes: [.read, .approvals], caps: ["approvals", "exec-approvals", "plugin-approvals"],
        waitsForPairing: waits),
      policy: policy, owner: self)
    answers = GatewayAnswers(
      link, book, origin, list: { [unowned self] in list() },
      tell: { [unowned self] in listener?.approvalChanged($0) })
  }

  func answer(_ decision: ApprovalDecision, then: @escaping (ApprovalAnswer) -> Void) {
    answers.add(decision, then: then)
    settle()
  }

  func tick(now: Double) -> Double {
    let expiry = nextCheck(now)
    if expiry <= now { list() }
    if answers.next <= now { settle() }
    let next = link.tick(now: now)
    return min(next, answers.next, expiry <= now ? .infinity : expiry)
  }

  func stop() { link.stop() }

  /// When to look whether something has expired, which a gateway tells nobody; seconds of
  /// `Clock.monotonic`.
  private func nextCheck(_ now: Double) -> Double {
    guard listing == 0, link.hello != nil, let time = book.nextExpiry else { return .infinity }
    let left = Double(time.seconds) + Double(time.nanoseconds) / 1e9 - Clock.unix + Self.grace
    // By the clock of another machine it may wait still: the longer, the less often.
    return max(now + left, listedAt + max(Self.pause, -left))
  }

  private func settle() { if link.hello != nil, listing == 0 { answers.settle() } }

  // MARK: - What waits

  private func list() {
    guard let hello = link.hello else { return }
    if listing > 0 {
      listsAgain = true
      return
    }
    listsAgain = false
    listedAt = Clock.monotonic
    let kinds = ApprovalBook.Kind.allCases.filter {
      $0 == .exec || hello.methods.contains("\($0.rawValue).approval.list")
    }
    listing = kinds.count
    book.beginList()
    for kind in kinds {
      let method = "\(kind.rawValue).approval.list"
      link.call(method, RecordText()) { [unowned self] reply in
        switch reply {
        case .answer(let payload):
          for approval in book.take(kind, list: payload) { listener?.approvalChanged(approval) }
          listed()
        case .refused(let error) where kind == .exec:
          let problem = GatewayChat.problem(error)
          listener?.approvalsFailed(CallFailure(method, problem.line, problem.status))
        case .refused(let error):
          listener?.approvalLink(.fault("\(method): \(error.line)"))
          listed()
        case .late: link.drop("the list of approvals did not come")
        case .lost: break
        }
      }
    }
  }

  private func listed() {
    listing -= 1
    guard listing == 0 else { return }
    for gone in book.endList(now: .now()) { listener?.approvalChanged(gone) }
    listener?.approvalsListed()
    if listsAgain { list() } else { settle() }
  }
}

extension GatewayApprovals: GatewayLinkOwner {
  func linkOpened(_ hello: GatewayHello, isFirst: Bool, down: Double?) {
    listener?.approvalLink(.open(place: link.place, isFirst: isFirst, down: down))
    list()
  }

  func linkHeard(_ event: GatewayEvent) {
    guard let kind = ApprovalBook.Kind(event: event.name) else { return }
    if event.name.hasSuffix(".requested") {
      if let approval = book.take(kind, requested: event.payload) {
        listener?.approvalChanged(approval)
      }
    } else if event.name.hasSuffix(".resolved") {
      if let approval = book.take(kind, resolved: event.payload, now: .now()) {
        listener?.approvalChanged(approval)
      }
    }
    settle()
  }

  func linkMissed(from: Int64, to: Int64) { list() }

  func linkFaulted(_ reason: String) { listener?.approvalLink(.fault(reason)) }

  func linkLost(_ reason: String, wait: Double) {
    listing = 0
    listsAgain = false
    book.dropList()
    listener?.approvalLink(.lost(reason, wait: wait))
  }

  func linkWaits(_ words: String, wait: Double) {
    listener?.approvalLink(.waits(words, wait: wait))
  }

  func linkEnded(_ end: StreamEnd) {
    let problem = end.problem
    answers.end(problem.line)
    listener?.approvalLink(.ended(problem))
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
