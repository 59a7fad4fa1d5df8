import Core
import Records
import Web

/// The threads of a server, and what their events tell of actions, for where the lists of them
/// cannot be read (Agent/Pincer/CONTRACT.md 3.4).
struct PincerThreads {
  private static let page = 100
  /// How long stored events may be on their way, seconds, and how often they are asked for.
  private static let (patience, mostTries) = (5.0, 3)

  private struct Known {
    var actions: PincerActions
    /// The number of the last event that was read.
    var last: Int64 = 0
  }

  private let calls: PincerCalls
  private let origin: RecordOrigin
  private var known: [String: Known] = [:]

  init(_ calls: PincerCalls, _ origin: RecordOrigin) { (self.calls, self.origin) = (calls, origin) }

  var records: [ApprovalRecord] { known.values.flatMap(\.actions.records) }

  // MARK: - Which there are

  /// A thread, or that of a job: those are not listed.
  struct Name {
    let thread: String
    /// Nil for a thread that belongs to no job.
    var job: String?
    var title: String
    /// When something last happened there.
    var updated: Timestamp?
  }

  /// All threads, and those of jobs.
  static func list(
    _ calls: PincerCalls, _ waiter: Waiter
  ) throws(LinkEnd) -> Result<[Name], Failure> {
    var names: [Name] = []
    var pages = PincerPages()
    while true {
      let question = RecordText().number("pageSize", page).string("pageToken", pages.token)
      let outcome = try calls.ask(.listThreads, question, waiter)
      guard case .reply(let reply) = outcome else { return .failure(outcome.failure) }
      names += (reply.value.pincer("items")?.elements ?? []).map {
        Name(
          thread: $0.pincerText("threadId"), title: $0.pincerText("title"),
          updated: $0.pincerTime("updatedAt"))
      }
      do throws(Failure) {
        if !(try pages.turn(reply.value, at: calls.server.base.display)) { break }
      } catch {
        return .failure(error)
      }
    }
    return try jobs(calls, waiter).map { jobs in
      (names + jobs).filter { !$0.thread.isEmpty }
    }
  }

  /// The threads of jobs.
  static func jobs(
    _ calls: PincerCalls, _ waiter: Waiter
  ) throws(LinkEnd) -> Result<[Name], Failure> {
    let outcome = try calls.ask(.listJobs, RecordText(), waiter)
    guard case .reply(let reply) = outcome else { return .failure(outcome.failure) }
    return .success(
      (reply.value.pincer("items")?.elements ?? []).map {
        Name(
          thread: $0.pincerText("threadId"), job: $0.pincerText("jobId"),
          title: $0.pincerText("goal"), updated: $0.pincerTime("updatedAt"))
      })
  }

  // MARK: - What they tell

  /// Reads what is new in all of them.
  ///
  /// - Returns: why that cannot be done; nil when all was read.
  mutating func read(_ waiter: Waiter) throws(LinkEnd) -> Failure? {
    let names: [Name]
    switch try Self.list(calls, waiter) {
    case .failure(let failure): return failure
    case .success(let found): names = found
    }
    for name in names {
      if let failure = try read(name, waiter) { return failure }
    }
    return nil
  }

  private mutating func read(_ name: Name, _ waiter: Waiter) throws(LinkEnd) -> Failure? {
    let thread = name.thread
    var state =
      known[thread] ?? Known(actions: PincerActions(origin, thread: thread, job: name.job))
    defer { known[thread] = state }
    let end: Int64
    switch try Self.lastSequence(of: thread, calls, waiter) {
    case .failure(let failure): return failure
    case .success(let number): end = number
    }
    var tries = 0
    while state.last < end {
      guard tries < Self.mostTries else {
        return Failure("the events of thread \(thread) do not come", .temporary)
      }
      tries += 1
      let request: Request
      do throws(Failure) {
        request = try calls.server.request(PincerMethod.watchThread.path, method: "POST", body: [])
      } catch {
        return error
      }
      let question = RecordText().string("threadId", thread)
        .string("fromSequence", String(state.last))
      let reply = ConnectReply(waiter, request, message: question.bytes)
      do throws(LinkEnd) {
        while state.last < end {
          let until = reply.lastHeard + Self.patience
          switch try reply.receive(until: until) {
          case .message(let message):
            guard let event = message.withUnsafeBytes({ try? JSONValue.parse($0) }) else {
              continue
            }
            let number = event.pincerNumber("sequence") ?? 0
            // A hole is a loss on the way, which another connection mends.
            if number > state.last + 1, tries < Self.mostTries { throw .lost("a hole") }
            if number <= state.last { continue }
            state.actions.receive(event)
            (state.last, tries) = (number, 1)
          case .oversize: state.last += 1
          case .end(let error?, let head): return calls.server.problem(of: error, head)
          case .end(nil, _): throw .lost("the server ended the stream")
          case nil: if Clock.monotonic >= until { throw .lost("nothing comes") }
          }
        }
      } catch {
        switch error {
        case .lost: continue
        case .refused(let head, let body): return calls.server.pincerProblem(head, body)
        case .failed(let problem, _): return problem
        default: throw error
        }
      }
    }
    return nil
  }

  /// The number of the last event of a thread.
  static func lastSequence(
    of thread: String, _ calls: PincerCalls, _ waiter: Waiter
  ) throws(LinkEnd) -> Result<Int64, Failure> {
    var place = 0
    while true {
      let outcome = try calls.ask(
        .listThreadMessages, PincerMessages.question(thread, at: place), waiter)
      if outcome.isUnreadable, place < PincerMessages.furthest {
        place = PincerMessages.other(than: place)
        continue
      }
      guard case .reply(let reply) = outcome else { return .failure(outcome.failure) }
      return .success(reply.value.pincerNumber("lastSequence") ?? 0)
    }
  }
}

extension PincerCalls.Outcome {
  fileprivate var failure: Failure { problem ?? Failure("no answer", .temporary) }
}
