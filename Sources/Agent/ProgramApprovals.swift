import CLibc
import Core
public import Records
import Turns
import Web

/// Approvals that other commands of this suite follow and answer, one for each agent: tmux-attach(1)
/// what is asked on a host, agent-approve(1) what the agent of one of several profiles asks.
public final class ProgramApprovals: ApprovalLine {
  /// Who is followed, by a command that tells what waits, and one that reads answers.
  public struct Agent: Sendable {
    fileprivate let name: String
    /// Of the agents there; nil for that of a profile.
    fileprivate let host: HostPlace?
    fileprivate let profile: String?
    /// How long what waits may take to be told, seconds: a Pincer server is asked every two.
    fileprivate let lag: Double
    fileprivate let (watch, answers): ([String], [String])
    fileprivate let environment: [String: String?]

    /// The agents on a host.
    public static func host(_ place: HostPlace, profile: String?) -> Agent {
      let words = { ["tmux-attach", "-q", $0, place.host] }
      return Agent(
        name: profile ?? place.host, host: place, profile: profile, lag: 2,
        watch: words("--asks"), answers: words("--decide"), environment: [:])
    }

    /// That of a profile, by the words of agent-approve(1).
    public static func profile(_ name: String, words: [String]) -> Agent {
      // A token of one agent must not go to the others.
      Agent(
        name: name, host: nil, profile: nil, lag: 4, watch: words + ["-w"],
        answers: words + ["-"],
        environment: [
          ProgramApprovals.isPart: "1", "AGENT_URL": nil, "AGENT_TOKEN_FILE": nil,
          "CREDENTIALS_DIRECTORY": nil,
        ])
    }
  }

  /// Of agent-approve(1) as a part of another: it says when all that waits was told.
  public static let isPart = "AGENTUTILS_APPROVALS_PART"

  private final class Part {
    let agent: Agent
    let watch: HostProgram
    var answers: HostProgram?
    var isListed = false
    var hasEnded = false
    /// What was sent and has no reply yet.
    var sent: [(decision: ApprovalDecision, word: String, number: Int)] = []

    init(_ agent: Agent, _ watch: HostProgram) { (self.agent, self.watch) = (agent, watch) }
  }

  /// Whose the records are.
  public let origin: RecordOrigin
  private let agents: [Agent]
  private let wishes: ApprovalWishes
  private var parts: [Part] = []
  /// Answers to be given; `until` is how long what they answer may take to be told, seconds of
  /// `Clock.monotonic`.
  private var waiting: [(decision: ApprovalDecision, number: Int, until: Double)] = []
  /// What was told, by its id, and whose it is.
  private var told: [String: (approval: ApprovalRecord, part: Int)] = [:]
  private var isOpen = false
  private var wasOpen = false

  /// More than anybody looks back at.
  private static let mostTold = 10_000

  /// - Parameters:
  ///   - agents: at least one.
  ///   - wishes: what is wanted of them.
  public init(_ agents: [Agent], _ wishes: ApprovalWishes) {
    (self.agents, self.wishes) = (agents, wishes)
    origin = RecordOrigin(.claude, profile: agents.count == 1 ? agents[0].profile : nil)
  }

  /// Answers, once what it answers is known; see `ApprovalLine`.
  public func answer(_ decision: ApprovalDecision, number: Int) {
    // All that waited when the line was opened is known; what came since may be on its way.
    let until = isOpen ? Clock.monotonic + agents.reduce(0) { max($0, $1.lag) } : 0
    waiting.append((decision, number, until))
  }

  /// Ends the programs.
  public func stop() {
    for part in parts { part.watch.end() }
    parts = []
  }

  /// Follows what waits until the waiter has enough, or all programs have ended.
  public func follow(_ waiter: ApprovalWaiter) {
    do throws(LinkEnd) {
      while true {
        if parts.isEmpty { try begin() }
        for (number, part) in parts.enumerated() { read(part, number, waiter) }
        if parts.allSatisfy(\.hasEnded) { return end(waiter) }
        if !isOpen, parts.allSatisfy({ $0.isListed || $0.hasEnded }) {
          waiter.link(.open(place: place, isFirst: !wasOpen, down: nil))
          (isOpen, wasOpen) = (true, true)
          waiter.listed()
        }
        if wasOpen { try send(waiter) }
        // A program may end a moment behind its output.
        let isEnding = parts.contains { !$0.hasEnded && $0.watch.files.isEmpty }
        let next = wasOpen ? waiting.reduce(.infinity) { min($0, $1.until) } : .infinity
        try waiter.wait(until: isEnding ? Clock.monotonic + 0.02 : next) {
          () throws(LinkEnd) in
          parts.flatMap { $0.watch.files + ($0.answers?.files ?? []) }
        }
      }
    } catch .failed(let failure, _) {
      waiter.link(.ended(failure))
    } catch {
      // The waiter has enough.
    }
  }

  private var place: String { agents.map(\.name).joined(separator: ", ") }

  private func begin() throws(LinkEnd) {
    for agent in agents {
      let part = Part(
        agent, try HostProgram(agent.watch, environment: agent.environment))
      parts.append(part)
      if wishes.answers { try open(part) }
    }
  }

  private func open(_ part: Part) throws(LinkEnd) {
    part.answers = try HostProgram(
      part.agent.answers, staysOpen: true, environment: part.agent.environment)
  }

  // MARK: - What is told

  private func read(_ part: Part, _ number: Int, _ waiter: ApprovalWaiter) {
    while let line = part.watch.line() { receive(line, part, number, waiter) }
    if let answers = part.answers {
      answers.write()
      while let line = answers.line(), !part.sent.isEmpty {
        let (decision, word, number) = part.sent.removeFirst()
        let (result, reason, told) = part.agent.outcome(line, of: decision.id)
        tell(waiter, decision, number, told ?? word, result, reason)
      }
      if answers.hasEnded {
        let reason = answers.failure.reason
        for each in part.sent {
          tell(waiter, each.decision, each.number, each.word, .unknown, reason)
        }
        (part.answers, part.sent) = (nil, [])
      }
    }
    guard part.watch.hasEnded, !part.hasEnded else { return }
    part.hasEnded = true
    let failure = part.watch.failure
    if parts.count > 1 { waiter.link(.fault("\(part.agent.name): \(failure.reason)")) }
  }

  private func receive(_ line: [UInt8], _ part: Part, _ number: Int, _ waiter: ApprovalWaiter) {
    guard let value = JSONValue(line) else { return }
    switch value["type"]?.string {
    case "open": part.isListed = true
    case "lost":
      (part.isListed, isOpen) = (false, false)
      waiter.link(.lost(value["reason"]?.string ?? "", wait: value["retry_in"]?.number ?? 1))
    case "approval":
      guard var approval = Self.approval(line) else { return }
      guard part.agent.wants(approval) else { return }
      if let profile = part.agent.profile {
        approval.origin = RecordOrigin(approval.origin.backend, profile: profile)
      }
      // Whoever is shown one must not answer another: a server chooses its ids itself.
      if let other = told[approval.id], other.part != number {
        let names = "\(agents[other.part].name) and \(part.agent.name)"
        return waiter.link(.fault("\(names) ask under one id: the second is left out"))
      }
      if told.count >= Self.mostTold { told = told.filter { $0.value.approval.state == .pending } }
      told[approval.id] = (approval, number)
      waiter.changed(approval)
    default: break
    }
  }

  private static func approval(_ line: [UInt8]) -> ApprovalRecord? {
    line.withUnsafeBytes { bytes in
      guard let fields = try? RecordFields(bytes) else { return nil }
      return try? ApprovalRecord(reading: fields)
    }
  }

  private func end(_ waiter: ApprovalWaiter) {
    let failures = parts.map(\.watch.failure)
    for (decision, number, _) in waiting {
      let reason = "it was not sent: \(failures[0].reason)"
      tell(waiter, decision, number, decision.decision, .refused, reason)
    }
    waiting = []
    let worst = failures.reduce(ExitStatus.success) { $0.worse($1.status) }
    waiter.link(
      .ended(parts.count == 1 ? failures[0] : Failure("no agent is followed any more", worst)))
  }

  // MARK: - Answers

  private func send(_ waiter: ApprovalWaiter) throws(LinkEnd) {
    let all = waiting
    waiting = []
    for (decision, number, until) in all {
      guard let (approval, index) = told[decision.id], decision.isFor(approval) else {
        if Clock.monotonic < until {
          waiting.append((decision, number, until))
        } else {
          tell(waiter, decision, number, decision.decision, .notFound, nil)
        }
        continue
      }
      let part = parts[index]
      if approval.state != .pending, part.agent.host != nil {
        let word = ClaudeAsk.word(decision, to: approval.request)
        tell(waiter, decision, number, word, .late, approval.reason)
        continue
      }
      let (word, line): (String, [UInt8])
      do throws(Failure) { (word, line) = try part.agent.line(decision, approval) } catch {
        tell(waiter, decision, number, decision.decision, .refused, error.reason)
        continue
      }
      if part.answers == nil { try open(part) }
      part.sent.append((decision, word, number))
      part.answers?.send(line + [10])
    }
  }

  private func tell(
    _ waiter: ApprovalWaiter, _ decision: ApprovalDecision, _ number: Int, _ word: String,
    _ result: ApprovalAnswer.Result, _ reason: String?
  ) {
    let origin = told[decision.id]?.approval.origin ?? origin
    var answer = ApprovalAnswer(
      origin, id: decision.id, decision: word, result: result, time: .now())
    answer.reason = reason
    waiter.answered(answer, number: number)
  }
}

extension ApprovalDecision {
  fileprivate func isFor(_ approval: ApprovalRecord) -> Bool {
    profile == nil || approval.origin.profile == nil || profile == approval.origin.profile
  }
}

extension ProgramApprovals.Agent {
  fileprivate func wants(_ approval: ApprovalRecord) -> Bool {
    guard let session = host?.session else { return true }
    return JSONValue(approval.request)?["session"]?.string == session
  }

  /// The word for a decision, and the line that gives it.
  fileprivate func line(
    _ decision: ApprovalDecision, _ approval: ApprovalRecord
  ) throws(Failure) -> (String, [UInt8]) {
    if host != nil {
      let output = try ClaudeAsk.output(decision, to: approval.request)
      let word = ClaudeAsk.word(decision, to: approval.request)
      return (word, Array("\(decision.id) ".utf8) + output)
    }
    let record = RecordText().string("id", decision.id)
      .string("decision", decision.answers.isEmpty ? decision.decision : nil)
      .strings("answers", decision.answers.isEmpty ? nil : decision.answers)
    return (
      decision.decision,
      record.string("reason", decision.reason).json("input", bytes: decision.input).bytes
    )
  }

  /// What a line of those that answer says came of a decision, and the word that it gives for it.
  fileprivate func outcome(
    _ line: [UInt8], of id: String
  ) -> (ApprovalAnswer.Result, String?, word: String?) {
    if host == nil {
      let told = JSONValue(line)
      guard told?["id"]?.string == id else { return (.unknown, "no reply to it", nil) }
      let result = told?["result"]?.string.flatMap(ApprovalAnswer.Result.init)
      return (result ?? .unknown, told?["reason"]?.string, told?["decision"]?.string)
    }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 1)
    return switch words.first {
    case "taken": (.accepted, nil, nil)
    case "late": (.late, "somebody else was faster", nil)
    case "over": (.late, "it was answered there, or the turn went on", nil)
    case "notFound": (.late, "it does not wait any more", nil)
    case "silent": (.unknown, "its hook does not take the answer", nil)
    default: (.unknown, words.count > 1 ? String(words[1]) : "no reply", nil)
    }
  }
}
