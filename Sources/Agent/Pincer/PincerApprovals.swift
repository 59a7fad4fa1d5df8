import Core
import Records
import Web

/// A line to a Pincer server that asks a person before it runs something
/// (Agent/Pincer/CONTRACT.md 3.3). What waits is listed again and again: there is no stream
/// of it. Nothing expires for want of a listener.
final class PincerApprovals: ApprovalLine {
  private var waiter: ApprovalWaiter?
  let origin: RecordOrigin
  private let calls: PincerCalls
  private let fates: PincerFates
  private var answers: PincerAnswers!
  private let place: String
  private var reconnect: Reconnect
  /// What waits, or was approved and is not yet carried out.
  private var known: [String: ApprovalRecord] = [:]
  private var isAsking = false
  private var isOver = false
  /// Whether the last question was answered.
  private var isUp = false
  private var isListed = false
  /// When the next list is asked for, seconds of `Clock.monotonic`.
  private var askAt = 0.0
  /// When it is looked whether what was approved was carried out, and how long apart:
  /// that list has no end.
  private var lookAt = Double.infinity
  private var lookWait = shortest

  /// How often what waits is listed, seconds.
  private static let interval = 2.0
  /// The first and the longest wait for what was approved, seconds.
  private static let (shortest, longest) = (2.0, 60.0)

  init(_ agent: AgentAccess, policy: StreamPolicy) {
    origin = agent.origin(.pincer)
    place = agent.backend.base.display
    calls = PincerCalls(agent.client, agent.backend)
    fates = PincerFates(calls, origin)
    reconnect = Reconnect(policy)
    answers = PincerAnswers(calls, fates, origin) { [unowned self] in end($0) }
  }

  func answer(_ decision: ApprovalDecision, then: @escaping (ApprovalAnswer) -> Void) {
    answers.add(decision, then: then)
    if isListed { answers.settle(now: Clock.monotonic) }
  }

  func follow(_ waiter: ApprovalWaiter) {
    self.waiter = waiter
    defer { self.waiter = nil }
    do throws(LinkEnd) {
      while !isOver { try waiter.wait(until: look()) }
      try waiter.wait(until: Clock.monotonic)
    } catch {}
  }

  /// Does what is due.
  ///
  /// - Returns: when to be called again at the latest, seconds of `Clock.monotonic`.
  private func look() -> Double {
    let now = Clock.monotonic
    if !isAsking, askAt <= now { ask() }
    if isListed { answers.settle(now: now) }
    let next = min(calls.tick(now: now), isAsking ? .infinity : askAt)
    return isListed ? min(next, answers.next) : next
  }

  func stop() {
    isOver = true
    calls.stop()
  }

  // MARK: - What waits

  private func ask() {
    isAsking = true
    fates.list("PENDING") { [unowned self] result in
      switch result {
      case .failure(let failure): failed(failure)
      case .success(let records):
        opened()
        take(records)
      }
    }
  }

  private func take(_ records: [ApprovalRecord]) {
    let waiting = records.filter { $0.state == .pending }
    for record in waiting {
      let old = known[record.id]
      if old.map({ $0.state == .pending && $0 != record }) ?? true { change(record) }
    }
    let ids = Set(waiting.map(\.id))
    var gone = Set(known.values.filter { $0.state == .pending }.map(\.id)).subtracting(ids)
    let now = Clock.monotonic
    if lookAt <= now { gone.formUnion(known.values.filter { $0.state == .approved }.map(\.id)) }
    if gone.isEmpty { return listed(now) }
    fates.look(for: gone) { [unowned self] result in
      switch result {
      case .failure(let failure): failed(failure)
      case .success(let found):
        for id in gone.sorted() { settle(id, found[id]) }
        listed(Clock.monotonic)
      }
    }
  }

  /// Takes what became of an action that does not wait any more.
  private func settle(_ id: String, _ found: ApprovalRecord?) {
    guard var record = known[id] else { return }
    if let found {
      if record.state.mayBecome(found.state), record.state != found.state {
        record = found
        record.time = .now()
        change(record)
      }
    } else {
      record.state = .cancelled
      record.reason = "the server does not list it any more"
      record.time = .now()
      change(record)
    }
  }

  private func change(_ record: ApprovalRecord) {
    known[record.id] = record.state.isEnd ? nil : record
    waiter?.changed(record)
  }

  private func listed(_ now: Double) {
    isAsking = false
    askAt = now + Self.interval
    let isOpen = known.values.contains { $0.state == .approved }
    if !isOpen {
      (lookAt, lookWait) = (.infinity, Self.shortest)
    } else if lookAt <= now || lookAt == .infinity {
      lookAt = now + lookWait
      lookWait = min(lookWait * 2, Self.longest)
    }
    if isListed { return }
    isListed = true
    waiter?.listed()
  }

  // MARK: - The link

  private func opened() {
    reconnect.succeeded()
    if isUp { return }
    isUp = true
    let (isFirst, down) = reconnect.opened(now: Clock.monotonic)
    waiter?.link(.open(place: place, isFirst: isFirst, down: down))
  }

  private func failed(_ failure: PincerCalls.Failure) {
    isAsking = false
    let problem = failure.problem
    guard problem.status == .temporary else { return end(problem) }
    isUp = false
    let now = Clock.monotonic
    guard let wait = reconnect.failed(now: now) else { return end(problem) }
    askAt = now + wait
    waiter?.link(.lost(problem.line, wait: wait))
  }

  private func end(_ problem: AnswerProblem) {
    if isOver { return }
    isOver = true
    calls.stop()
    answers.end(problem.line)
    waiter?.link(.ended(problem))
  }
}
