import Core
import Records
import Web

/// The threads of a server, and what their events tell of actions, for where the lists of them
/// cannot be read (Agent/Pincer/CONTRACT.md 3.4).
struct PincerThreads {
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
    let job: String?
    /// When something last happened there.
    let updated: Timestamp?

    init?(_ row: JSONValue) {
      guard let thread = row.pincerWord("threadId") else { return nil }
      (self.thread, job) = (thread, row.pincerWord("jobId"))
      updated = row.pincerTime("updatedAt")
    }
  }

  /// All threads, and those of jobs.
  static func list(_ calls: PincerCalls, _ waiter: Waiter) throws(LinkEnd) -> [Name] {
    let rows = try calls.rows(.listThreads, waiter)
    let names = rows.compactMap { row in
      (try? JSONValue.parse(row)).flatMap(Name.init)
    }
    return names + (try jobs(calls, waiter))
  }

  /// The threads of jobs.
  static func jobs(_ calls: PincerCalls, _ waiter: Waiter) throws(LinkEnd) -> [Name] {
    let jobs = try calls.get(.listJobs, RecordText(), waiter).value.pincer("items")
    return (jobs?.elements ?? []).compactMap(Name.init)
  }

  // MARK: - What they tell

  /// Reads what is new in all of them.
  mutating func read(_ waiter: Waiter) throws(LinkEnd) {
    for name in try Self.list(calls, waiter) { try read(name, waiter) }
  }

  private mutating func read(_ name: Name, _ waiter: Waiter) throws(LinkEnd) {
    let thread = name.thread
    var state =
      known[thread] ?? Known(actions: PincerActions(origin, thread: thread, job: name.job))
    defer { known[thread] = state }
    let end = try calls.lastSequence(of: thread, waiter) ?? 0
    var tries = 0
    while state.last < end {
      guard tries < Self.mostTries else {
        throw .lost("the events of thread \(thread) do not come")
      }
      tries += 1
      do throws(LinkEnd) {
        let reply = try calls.watch(thread, behind: state.last, waiter)
        while state.last < end {
          let until = reply.lastHeard + Self.patience
          switch try reply.receive(until: until) {
          case .message(let message):
            guard let event = try? JSONValue.parse(message) else {
              continue
            }
            let number = event.pincerNumber("sequence") ?? 0
            // A hole is a loss on the way, which another connection mends.
            if number > state.last + 1, tries < Self.mostTries { throw .lost("a hole") }
            if number <= state.last { continue }
            state.actions.receive(event)
            (state.last, tries) = (number, 1)
          case .oversize: state.last += 1
          case .end(let error?, let head): throw .failed(calls.server.problem(of: error, head))
          case .end(nil, _): throw .lost("the server ended the stream")
          case nil: if Clock.monotonic >= until { throw .lost("nothing comes") }
          }
        }
      } catch {
        switch error {
        case .lost: continue
        case .refused(let head, let body): throw LinkEnd(calls.server.pincerProblem(head, body))
        case .failed(let problem, _): throw LinkEnd(problem)
        default: throw error
        }
      }
    }
  }
}
