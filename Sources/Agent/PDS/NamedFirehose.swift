import Core
import Web

/// The events of a repository of which the handle alone is known: who that is, is looked up
/// before the first connection, as often as it takes.
final class NamedFirehose: StreamLink {
  private enum State {
    case waiting(until: Double)
    case asking(Fetch)
    case ended
  }

  private static let largest = 1 << 20

  private let client: WebClient
  private let visit: PDSVisit
  private let name: Repository
  private let silence: Double
  private let expected: (DID) -> String?
  private unowned let handler: any StreamHandler
  private let made: (DID, [UInt8]) -> any StreamLink
  private var stream: (any StreamLink)?
  private var state = State.waiting(until: 0)
  private var answer: FetchEnd?
  private var reconnect: Reconnect
  private var id: [UInt8]

  /// - Parameters:
  ///   - client: drives the requests.
  ///   - visit: as whom the server is asked.
  ///   - name: whose events.
  ///   - policy: the waits, and behind which event it begins.
  ///   - expected: says why events of this repository are not wanted; nil where they are.
  ///   - handler: told what happens; not retained.
  ///   - made: makes the stream, which begins behind an event.
  init(
    _ client: WebClient, _ visit: PDSVisit, _ name: Repository, policy: StreamPolicy,
    expected: @escaping (DID) -> String?, handler: any StreamHandler,
    made: @escaping (DID, [UInt8]) -> any StreamLink
  ) {
    self.client = client
    self.visit = visit
    self.name = name
    silence = policy.answerSilence
    self.expected = expected
    self.handler = handler
    self.made = made
    reconnect = Reconnect(policy)
    id = policy.lastEventID
  }

  var lastEventID: [UInt8] { stream?.lastEventID ?? id }
  var newest: Timestamp? { stream?.newest }
  var isOpen: Bool { stream?.isOpen == true }

  func rewind(to id: [UInt8]) {
    self.id = id
    stream?.rewind(to: id)
  }

  func tick(now: Double) -> Double {
    if let answer {
      self.answer = nil
      take(answer, now)
    }
    if let stream { return stream.tick(now: now) }
    if case .waiting(let until) = state, until <= now { ask(now) }
    switch state {
    case .waiting(let until): return until
    case .asking(let fetch): return answer == nil ? fetch.tick(now: now) : now
    case .ended: return .infinity
    }
  }

  func hold() { stream?.hold() }
  func release(now: Double) { stream?.release(now: now) }
  func drop(_ reason: String) { stream?.drop(reason) }

  func stop() {
    if case .asking(let fetch) = state { fetch.cancel() }
    state = .ended
    stream?.stop()
  }

  private func ask(_ now: Double) {
    let query: [(name: String, value: String?)] = [("repo", name.description)]
    guard let request = try? visit.request("com.atproto.repo.describeRepo", query) else {
      return end(.failed(AnswerProblem("no url for a call", .failure)))
    }
    state = .asking(
      Fetch(client, request, now: now, silence: silence, limit: Self.largest) { [unowned self] in
        answer = $0
      })
  }

  private func take(_ answer: FetchEnd, _ now: Double) {
    switch answer {
    case .failed(let reason): lose(reason, after: nil, now)
    case .unusable(let reason): end(.failed(AnswerProblem(reason, .failure)))
    case .response(let head, let body) where (200...299).contains(head.status):
      guard PDSRecords.isObject(body),
        let did = PDSRecords.member("did", of: body).flatMap({ DID($0) })
      else {
        return end(
          .failed(AnswerProblem("\(head.summary): \(name): no DID in the answer", .failure)))
      }
      if let reason = expected(did) { return end(.failed(AnswerProblem(reason, .failure))) }
      visit.succeeded()
      stream = made(did, id)
    case .response(let head, let body):
      let error = XRPCError(head, body, now: Clock.unix)
      if visit.canEnter(error) {
        guard let problem = visit.enter(error) else { return ask(now) }
        if problem.status == .temporary { return lose(problem.line, after: nil, now) }
        return end(.failed(problem))
      }
      if error.isTransient { return lose(error.line, after: error.wait, now) }
      end(
        .failed(
          error.isAbsence
            ? AnswerProblem("\(name): no such repository", .negative)
            : AnswerProblem(error.line, error.exit)))
    }
  }

  private func lose(_ reason: String, after least: Double?, _ now: Double) {
    guard let wait = reconnect.failed(now: now, after: least) else { return end(.gaveUp(reason)) }
    state = .waiting(until: now + wait)
    handler.streamLost(reason, wait: wait)
  }

  private func end(_ end: StreamEnd) {
    state = .ended
    handler.streamEnded(end, at: visit.base.display)
  }
}
