import Core
import Records
import Web

/// A line to the OpenResponses endpoint of a gateway (Agent/OpenClaw/CONTRACT.md 10): a request
/// a question, answered by an event stream. A stream that is cut cannot be taken up again,
/// and a question is never sent again by itself.
final class ResponsesChat: ChatLine {
  var place: String { server.base.display }
  var knowsKeys: Bool { false }
  var hasLink: Bool { false }
  private let server: AgentServer
  private let origin: RecordOrigin
  /// Seconds without a byte; the endpoint sends nothing while the agent works.
  private let silence: Double

  private var reply = ResponsesReply()
  private var pace = TextPace()
  private var restAt = 0.0

  /// The largest files and pictures that the endpoint takes, bytes.
  private static let (mostFile, mostPicture) = (5_000_000, 10_000_000)
  /// The most that is read of an answer that is not a stream, bytes.
  private static let mostBody = 64 << 20

  init(_ agent: AgentAccess, policy: StreamPolicy) {
    server = agent.backend
    origin = agent.origin(.openclaw)
    silence = policy.idleTimeout ?? .infinity
  }

  // MARK: - Asking

  func ask(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd {
    if let reason = GatewayLists.fault(thread: question.thread, agent: question.agent) {
      return .refused(Failure(reason, .failure))
    }
    for file in question.attachments {
      let (most, picture) = (Self.mostFile, Self.mostPicture)
      if let problem = file.problem(most: most, picture: picture) { return .refused(problem) }
    }
    let key = Self.sessionKey(question)
    if let reason = GatewayLists.fault(key: key) {
      return .refused(Failure(reason, .failure))
    }
    let agent = question.agent ?? question.thread.flatMap { GatewayKey($0)?.agent }
    let body = RecordText().string("model", agent.map { "openclaw/\($0)" } ?? "openclaw")
      .list("input", [Self.input(question)]).bool("stream", true).string("user", key)
    var request: Request
    do throws(Failure) {
      request = try self.request("responses", body: body.bytes)
    } catch {
      return .refused(error)
    }
    request.headers += [
      Header("x-openclaw-session-key", key), Header("Accept-Encoding", "identity"),
    ]
    var turn = TurnRecord(origin, id: question.key, thread: key, state: .running, time: .now())
    turn.agent = agent
    turn.started = turn.time
    (reply, pace) = (ResponsesReply(), TextPace())
    let end = try answer(to: request, &turn, waiter)
    if pace.isBehind { tell(&turn, waiter) }
    if let record = turn.ended(end, now: .now()) { waiter.news(.turn(record)) }
    return end
  }

  private func answer(
    to request: Request, _ turn: inout TurnRecord, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> ChatEnd {
    // Why the words did not go out when they could.
    var withheld: Failure?
    let response = LiveResponse(waiter, request) {
      withheld = waiter.sends()
      return withheld == nil
    }
    var body: [UInt8] = []
    do throws(LinkEnd) {
      var parser = EventParser(maxEventBytes: GatewayTurn.mostBytes)
      while reply.end == nil {
        if pace.isBehind, restAt <= Clock.monotonic { tell(&turn, waiter) }
        let until = pace.isBehind ? restAt : .infinity
        guard var rest = try response.receive(idle: silence, until: until) else { continue }
        if response.head?.status == 200, response.head?.isEventStream == true {
          while reply.end == nil, let item = parser.receive(&rest) { handle(item, &turn, waiter) }
        } else {
          body += rest.prefix(Self.mostBody - body.count)
          if body.count >= Self.mostBody { return judge(response.head, body, &turn, waiter) }
        }
      }
    } catch {
      if let withheld { return .refused(withheld) }
      if waiter.isAborted { return .aborted(nil) }
      switch error {
      case .refused(let head, let body): return judge(head, body, &turn, waiter)
      case .failed(let problem, _): return .refused(problem.asStray)
      case .lost where response.isComplete: return judge(response.head, body, &turn, waiter)
      case .lost(let reason, _): return .lost(reason)
      default: throw error
      }
    }
    return reply.end ?? .lost("no answer")
  }

  /// The conversation, as the gateway calls it: without a name the main one of the agent,
  /// which is called `main` where none is named.
  static func sessionKey(_ question: ChatQuestion) -> String {
    let agent = question.agent.flatMap { GatewayKey.agent($0) } ?? "main"
    let key = question.thread.flatMap { GatewayKey($0) }
    // What the main one is called and whether it is one for all the gateway knows.
    return key?.text(agent: agent, mainKey: "main", isGlobal: false) ?? "agent:\(agent):main"
  }

  private static func input(_ question: ChatQuestion) -> [UInt8] {
    let words = RecordText().string("type", "input_text").string("text", question.text).bytes
    let files = question.attachments.map { file in
      let isPicture = file.mediaType.hasPrefix("image/")
      let source = RecordText().string("type", "base64").string("media_type", file.mediaType)
        .string("data", Base64.text(file.bytes)).string("filename", isPicture ? nil : file.name)
      return RecordText().string("type", isPicture ? "input_image" : "input_file")
        .json("source", bytes: source.bytes).bytes
    }
    return RecordText().string("type", "message").string("role", "user")
      .list("content", [words] + files).bytes
  }

  // MARK: - The answer

  private func handle(_ item: StreamItem, _ turn: inout TurnRecord, _ waiter: ChatWaiter) {
    guard case .event(let event) = item, let value = try? JSONValue.parse(event.data) else {
      return
    }
    let isNews = reply.receive(value)
    if let id = reply.id, turn.id != id {
      turn.id = id
      waiter.news(.turn(turn))
    }
    if isNews, reply.end != nil || pace.changed(to: reply.bytes) { tell(&turn, waiter) }
  }

  private func judge(
    _ head: ResponseHead?, _ body: [UInt8], _ turn: inout TurnRecord, _ waiter: ChatWaiter
  ) -> ChatEnd {
    guard let head else { return .lost("no answer") }
    if head.status == 200, head.isEventStream {
      return .lost("the stream ended before the answer did")
    }
    let json = try? JSONValue.parse(body)
    // A run that failed before it said anything is answered so.
    if let json, json["status"]?.string != nil, reply.receive(response: json), let end = reply.end {
      if let id = reply.id { turn.id = id }
      tell(&turn, waiter)
      return end
    }
    let problem = server.problem(of: head, body, method: "POST")
    let reason = "\(head.summary): not an answer of the endpoint"
    return .refused(problem ?? Failure(reason, .failure, isStray: true))
  }

  private func tell(_ turn: inout TurnRecord, _ waiter: ChatWaiter) {
    pace.caughtUp(at: reply.bytes)
    restAt = Clock.monotonic + TextPace.rest(after: reply.bytes)
    turn.usage = reply.usage
    let state: MessageRecord.State? =
      switch reply.end {
      case nil: .partial
      case .answered: .final
      case .failed: .failed
      case .aborted: .aborted
      default: nil
      }
    // An agent that chose silence said nothing.
    if let state, !reply.text.isEmpty {
      var record = MessageRecord(
        origin, id: turn.id, thread: turn.thread, role: .assistant, text: reply.text,
        state: state, time: .now())
      record.turn = turn.id
      if case .failed(let reason) = reply.end { record.reason = reason }
      if state == .final { turn.message = record.id }
      waiter.news(.message(record))
    }
  }

  // MARK: - Lists

  func list(
    _ list: ChatList, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    guard case .agents = list else {
      let reason = "only agents can be listed over HTTP; a url with ws:// does the rest"
      return .failure(Failure(place, reason, .failure))
    }
    return try result { () throws(LinkEnd) in
      let request: Request
      do throws(Failure) { request = try self.request("models", body: nil) } catch {
        throw .failed(error)
      }
      return try Answer.list(of: try server.reply(to: request, waiter), "data", place: place)
    }
  }

  /// A request to a path of the API, whose root or whose path `responses` the profile names.
  private func request(_ path: String, body: [UInt8]?) throws(Failure) -> Request {
    let base = server.base
    var text = base.text.split(separator: "?", maxSplits: 1).first.map(String.init) ?? base.text
    while text.hasSuffix("/") { text.removeLast() }
    let isWhole = text.hasSuffix("/responses")
    if isWhole, path == "responses" { return server.request(to: base, body: body) }
    let address: WebAddress
    do throws(Failure) {
      address = isWhole ? try base.resolving(path) : try base.appending(path)
    } catch {
      throw Failure(base.display, error.reason)
    }
    return server.request(to: address, body: body)
  }
}
