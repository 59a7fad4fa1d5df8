import Core
import Records
import Web

/// A line to the OpenResponses endpoint of a gateway (Agent/OpenClaw/CONTRACT.md 10): a request
/// a question, answered by an event stream. A stream that is cut cannot be taken up again,
/// and a question is never sent again by itself.
final class ResponsesChat: ChatLine {
  weak var listener: (any ChatListener)?
  var place: String { server.base.display }
  var knowsKeys: Bool { false }
  var hasLink: Bool { false }
  private let client: WebClient
  private let server: AgentServer
  private let origin: RecordOrigin
  /// Seconds without a byte after which a stream is given up; the endpoint sends nothing
  /// while the agent works.
  private let silence: Double

  private var exchange: Exchange?
  private var head: ResponseHead?
  private var body: [UInt8] = []
  private var parser: EventParser
  private var reply = ResponsesReply()
  private var pace = TextPace()
  /// When what is left of a text that grows is told.
  private var restAt = 0.0
  private var turn: TurnRecord?
  private var received: Int64 = -1
  private var lastByte = 0.0
  private var fetch: Fetch?
  /// Why the words did not go out when they could.
  private var withheld: AnswerProblem?

  /// The largest files and pictures that the endpoint takes, bytes.
  private static let (mostFile, mostPicture) = (5_000_000, 10_000_000)
  /// The most that is read of an answer that is not a stream, bytes.
  private static let mostBody = 64 << 20

  init(_ agent: AgentAccess, policy: StreamPolicy) {
    client = agent.client
    server = agent.backend
    origin = agent.origin(.openclaw)
    silence = policy.idleTimeout ?? .infinity
    parser = EventParser(maxEventBytes: ReplyText.mostBytes)
  }

  func tick(now: Double) -> Double {
    var next = fetch?.tick(now: now) ?? .infinity
    guard let exchange else { return next }
    if pace.isBehind, restAt <= now { tell() }
    if pace.isBehind { next = min(next, restAt) }
    if exchange.received != received {
      (received, lastByte) = (exchange.received, now)
    } else if now - lastByte >= silence {
      finish(.lost("nothing came for \(Latency.seconds(silence)) s"))
      return next
    }
    return min(next, lastByte + silence)
  }

  func stop() {
    exchange?.cancel()
    fetch?.cancel()
    (exchange, fetch, turn) = (nil, nil, nil)
  }

  // MARK: - Asking

  func ask(_ question: ChatQuestion) {
    if let reason = GatewayLists.fault(thread: question.thread, agent: question.agent) {
      listener?.chatEnded(.refused(AnswerProblem(reason, .failure)))
      return
    }
    for file in question.attachments {
      let (most, picture) = (Self.mostFile, Self.mostPicture)
      guard let problem = file.problem(most: most, picture: picture) else { continue }
      return listener?.chatEnded(.refused(problem)) ?? ()
    }
    let key = Self.sessionKey(question)
    if let reason = GatewayLists.fault(key: key) {
      return listener?.chatEnded(.refused(AnswerProblem(reason, .failure))) ?? ()
    }
    let agent = question.agent ?? question.thread.flatMap { GatewayKey($0)?.agent }
    let body = RecordText().string("model", agent.map { "openclaw/\($0)" } ?? "openclaw")
      .list("input", [Self.input(question)]).bool("stream", true).string("user", key)
    var request: Request
    do throws(SettingsError) {
      request = try self.request("responses", body: body.bytes)
    } catch {
      listener?.chatEnded(.refused(AnswerProblem(error.message, error.status)))
      return
    }
    request.headers += [
      Header("x-openclaw-session-key", key), Header("Accept-Encoding", "identity"),
    ]
    var turn = TurnRecord(origin, id: question.key, thread: key, state: .running, time: .now())
    turn.agent = agent
    turn.started = turn.time
    self.turn = turn
    (reply, pace) = (ResponsesReply(), TextPace())
    parser = EventParser(maxEventBytes: ReplyText.mostBytes)
    (head, self.body, received, lastByte) = (nil, [], -1, Clock.monotonic)
    withheld = nil
    exchange = Exchange(
      client, request,
      onSend: { [unowned self] in
        withheld = listener?.chatSends()
        return withheld == nil
      },
      onHead: { [unowned self] in
        head = $0
        return true
      }, onBody: { [unowned self] in take($0) }, onEnd: { [unowned self] in take($0) })
  }

  func abort() {
    if turn == nil { return listener?.chatEnded(.aborted(nil)) ?? () }
    finish(.aborted(nil))
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

  private func take(_ bytes: UnsafeRawBufferPointer) -> BodyFlow {
    guard let head else { return .stop }
    if head.status == 200, head.isEventStream {
      parser.consume(bytes) { take($0) }
      return reply.end == nil ? .taken : .stop
    }
    let most = (200...299).contains(head.status) ? Self.mostBody : 64 << 10
    body += bytes.prefix(most - body.count)
    return body.count < most ? .taken : .stop
  }

  private func take(_ item: StreamItem) {
    guard case .event(let event) = item, reply.end == nil,
      let value = try? JSONValue.parse(event.data)
    else { return }
    let isNews = reply.take(value)
    if let id = reply.id, var turn, turn.id != id {
      turn.id = id
      self.turn = turn
      listener?.chatNews(.turn(turn))
    }
    if isNews, reply.end != nil || pace.changed(to: reply.bytes) { tell() }
  }

  private func take(_ end: ExchangeEnd) {
    exchange = nil
    if let withheld { return finish(.refused(withheld)) }
    if let end = reply.end { return finish(end) }
    switch end {
    case .unusable(let reason):
      return finish(.refused(AnswerProblem(reason, .failure, isStray: true)))
    case .network(let reason): return finish(.lost(reason))
    case .complete, .stopped: break
    }
    guard let head else { return finish(.lost("no answer")) }
    if head.status == 200, head.isEventStream {
      return finish(.lost("the stream ended before the answer did"))
    }
    let json = try? body.withUnsafeBytes { try JSONValue.parse($0) }
    // A run that failed before it said anything is answered so.
    if let json, json["status"]?.string != nil, reply.take(response: json), let end = reply.end {
      if let id = reply.id { turn?.id = id }
      tell()
      return finish(end)
    }
    let problem = server.problem(of: head, body, method: "POST")
    let reason = "\(head.summary): not an answer of the endpoint"
    finish(.refused(problem ?? AnswerProblem(reason, .failure, isStray: true)))
  }

  private func tell() {
    guard var turn else { return }
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
      listener?.chatNews(.message(record))
    }
    self.turn = turn
  }

  private func finish(_ end: ChatEnd) {
    exchange?.cancel()
    exchange = nil
    if pace.isBehind { tell() }
    guard let turn else { return }
    if let record = turn.ended(end, now: .now()) { listener?.chatNews(.turn(record)) }
    self.turn = nil
    listener?.chatEnded(end)
  }

  // MARK: - Lists

  func list(_ list: ChatList, then: @escaping (Result<[[UInt8]], CallFailure>) -> Void) {
    let place = server.base.display
    guard case .agents = list else {
      let reason = "only agents can be listed over HTTP; a url with ws:// does the rest"
      return then(.failure(CallFailure(place, reason, .failure)))
    }
    let request: Request
    do throws(SettingsError) {
      request = try self.request("models", body: nil)
    } catch {
      return then(.failure(CallFailure(error)))
    }
    let start = Clock.monotonic
    fetch = Fetch(client, request, now: start) { [unowned self] end in
      fetch = nil
      do throws(CallFailure) {
        switch end {
        case .failed(let reason): throw CallFailure(place, reason, .temporary)
        case .unusable(let reason):
          throw CallFailure(place, AnswerProblem(reason, .failure, isStray: true))
        case .response(let head, let body):
          if let problem = server.problem(of: head, body) {
            throw CallFailure(place, problem.line, problem.status)
          }
          let reply = Caller.Reply(head: head, body: body, seconds: Clock.monotonic - start)
          then(.success(try Answer.list(reply, "data", place: place)))
        }
      } catch {
        then(.failure(error))
      }
    }
  }

  /// A request to a path of the API, whose root or whose path `responses` the profile names.
  private func request(_ path: String, body: [UInt8]?) throws(SettingsError) -> Request {
    let base = server.base
    var text = base.text.split(separator: "?", maxSplits: 1).first.map(String.init) ?? base.text
    while text.hasSuffix("/") { text.removeLast() }
    let isWhole = text.hasSuffix("/responses")
    if isWhole, path == "responses" { return server.request(to: base, body: body) }
    let address: WebAddress
    do throws(AddressError) {
      address = isWhole ? try base.resolving(path) : try base.appending(path)
    } catch {
      throw SettingsError(base.display, error.reason)
    }
    return server.request(to: address, body: body)
  }
}
