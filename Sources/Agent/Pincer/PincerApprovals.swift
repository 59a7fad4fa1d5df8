import Core
import Records
import Turns
import Web

/// A line to a Pincer server that asks a person before it runs something
/// (Agent/Pincer/CONTRACT.md 3.3). What waits is listed again and again: there is no stream
/// of it. Nothing expires for want of a listener.
final class PincerApprovals: AnsweringLink {
  private let calls: PincerCalls
  /// What waits, or was approved and is not yet carried out.
  private var known: [String: ApprovalRecord] = [:]
  /// Answers on their way, by the action.
  private var sending: [String: Fetch] = [:]
  /// What became of these actions is not known, and whether the server said that they do not wait.
  private var unclear: [String: Bool] = [:]
  private var denied: Failure?
  /// What there is where a list cannot be read.
  private var threads: PincerThreads
  /// Whether what waits cannot be listed: answers by id go on.
  private var isUnlisted = false
  /// The threads of jobs, by the job.
  private var jobs: [String: String] = [:]
  private var isUp = false
  private var isListed = false
  /// When the next list is asked for, seconds of `Clock.monotonic`.
  private var askAt = 0.0
  /// When to look for what was approved, and how long apart: that list has no end.
  private var lookAt = Double.infinity
  private var lookWait = shortest

  /// How often what waits is listed, seconds.
  private static let interval = 2.0
  /// The first and the longest wait for what was approved, seconds.
  private static let (shortest, longest) = (2.0, 60.0)
  /// The lists in the order in which an action goes through them: one that moves on meanwhile is
  /// met in a later one.
  private static let lists = ["PENDING", "APPROVED", "EXECUTED", "REJECTED"]

  init(_ agent: AgentAccess, policy: StreamPolicy) {
    calls = PincerCalls(agent.client, agent.backend)
    threads = PincerThreads(calls, agent.origin(.pincer))
    super.init(agent.client, agent.backend.base.display, agent.origin(.pincer), policy) { _, _ in
      nil
    }
  }

  override var isReady: Bool { isListed || isUnlisted }

  override func follow(_ waiter: ApprovalWaiter) {
    serve(waiter) { () throws(LinkEnd) in
      while true {
        if !unclear.isEmpty { try lookForAnswers() }
        if askAt <= Clock.monotonic { try list() }
        try wait(until: askAt)
      }
    }
  }

  override func stop() { sending = [:] }

  override func drop() { isUp = false }

  override func look() throws(LinkEnd) -> Double {
    let now = Clock.monotonic
    for (id, fetch) in sending {
      _ = fetch.due(now)
      guard let end = fetch.end else { continue }
      sending[id] = nil
      let outcome = calls.outcome(end)
      if let answer = answer(to: id) { settle(id, fate(of: answer, outcome)) }
    }
    if let denied { throw .failed(denied) }
    let next = try super.look()
    return unclear.isEmpty ? sending.values.reduce(next) { min($0, $1.due(now)) } : now
  }

  // MARK: - What waits

  private func list() throws(LinkEnd) {
    let listed = try records("PENDING")
    succeeded()
    if !isUp {
      isUp = true
      opened(place)
    }
    if listed == nil {
      if !isUnlisted {
        waiter?.link(
          .note("the server cannot list what waits (not UTF-8): its threads are read instead"))
      }
      isUnlisted = true
      try threads.read(self)
    }
    let waiting = (listed ?? threads.records).filter { $0.state == .pending }
    for record in waiting {
      let old = known[record.id]
      if old.map({ $0.state == .pending && $0 != record }) ?? true { change(record) }
    }
    var gone = Set(known.values.filter { $0.state == .pending }.map(\.id))
      .subtracting(waiting.map(\.id))
    if lookAt <= Clock.monotonic {
      gone.formUnion(known.values.filter { $0.state == .approved }.map(\.id))
    }
    let found = try find(gone)
    for id in gone.sorted() { end(id, as: found[id]) }
    self.listed(Clock.monotonic)
  }

  /// Nil where one of them keeps the server from listing any.
  private func records(_ status: String) throws(LinkEnd) -> [ApprovalRecord]? {
    let reply: PincerCalls.Reply
    switch try calls.ask(.listApprovals, RecordText().string("status", status), self) {
    case .success(let found): reply = found
    case .failure(let refusal) where refusal.isUnreadable: return nil
    case .failure(let refusal): throw LinkEnd(refusal.problem)
    }
    let actions = PincerPages.items(reply.bytes).compactMap {
      PincerAction($0, asked: status, origin)
    }
    if actions.contains(where: { $0.job.map { jobs[$0] == nil } ?? false }) {
      do throws(LinkEnd) {
        for name in try PincerThreads.jobs(calls, self) {
          if let job = name.job { jobs[job] = name.thread }
        }
      } catch {
        if case .over = error { throw error }
      }
    }
    return actions.map { action in
      var record = action.record
      record.thread = record.thread ?? action.job.flatMap { jobs[$0] }
      return record
    }
  }

  /// Looks for actions in all lists, until each is found; in the threads where a list cannot be
  /// read.
  private func find(_ ids: Set<String>) throws(LinkEnd) -> [String: ApprovalRecord] {
    var found: [String: ApprovalRecord] = [:]
    func take(_ records: [ApprovalRecord]) {
      for record in records where ids.contains(record.id) { found[record.id] = record }
    }
    var isWhole = true
    for status in Self.lists where found.count < ids.count {
      let records = try records(status)
      isWhole = isWhole && records != nil
      take(records ?? [])
    }
    if !isWhole, found.count < ids.count {
      try threads.read(self)
      take(threads.records)
    }
    return found
  }

  /// What became of an action that does not wait any more.
  private func end(_ id: String, as found: ApprovalRecord?) {
    guard var record = known[id] else { return }
    if let found {
      if !record.state.mayBecome(found.state) || record.state == found.state { return }
      record = found
    } else {
      record.state = .cancelled
      record.reason = "the server does not list it any more"
    }
    record.time = .now()
    change(record)
  }

  private func change(_ record: ApprovalRecord) {
    known[record.id] = record.state.isEnd ? nil : record
    waiter?.changed(record)
  }

  private func listed(_ now: Double) {
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

  // MARK: - Answers

  /// The server's word for a decision.
  override func word(_ decision: ApprovalDecision) -> String { Self.word(decision.decision) }

  static func word(_ decision: String) -> String {
    switch decision {
    case "approved", "yes": "approve"
    case "deny", "denied", "rejected", "no": "reject"
    default: decision
    }
  }

  override func send(_ answer: GivenAnswer) -> AnswerFate? {
    guard answer.decision.answers.isEmpty else { return .ended(.refused, "it is no question") }
    if answer.due > Clock.monotonic { return .later(answer.due) }
    guard PincerApproval.decisions.contains(answer.word) else {
      let words = PincerApproval.decisions.joined(separator: ", ")
      return .ended(.refused, "the server takes: \(words)")
    }
    let isYes = answer.word == "approve"
    let question = RecordText().string("actionId", answer.decision.id)
      .string("reason", isYes ? nil : answer.decision.reason)
    do throws(Failure) {
      sending[answer.decision.id] = try calls.begin(
        isYes ? .approveAction : .rejectAction, question)
    } catch {
      return fate(of: answer, .failure(.init(problem: error)))
    }
    return nil
  }

  private func fate(of answer: GivenAnswer, _ outcome: PincerCalls.Outcome) -> AnswerFate {
    switch outcome {
    case .success(let reply): return fate(of: answer, reply.value)
    case .failure(let refusal):
      let (problem, error) = (refusal.problem, refusal.error)
      switch error?.code {
      case .notFound: return .ended(.notFound, nil)
      case .failedPrecondition where error?.message.holds("expired") == true:
        return .ended(.late, "it is expired")
      case .failedPrecondition:
        unclear[answer.decision.id] = true
        return .unclear(problem.message)
      default:
        if problem.status == .temporary { return .unclear(problem.message) }
        if problem.status == .denied { denied = problem }
        return .ended(.refused, problem.message)
      }
    }
  }

  private func fate(of answer: GivenAnswer, _ reply: JSONValue) -> AnswerFate {
    let named = reply.pincerText("actionId")
    if !named.isEmpty, named != answer.decision.id {
      return .ended(.unknown, "the reply is about another action: \(named)")
    }
    // Looked for, and not sent again: a person is to see what the server says.
    if reply["ok"]?.bool == false {
      return .unclear("the server says that it is not done", mayRepeat: false)
    }
    let isYes = answer.word == "approve"
    if let status = reply.pincerEnum("status", PincerApproval.states) {
      let states = isYes ? ["APPROVED", "EXECUTED"] : ["REJECTED"]
      guard states.contains(where: { status == $0 || status.hasSuffix("_\($0)") }) else {
        return .unclear("the server says that it is \(status.lowercased())", mayRepeat: false)
      }
    }
    let isUnheard = isYes && answer.decision.reason?.isEmpty == false
    return .ended(.accepted, isUnheard ? "an approval takes no reason: not sent" : nil)
  }

  override func look(for answer: GivenAnswer) -> AnswerFate? {
    let id = answer.decision.id
    unclear[id] = unclear[id] ?? false
    return nil
  }

  private func lookForAnswers() throws(LinkEnd) {
    let ids = unclear
    var (found, failure): ([String: ApprovalRecord], String?) = ([:], nil)
    do throws(LinkEnd) { found = try find(Set(ids.keys)) } catch {
      switch error {
      case .lost(let reason, _): failure = reason
      case .failed(let problem, _): failure = problem.message
      default: throw error
      }
    }
    for (id, isOver) in ids {
      unclear[id] = nil
      guard let answer = answer(to: id) else { continue }
      settle(id, failure == nil ? fate(of: answer, found[id], isOver: isOver) : .waits)
    }
  }

  private func fate(
    of answer: GivenAnswer, _ found: ApprovalRecord?, isOver: Bool
  ) -> AnswerFate {
    switch found?.state {
    case .pending: .waits
    case .expired: .ended(.late, "it is expired")
    case .approved, .executed, .rejected: .decided(found?.decision ?? "", found?.reason)
    case .cancelled, nil:
      isOver
        ? .ended(.late, "it does not wait any more")
        : .ended(
          .unknown, "no reply came, and it is not listed: \(answer.reason ?? "nothing is said")")
    }
  }
}

/// An action that waits for a person, as a Pincer server lists it
/// (Agent/Pincer/CONTRACT.md 3.3).
struct PincerAction {
  var record: ApprovalRecord
  /// The job whose it is; nil for one of a chat.
  let job: String?

  /// The reason of one that was rejected because its time was over.
  static let expired = "expired"
  private static let usualReason = "rejected_by_user"

  /// Nil for a row without an id.
  init?(_ row: [UInt8], asked: String, _ origin: RecordOrigin) {
    guard let value = try? JSONValue.parse(row) else { return nil }
    guard let id = value.pincerWord("actionId") else { return nil }
    // A source has several names; its id tells.
    let source = value.pincerText("sourceId")
    let job = source.hasPrefix("job_") ? source : nil
    self.job = job
    var record = PincerApproval.record(
      origin, value, id: id, tool: value.pincerText("tool"),
      preview: ScanMembers.copy(of: "preview", in: row), job: job,
      time: value.pincerTime("createdAt"))
    if source.hasPrefix("thr_") { record.thread = source }
    if source.hasPrefix("turn_") { record.turn = source }
    Self.decide(
      &record, value.pincerEnum("status", PincerApproval.states) ?? asked,
      reason: value.pincerText("rejectionReason"))
    self.record = record
  }

  static func decide(_ record: inout ApprovalRecord, _ status: String, reason: String) {
    switch status {
    case "APPROVED": (record.state, record.decision) = (.approved, "approve")
    case "EXECUTED": (record.state, record.decision) = (.executed, "approve")
    case "REJECTED" where reason == expired: (record.state, record.reason) = (.expired, reason)
    case "REJECTED":
      (record.state, record.decision) = (.rejected, "reject")
      record.reason = reason.isEmpty || reason == usualReason ? nil : reason
    default: record.state = .pending
    }
  }
}

extension PincerApproval {
  /// What a server says of an action, in a list or in an event.
  fileprivate static func record(
    _ origin: RecordOrigin, _ value: JSONValue, id: String, tool: String, preview: [UInt8]?,
    job: String?, time: Timestamp?
  ) -> ApprovalRecord {
    var record = (preview ?? Array("{}".utf8)).withUnsafeBytes { preview in
      PincerApproval.record(
        origin, id: id, tool: tool, risk: value.pincerEnum("riskClass", risks),
        preview: ScanValue(preview), job: job, time: time)
    }
    record.summary = value.pincerWord("deterministicSummary")
    record.expires = value.pincerTime("expiresAt")
    return record
  }
}

/// The actions of a thread as its events tell them (Agent/Pincer/CONTRACT.md 4.1), for where the
/// lists of them cannot be read (3.4). No network, no clock.
struct PincerActions {
  private let origin: RecordOrigin
  private let thread: String
  private let job: String?
  private(set) var records: [ApprovalRecord] = []
  /// Calls that did not run yet and were not proposed: the event that proposes one may be lost.
  private var planned: [(turn: String, record: ApprovalRecord)] = []

  /// `job`: whose thread it is; nil for that of a chat.
  init(_ origin: RecordOrigin, thread: String, job: String? = nil) {
    (self.origin, self.thread, self.job) = (origin, thread, job)
  }

  mutating func receive(_ event: JSONValue) {
    let turn = event.pincerText("turnId")
    let time = event.pincerTime("occurredAt")
    func record(
      _ value: JSONValue, _ id: String, _ tool: String, _ preview: String
    ) -> ApprovalRecord {
      var record = PincerApproval.record(
        origin, value, id: id, tool: value.pincerText(tool),
        preview: value.pincer(preview).map { Array($0.compact().utf8) }, job: job, time: time)
      (record.thread, record.turn) = (thread, event.pincerWord("turnId"))
      return record
    }
    if let call = event.pincer("toolCallPlanned") {
      let id = call.pincerText("toolCallId")
      guard !id.isEmpty, !planned.contains(where: { $0.record.id == id }) else { return }
      planned.append((turn, record(call, id, "toolName", "args")))
    } else if let action = event.pincer("proposedActionCreated") {
      guard let id = action.pincerWord("actionId") else { return }
      var record = record(action, id, "tool", "preview")
      record.toolCall = id
      add(record)
    } else if let start = event.pincer("toolExecutionStarted") {
      planned.removeAll { $0.record.id == start.pincerText("toolCallId") }
    } else if let pause = event.pincer("turnPaused") {
      propose(turn, most: Int(clamping: pause.pincerNumber("pendingActionCount") ?? 0))
    } else if let change = event.pincer("proposedActionStatusChanged") {
      decide(change, time)
    } else if event.pincer("turnCompleted") != nil || event.pincer("turnFailed") != nil {
      planned.removeAll { $0.turn == turn }
    }
  }

  private mutating func add(_ record: ApprovalRecord) {
    planned.removeAll { $0.record.id == record.id }
    if !records.contains(where: { $0.id == record.id }) { records.append(record) }
  }

  /// The pause counts the actions whose proposals are lost, too.
  private mutating func propose(_ turn: String, most: Int) {
    let told = records.count { $0.turn == turn && $0.state == .pending }
    for call in planned.filter({ $0.turn == turn }).prefix(max(most - told, 0)) {
      add(call.record)
    }
  }

  private mutating func decide(_ change: JSONValue, _ time: Timestamp?) {
    let id = change.pincerText("actionId")
    if let call = planned.first(where: { $0.record.id == id }) { add(call.record) }
    guard let index = records.firstIndex(where: { $0.id == id }) else { return }
    PincerAction.decide(
      &records[index], change.pincerEnum("status", PincerApproval.states) ?? "PENDING",
      reason: change.pincerText("reason"))
    records[index].time = time ?? records[index].time
  }
}

/// The threads of a server, and what their events tell of actions, for where the lists of them
/// cannot be read (Agent/Pincer/CONTRACT.md 3.4).
struct PincerThreads {
  /// How long stored events may be on their way, seconds, and how often they are asked for.
  private static let (patience, mostTries) = (5.0, 3)

  private let calls: PincerCalls
  private let origin: RecordOrigin
  /// The number is that of the last event that was read.
  private var known: [String: (actions: PincerActions, last: Int64)] = [:]

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
    var state = known[thread] ?? (PincerActions(origin, thread: thread, job: name.job), 0)
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
            guard let event = try? JSONValue.parse(message) else { continue }
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
