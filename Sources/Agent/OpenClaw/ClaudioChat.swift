import Core
import Records
import Turns
import Web

/// A line to Claudio's own HTTP server (Agent/OpenClaw/CONTRACT.md 11): one answer a request,
/// without a stream. The server keeps no conversation: all that was said goes with each
/// question, and is kept here.
final class ClaudioChat: RequestChat, ChatLine {
  private var said: [[UInt8]] = []

  // MARK: - Asking

  func ask(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd {
    let fault = !question.attachments.isEmpty ? "takes no files" : "has no threads"
    if !question.attachments.isEmpty || question.thread != nil {
      return .refused(Failure("Claudio's server \(fault)", .failure))
    }
    let words = RecordText().string("role", "user").string("content", question.text).bytes
    let body = RecordText().list("messages", said + [words]).string("agent", question.agent)
    var turn = TurnRecord(
      origin, id: question.key, thread: question.agent ?? "main", state: .running, time: .now())
    turn.agent = question.agent
    turn.started = turn.time
    waiter.news(.turn(turn))
    // Why the words did not go out when they could.
    var withheld: Failure?
    let reply: Caller.Reply
    do throws(LinkEnd) {
      reply = try self.reply("api/chat/agent", body, waiter) {
        withheld = waiter.sends()
        return withheld == nil
      }
    } catch {
      if let withheld { return finish(turn, .refused(withheld), waiter) }
      switch error {
      // A POST is not sent again: whether it was done, nobody knows.
      case .lost(let reason, _): return finish(turn, .lost(reason), waiter)
      case .failed(let problem, _): return finish(turn, .refused(problem), waiter)
      default:
        guard waiter.isAborted else { throw error }
        return finish(turn, .aborted(nil), waiter)
      }
    }
    return receive(reply, words, turn, waiter)
  }

  private func receive(
    _ reply: Caller.Reply, _ words: [UInt8], _ turn: TurnRecord, _ waiter: ChatWaiter
  ) -> ChatEnd {
    let json = try? JSONValue.parse(reply.body)
    guard let message = json?["choices"]?.elements.first?["message"],
      let text = OpenClawMessage.text(of: message)
    else {
      let reason = "\(reply.head.summary): not an answer of Claudio's server"
      return finish(turn, .refused(Failure(reason, .failure, isStray: true)), waiter)
    }
    said += [words, RecordText().string("role", "assistant").string("content", text).bytes]
    var turn = turn
    // An agent that chose silence said nothing.
    if !text.isEmpty {
      let record = MessageRecord(
        origin, id: turn.id, thread: turn.thread, turn: turn.id, role: .assistant, text: text,
        state: .final,
        time: .now())
      turn.message = record.id
      waiter.news(.message(record))
    }
    return finish(turn, .answered, waiter)
  }

  private func finish(_ turn: TurnRecord, _ end: ChatEnd, _ waiter: ChatWaiter) -> ChatEnd {
    if let record = turn.ended(end, now: .now()) { waiter.news(.turn(record)) }
    return end
  }

  // MARK: - Lists and audio

  func list(
    _ list: ChatList, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    guard case .agents = list else {
      return .failure(Failure(place, "Claudio's server keeps no threads", .failure))
    }
    return try result { () throws(LinkEnd) in
      let reply = try reply("api/agents", nil, waiter)
      return try LinkEnd.ifFailed(Answer.list(reply, "agents", place: place))
    }
  }

  func speak(
    _ text: String, agent: String?, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[UInt8], Failure> {
    let body = RecordText().string("text", text).string("agent", agent)
    return try result { () throws(LinkEnd) in
      let reply = try reply("api/tts", body, waiter)
      let type = reply.head.value("Content-Type")?.lowercased() ?? "audio"
      let isAudio = type.hasPrefix("audio") || type.hasPrefix("application/octet-stream")
      if isAudio, !reply.body.isEmpty { return reply.body }
      throw .failed(Failure("\(reply.head.summary): no audio", .failure))
    }
  }

  private func reply(
    _ path: String, _ body: RecordText?, _ waiter: Waiter, onSend: (() -> Bool)? = nil
  ) throws(LinkEnd) -> Caller.Reply {
    let request = try LinkEnd.ifFailed(
      server.request(path, method: body == nil ? "GET" : "POST", body: body?.bytes))
    return try server.reply(to: request, waiter, silence: silence, onSend: onSend)
  }
}

/// What lines have in common of which each question is a request.
class RequestChat {
  final var place: String { server.base.display }
  final var knowsKeys: Bool { false }
  final var hasLink: Bool { false }
  final let server: AgentServer
  final let origin: RecordOrigin
  /// Seconds without a byte after which an answer is given up.
  final let silence: Double

  init(_ agent: AgentAccess, _ backend: RecordOrigin.Backend, policy: StreamPolicy) {
    server = agent.backend
    origin = agent.origin(backend)
    silence = policy.idleTimeout ?? .infinity
  }
}

extension AgentServer {
  /// Asks, and waits for an answer of 2xx.
  ///
  /// - Parameter silence: seconds without a byte after which the answer is given up.
  /// - Throws: `LinkEnd.lost` where none came, `failed` for one that refuses.
  func reply(
    to request: Request, _ waiter: Waiter, silence: Double = 45, onSend: (() -> Bool)? = nil
  ) throws(LinkEnd) -> Caller.Reply {
    let start = Clock.monotonic
    switch try waiter.end(of: request, silence: silence, onSend: onSend) {
    case .failed(let reason): throw .lost(reason)
    case .late: throw .lost("no answer")
    case .unusable(let failure): throw .failed(failure.asStray)
    case .response(let head, let body):
      if let problem = problem(of: head, body, method: request.method) { throw .failed(problem) }
      return Caller.Reply(head: head, body: body, seconds: Clock.monotonic - start)
    }
  }
}

extension ChatLine {
  /// What is had of a server, or why it is not.
  func result<Value>(
    _ fetch: () throws(LinkEnd) -> Value
  ) throws(LinkEnd) -> Result<Value, Failure> {
    do throws(LinkEnd) { return .success(try fetch()) } catch {
      switch error {
      case .lost(let reason, _): return .failure(Failure(place, reason, .temporary))
      case .failed(let problem, _):
        return .failure(problem.place == nil ? Failure(place, problem) : problem)
      default: throw error
      }
    }
  }
}

extension TurnRecord {
  /// How its question ended; nil while it is under way.
  func end(ofFailure words: String) -> ChatEnd? {
    switch state {
    case .completed: .answered
    case .failed: .failed(reason ?? words)
    case .aborted: .aborted(reason)
    case .queued, .running, .paused: nil
    }
  }

  /// The turn as it is after a question ended; nil when it is not known to have ended.
  func ended(_ end: ChatEnd, now: Timestamp) -> TurnRecord? {
    var turn = self
    switch end {
    case .answered: turn.state = .completed
    case .failed(let reason): (turn.state, turn.reason) = (.failed, reason)
    case .aborted(let reason): (turn.state, turn.reason) = (.aborted, reason)
    case .refused(let problem): (turn.state, turn.reason) = (.failed, problem.message)
    case .paused, .lost: return nil
    }
    turn.ended = now
    turn.time = now
    return turn
  }
}
