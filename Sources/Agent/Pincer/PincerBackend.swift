import Core
import Records
import Web

/// A Pincer server (Agent/Pincer/CONTRACT.md).
struct PincerBackend: AgentBackend {
  let name = "a Pincer server"
  let has: Set<AgentCapability> = [.follow, .call, .chat, .approvals]

  var operations: [Operation] { PincerOperations.all }

  let headers = [Header("Connect-Protocol-Version", "1")]

  /// The longest silence of a stream without an answer of the server, seconds.
  static let usualSilence = 30.0

  /// A Connect server's own word decides, whatever the status.
  func problem(of answer: ErrorAnswer, from server: AgentServer) -> Failure? {
    guard let error = ConnectError(reading: answer.json) else { return nil }
    return answer.problem(server.words(for: error, answer.head), error.code.status)
  }

  func events(
    of agent: AgentAccess, _ wishes: FollowWishes
  ) throws(Failure) -> FollowedStream {
    guard let thread = wishes.thread, !thread.isEmpty else { return try all(of: agent, wishes) }
    let server = agent.backend
    let source = "thread \(thread) of \(agent.profile.name ?? server.base.display)"
    let resume = try wishes.state.map { file throws(Failure) in
      let resume = try ResumePoint(file, source: source)
      let id = resume.state.lastEventID
      guard id.isEmpty || Int64(id).map({ $0 >= 0 }) == true else {
        throw Failure(file.path, "its event id is no number")
      }
      return resume
    }
    var stream = FollowedStream(server.base.display, resume: resume) { follow in
      let watch = PincerWatch(
        follow, server, thread: thread, last: follow.lastNumber ?? 0,
        given: resume.flatMap { Int64($0.state.lastEventID) } ?? 0)
      return { () throws(LinkEnd) in
        follow.restart(behind: watch.last)
        try watch.run { event, message throws(LinkEnd) in
          let id = Array(String(watch.last).utf8)
          try follow.print(
            HeldEvent(type: Array(event.name.utf8), id: id, data: message),
            number: event.sequence == 0 ? nil : event.sequence)
        }
      }
    }
    stream.isNumbered = true
    stream.judge = server.pincerProblem
    if stream.lastEventID.isEmpty { stream.lastEventID = String(wishes.from ?? 0) }
    stream.usualSilence = Self.usualSilence
    return stream
  }

  /// The events of all threads, for which there is no place to go on from.
  private func all(
    of agent: AgentAccess, _ wishes: FollowWishes
  ) throws(Failure) -> FollowedStream {
    if wishes.state?.isFixed == true {
      throw Failure("--resume", "the place is kept in one thread of \(name): name it")
    }
    if let from = wishes.from, from != 0 {
      throw Failure("--from", "events of \(name) have numbers in each thread: name one, or give 0")
    }
    let server = agent.backend
    var stream = FollowedStream(server.base.display) { follow in
      let watch = PincerWatchAll(follow, server, isWhole: wishes.from == 0)
      return { () throws(LinkEnd) in
        try watch.run { event, message throws(LinkEnd) in
          let id = Array(String(event.sequence).utf8)
          try follow.print(HeldEvent(type: Array(event.name.utf8), id: id, data: message))
        }
      }
    }
    stream.judge = server.pincerProblem
    // The lists tell whether it lives, and no silence.
    return stream
  }

  func chat(with agent: AgentAccess, _ wishes: ChatWishes) throws(Failure) -> any ChatLine {
    PincerChat(agent, wishes)
  }

  func approvals(
    of agent: AgentAccess, _ wishes: ApprovalWishes, policy: StreamPolicy
  ) throws(Failure) -> any ApprovalLine {
    PincerApprovals(agent, policy: policy)
  }
}
