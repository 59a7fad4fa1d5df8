import Core
import Web

/// Watches a repository on a server without a stream of events: asks for its last commit, and
/// lists the records again when that is another one (Agent/PDS/CONTRACT.md 6).
final class RepositoryPoll {
  private enum State {
    case waiting(until: Double)
    case asking(Fetch)
    case ended
  }
  /// What is asked for.
  private enum Question {
    case commit
    case collections
    case records(NSID, cursor: String?, ListCursor)
  }

  /// The longest wait between two looks, seconds; the first is that of the policy.
  private static let longestWait = 30.0
  private static let largest = 128 << 20

  private let client: WebClient
  private let visit: PDSVisit
  private let repository: DID
  private let silence: Double
  private let collections: [NSID]
  private let problem: AnswerProblem
  private unowned let handler: any StreamHandler
  private let opened: () -> Void
  private let print: (FirehoseEvent) -> Void

  private var state = State.waiting(until: 0)
  private var question = Question.commit
  private var answer: FetchEnd?
  private var listing: RecordListing
  private var waiting: [NSID] = []
  /// The commit that the last whole list belongs to, or one before it.
  private var revision: String?
  private var nextRevision = ""
  private var reconnect: Reconnect
  private var pace: Backoff
  private(set) var isOpen = false

  /// - Parameters:
  ///   - client: drives the requests.
  ///   - visit: as whom the server is asked.
  ///   - repository: whose records.
  ///   - collections: which are wanted; none for all.
  ///   - policy: the waits.
  ///   - tellsAll: whether what is there already is told, too.
  ///   - problem: why there is no stream, in case there is no repository, either.
  ///   - handler: told of the link; not retained.
  ///   - opened: called when the first list is there.
  ///   - print: given what changed.
  init(
    _ client: WebClient, _ visit: PDSVisit, _ repository: DID,
    _ collections: [NSID], policy: StreamPolicy, tellsAll: Bool, because problem: AnswerProblem,
    handler: any StreamHandler, opened: @escaping () -> Void,
    print: @escaping (FirehoseEvent) -> Void
  ) {
    self.client = client
    self.visit = visit
    self.repository = repository
    silence = policy.answerSilence
    self.collections = collections
    self.problem = problem
    self.handler = handler
    self.opened = opened
    self.print = print
    listing = RecordListing(tellsAll: tellsAll)
    reconnect = Reconnect(policy)
    pace = Backoff(base: policy.retryWait, factor: 1.5, cap: Self.longestWait, jitter: 0.1)
  }

  /// Asks what there is to be asked, and takes what came.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double {
    if let answer {
      self.answer = nil
      take(answer, now)
    }
    if case .waiting(let until) = state, until <= now { ask(.commit, now) }
    switch state {
    case .waiting(let until): return until
    case .asking(let fetch): return answer == nil ? fetch.tick(now: now) : now
    case .ended: return .infinity
    }
  }

  /// Ends it; nothing more is told.
  func stop() {
    if case .asking(let fetch) = state { fetch.cancel() }
    state = .ended
  }

  // MARK: - Asking

  private func ask(_ question: Question, _ now: Double) {
    self.question = question
    let did = repository.description
    let request =
      switch question {
      case .commit: try? visit.request("com.atproto.sync.getLatestCommit", [("did", did)])
      case .collections:
        try? visit.request("com.atproto.repo.describeRepo", [("repo", did)])
      case .records(let collection, let cursor, _):
        try? visit.request(
          "com.atproto.repo.listRecords",
          [
            ("repo", did), ("collection", collection.description), ("limit", "100"),
            ("cursor", cursor),
          ])
      }
    guard let request else { return end(AnswerProblem("no url for a call", .failure)) }
    state = .asking(
      Fetch(client, request, now: now, silence: silence, limit: Self.largest) { [unowned self] in
        answer = $0
      })
  }

  private func next(_ now: Double) {
    if let collection = waiting.popLast() {
      return ask(.records(collection, cursor: nil, ListCursor()), now)
    }
    let changes = listing.finish()
    revision = nextRevision
    if !changes.isEmpty { pace.reset() }
    rest(now)
    for change in changes {
      let body = CBORValue.map([
        .init(name: "repo", value: .text(repository.description)),
        .init(name: "rev", value: .text(nextRevision)),
        .init(name: "ops", value: .array([change.change])),
      ])
      var event = FirehoseEvent("#commit", body, collections: [], by: .poll)
      event.changes = [change]
      print(event)
    }
  }

  private func rest(_ now: Double) {
    state = .waiting(until: now + pace.next(random: Double.random(in: 0..<1)))
    reconnect.succeeded()
    visit.succeeded()
    if isOpen { return }
    isOpen = true
    let (isFirst, down) = reconnect.opened(now: now)
    if isFirst { opened() }
    handler.streamOpened(visit.base.display, isFirst: isFirst, down: down)
  }

  // MARK: - Taking

  private func take(_ answer: FetchEnd, _ now: Double) {
    switch answer {
    case .failed(let reason): lose(reason, after: nil, now)
    case .unusable(let reason): end(AnswerProblem(reason, .failure))
    case .response(let head, let body) where (200...299).contains(head.status):
      if !take(body, now) {
        let reason = "\(head.summary): the answer is not what was asked for"
        refuse(AnswerProblem(reason, .failure), now)
      }
    case .response(let head, let body):
      let error = XRPCError(head, body, now: Clock.unix)
      if visit.canEnter(error) {
        guard let problem = visit.enter(error) else { return ask(question, now) }
        if problem.status == .temporary { return lose(problem.line, after: nil, now) }
        end(problem)
      } else if error.isPage && !error.isTransient {
        refuse(revision == nil && error.isMethodMissing ? problem : error.problem, now)
      } else if error.isMethodMissing {
        end(revision == nil ? problem : AnswerProblem(error.line, .failure))
      } else if error.isTransient {
        lose(error.line, after: error.wait, now)
      } else {
        end(error.problem)
      }
    }
  }

  /// What is no answer of the server, who was there before, is from somebody on the way.
  private func refuse(_ problem: AnswerProblem, _ now: Double) {
    if revision == nil { end(problem) } else { lose(problem.line, after: nil, now) }
  }

  /// - Returns: whether it is an answer.
  private func take(_ body: [UInt8], _ now: Double) -> Bool {
    guard PDSRecords.isObject(body) else { return false }
    switch question {
    case .commit:
      guard let found = PDSRecords.member("rev", of: body) else { return false }
      if found == revision {
        rest(now)
        return true
      }
      nextRevision = found
      listing.restart()
      waiting = collections.reversed()
      if waiting.isEmpty { ask(.collections, now) } else { next(now) }
    case .collections:
      guard let json = try? body.withUnsafeBytes({ try JSONValue.parse($0) }),
        let names = json["collections"]?.elements
      else { return false }
      waiting = names.compactMap { $0.string.flatMap { NSID($0) } }.reversed()
      next(now)
    case .records(let collection, _, var cursors):
      guard
        let rows = PDSRecords.page(of: body, { handler.streamFaulted($0) })
      else { return false }
      var isNews = false
      for row in rows {
        let cid = PDSRecords.member("cid", of: row.bytes).flatMap { CID($0) }
        if let cid, listing.take(row.path, cid, Self.value(of: row.bytes)) { isNews = true }
      }
      // A list that breaks off must not make deletions of the rest.
      do throws(Failure) {
        if let cursor = try cursors.next(after: body, isNews: isNews) {
          ask(.records(collection, cursor: cursor, cursors), now)
        } else {
          next(now)
        }
      } catch {
        end(AnswerProblem(error.reason, .failure))
      }
    }
    return true
  }

  private static func value(of row: [UInt8]) -> [UInt8]? {
    row.withUnsafeBytes { bytes in
      (try? ScanMembers.value(of: "value", in: bytes)).map { Array($0.bytes) }
    }
  }

  // MARK: - The link

  private func lose(_ reason: String, after least: Double?, _ now: Double) {
    isOpen = false
    guard let wait = reconnect.failed(now: now, after: least) else { return end(.gaveUp(reason)) }
    state = .waiting(until: now + wait)
    handler.streamLost(reason, wait: wait)
  }

  private func end(_ problem: AnswerProblem) { end(.failed(problem)) }

  private func end(_ end: StreamEnd) {
    isOpen = false
    state = .ended
    handler.streamEnded(end, at: visit.base.display)
  }
}

extension StreamPolicy {
  /// How long an answer may be silent that a stream waits for, seconds.
  var answerSilence: Double { min(idleTimeout ?? .infinity, 30) }
}
