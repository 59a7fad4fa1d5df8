import Core
import Records
import Turns
import Web

/// A line to Claudio's own HTTP server (Agent/OpenClaw/CONTRACT.md 11): one answer a request,
/// without a stream. The server keeps no conversation: all that was said goes with each
/// question, and is kept here.
final class ClaudioChat: ChatLine {
  weak var listener: (any ChatListener)?
  var place: String { server.base.display }
  var knowsKeys: Bool { false }
  var hasLink: Bool { false }
  private let client: WebClient
  private let server: AgentServer
  private let origin: RecordOrigin
  /// Seconds without a byte after which an answer is given up.
  private let silence: Double
  private var fetches: [Int: Fetch] = [:]
  private var lastFetch = 0
  /// What was said so far, as the server wants it.
  private var said: [[UInt8]] = []
  private var turn: TurnRecord?
  /// Which fetch brings the answer.
  private var asking: Int?

  init(_ agent: AgentAccess, policy: StreamPolicy) {
    client = agent.client
    server = agent.backend
    origin = agent.origin(.claudio)
    silence = policy.idleTimeout ?? .infinity
  }

  func tick(now: Double) -> Double {
    fetches.values.reduce(.infinity) { min($0, $1.tick(now: now)) }
  }

  func stop() {
    for fetch in fetches.values { fetch.cancel() }
    fetches = [:]
    (turn, asking) = (nil, nil)
  }

  // MARK: - Asking

  func ask(_ question: ChatQuestion) {
    if !question.attachments.isEmpty { return refuse("takes no files") }
    if question.thread != nil { return refuse("has no threads") }
    let words = RecordText().string("role", "user").string("content", question.text).bytes
    let body = RecordText().list("messages", said + [words]).string("agent", question.agent)
    var turn = TurnRecord(
      origin, id: question.key, thread: question.agent ?? "main", state: .running, time: .now())
    turn.agent = question.agent
    turn.started = turn.time
    self.turn = turn
    listener?.chatNews(.turn(turn))
    // Why the words did not go out when they could.
    var withheld: AnswerProblem?
    let onSend = { [unowned self] in
      withheld = listener?.chatSends()
      return withheld == nil
    }
    asking = fetch("api/chat/agent", body, onSend: onSend) { [unowned self] result in
      asking = nil
      if let withheld { return finish(.refused(withheld)) }
      switch result {
      case .success(let reply): take(reply, words)
      case .failure(let failure): finish(Self.end(failure))
      }
    }
  }

  func abort() {
    guard let asking, turn != nil else { return listener?.chatEnded(.aborted(nil)) ?? () }
    fetches.removeValue(forKey: asking)?.cancel()
    self.asking = nil
    finish(.aborted(nil))
  }

  private func refuse(_ reason: String) {
    listener?.chatEnded(.refused(AnswerProblem("Claudio's server \(reason)", .failure)))
  }

  private func take(_ reply: Caller.Reply, _ words: [UInt8]) {
    let json = try? reply.body.withUnsafeBytes { try JSONValue.parse($0) }
    guard let message = json?["choices"]?.elements.first?["message"],
      let text = OpenClawMessage.text(of: message)
    else {
      let reason = "\(reply.head.summary): not an answer of Claudio's server"
      return finish(.refused(AnswerProblem(reason, .failure, isStray: true)))
    }
    said += [words, RecordText().string("role", "assistant").string("content", text).bytes]
    // An agent that chose silence said nothing.
    if let turn, !text.isEmpty {
      var record = MessageRecord(
        origin, id: turn.id, thread: turn.thread, role: .assistant, text: text, state: .final,
        time: .now())
      record.turn = turn.id
      self.turn?.message = record.id
      listener?.chatNews(.message(record))
    }
    finish(.answered)
  }

  private func finish(_ end: ChatEnd) {
    if let record = turn?.ended(end, now: .now()) { listener?.chatNews(.turn(record)) }
    turn = nil
    listener?.chatEnded(end)
  }

  /// A POST is not sent again: whether it was done, nobody knows.
  private static func end(_ failure: HTTPFailure) -> ChatEnd {
    switch failure {
    case .network(let reason): .lost(reason)
    case .answer(let problem): .refused(problem)
    }
  }

  // MARK: - Lists and audio

  func list(_ list: ChatList, then: @escaping (Result<[[UInt8]], CallFailure>) -> Void) {
    guard case .agents = list else {
      return then(
        .failure(CallFailure(server.base.display, "Claudio's server keeps no threads", .failure)))
    }
    let place = server.base.display
    fetch("api/agents", nil) { result in
      do throws(CallFailure) {
        switch result {
        case .success(let reply):
          then(.success(try Answer.list(reply, "agents", place: place)))
        case .failure(let failure): throw failure.at(place)
        }
      } catch {
        then(.failure(error))
      }
    }
  }

  func speak(
    _ text: String, agent: String?, then: @escaping (Result<[UInt8], CallFailure>) -> Void
  ) {
    let place = server.base.display
    fetch("api/tts", RecordText().string("text", text).string("agent", agent)) { result in
      switch result {
      case .success(let reply):
        let type = reply.head.value("Content-Type")?.lowercased() ?? "audio"
        let isAudio = type.hasPrefix("audio") || type.hasPrefix("application/octet-stream")
        if isAudio, !reply.body.isEmpty { return then(.success(reply.body)) }
        let reason = "\(reply.head.summary): no audio"
        then(.failure(CallFailure(place, reason, .failure)))
      case .failure(let failure): then(.failure(failure.at(place)))
      }
    }
  }

  // MARK: - Requests

  /// Why there is no answer.
  private enum HTTPFailure: Error {
    case network(String)
    case answer(AnswerProblem)

    func at(_ place: String) -> CallFailure {
      switch self {
      case .network(let reason): CallFailure(place, reason, .temporary)
      case .answer(let problem): CallFailure(place, problem)
      }
    }
  }

  @discardableResult
  private func fetch(
    _ path: String, _ body: RecordText?, onSend: (() -> Bool)? = nil,
    then: @escaping (Result<Caller.Reply, HTTPFailure>) -> Void
  ) -> Int {
    lastFetch += 1
    let number = lastFetch
    let method = body == nil ? "GET" : "POST"
    let request: Request
    do throws(SettingsError) {
      request = try server.request(path, method: method, body: body?.bytes)
    } catch {
      then(.failure(.answer(AnswerProblem(error.message, error.status))))
      return number
    }
    let start = Clock.monotonic
    fetches[number] = Fetch(client, request, now: start, silence: silence, onSend: onSend) {
      [unowned self] end in
      fetches[number] = nil
      switch end {
      case .failed(let reason): then(.failure(.network(reason)))
      case .unusable(let reason):
        then(.failure(.answer(AnswerProblem(reason, .failure, isStray: true))))
      case .response(let head, let body):
        if let problem = server.problem(of: head, body, method: method) {
          return then(.failure(.answer(problem)))
        }
        then(
          .success(
            Caller.Reply(head: head, body: body, seconds: Clock.monotonic - start)))
      }
    }
    return number
  }
}

extension TurnRecord {
  /// The turn as it is after a question ended; nil when it is not known to have ended.
  func ended(_ end: ChatEnd, now: Timestamp) -> TurnRecord? {
    var turn = self
    switch end {
    case .answered: turn.state = .completed
    case .failed(let reason): (turn.state, turn.reason) = (.failed, reason)
    case .aborted(let reason): (turn.state, turn.reason) = (.aborted, reason)
    case .refused(let problem): (turn.state, turn.reason) = (.failed, problem.line)
    case .paused, .lost: return nil
    }
    turn.ended = now
    turn.time = now
    return turn
  }
}
