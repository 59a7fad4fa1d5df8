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

/// A line to the OpenResponses endpoint of a gateway (Agent/OpenClaw/CONTRACT.md 10): a request
/// a question, answered by an event stream. A stream that is cut cannot be taken up again,
/// and a question is never sent again by itself.
final class ResponsesChat: RequestChat, ChatLine {
  private var reply = ResponsesReply()
  private var pace = TextPace()
  private var restAt = 0.0

  /// The largest files and pictures that the endpoint takes, bytes.
  private static let (mostFile, mostPicture) = (5_000_000, 10_000_000)
  /// The most that is read of an answer that is not a stream, bytes.
  private static let mostBody = 64 << 20

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
        origin, id: turn.id, thread: turn.thread, turn: turn.id, role: .assistant, text: reply.text,
        state: state, time: .now())
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
      let request = try LinkEnd.ifFailed(request("models", body: nil))
      let reply = try server.reply(to: request, waiter)
      return try LinkEnd.ifFailed(Answer.list(reply, "data", place: place))
    }
  }

  /// A request to a path of the API, whose root or whose path `responses` the profile names.
  private func request(_ path: String, body: [UInt8]?) throws(Failure) -> Request {
    let base = server.base
    var text = base.text.split(separator: "?", maxSplits: 1).first.map(String.init) ?? base.text
    while text.hasSuffix("/") { text.removeLast() }
    let isWhole = text.hasSuffix("/responses")
    if isWhole, path == "responses" { return server.request(to: base, body: body) }
    let address = try Failure.at(
      base.display, isWhole ? base.resolving(path) : base.appending(path))
    return server.request(to: address, body: body)
  }
}

/// The answer to one question of the OpenResponses endpoint, event by event
/// (Agent/OpenClaw/CONTRACT.md 10). No network, no clock.
struct ResponsesReply {
  private struct Place: Hashable, Comparable {
    let item: Int64
    let part: Int64
    var name: String { "\(item)/\(part)" }

    static func < (one: Place, other: Place) -> Bool {
      (one.item, one.part) < (other.item, other.part)
    }
  }

  private(set) var id: String?
  private(set) var end: ChatEnd?
  private(set) var usage: TurnRecord.Usage?
  private var parts: [Place: String] = [:]
  private var split = SplitText()
  private(set) var bytes = 0
  private var isFull = false

  private static let mostParts = 10_000

  var text: String {
    if parts.count == 1, let only = parts.first { return only.value }
    return parts.sorted { $0.key < $1.key }.map(\.value).joined()
  }

  mutating func receive(_ event: JSONValue) -> Bool {
    guard end == nil, let type = event["type"]?.string else { return false }
    if let response = event["response"], let id = response["id"]?.string { self.id = id }
    switch type {
    case "response.output_text.delta":
      guard let piece = event["delta"]?.piece else { return false }
      let place = place(event)
      let delta = split.next(piece, of: place.name)
      guard !delta.isEmpty, makeRoom(delta.utf8.count) else { return false }
      parts[place, default: ""] += delta
      return true
    case "response.output_text.done":
      guard let text = event["text"]?.string else { return false }
      let place = place(event)
      let before = parts[place]
      guard before != text, makeRoom(text.utf8.count - (before?.utf8.count ?? 0)) else {
        return false
      }
      parts[place] = text
      return true
    case "response.failed":
      end = .failed(Self.reason(event["response"]))
      return true
    case "response.completed", "response.incomplete", "response.cancelled":
      return event["response"].map { receive(response: $0) } ?? false
    case "error":
      end = .failed(Self.reason(event))
      return true
    default: return false
    }
  }

  /// Takes the whole response, at the end of a stream or without one: whether it has ended.
  mutating func receive(response: JSONValue) -> Bool {
    if let id = response["id"]?.string { self.id = id }
    if let usage = response["usage"] {
      self.usage = TurnRecord.Usage(
        inputTokens: usage["input_tokens"]?.integer.map(Int.init(clamping:)),
        outputTokens: usage["output_tokens"]?.integer.map(Int.init(clamping:)))
    }
    if parts.isEmpty { takeOutput(response) }
    switch response["status"]?.string {
    case "completed": end = isFull ? .failed("the answer is too long") : .answered
    case "failed": end = .failed(Self.reason(response))
    case "cancelled": end = .aborted(nil)
    case "incomplete": end = .failed("the answer is incomplete")
    default: return false
    }
    return true
  }

  private mutating func takeOutput(_ response: JSONValue) {
    for (index, item) in (response["output"]?.elements ?? []).enumerated()
    where item["type"]?.string == "message" {
      for (number, part) in (item["content"]?.elements ?? []).enumerated() {
        guard let text = part["text"]?.string else { continue }
        parts[Place(item: Int64(index), part: Int64(number))] = text
      }
    }
  }

  /// Takes so many bytes more, if they are not too many.
  private mutating func makeRoom(_ more: Int) -> Bool {
    isFull = isFull || bytes + more > GatewayTurn.mostBytes || parts.count >= Self.mostParts
    if !isFull { bytes += more }
    return !isFull
  }

  private func place(_ event: JSONValue) -> Place {
    Place(
      item: event["output_index"]?.integer ?? 0, part: event["content_index"]?.integer ?? 0)
  }

  /// `api_error: internal error`.
  static func reason(_ response: JSONValue?) -> String {
    let error = response?["error"] ?? response
    let words = [error?["code"]?.string, error?["message"]?.string].compactMap(\.self)
    return words.isEmpty ? "the run failed" : words.joined(separator: ": ")
  }
}

/// When a text that grows is told again. Its record holds all of it: told for every piece,
/// a long text would cost the square of its length. No clock.
struct TextPace {
  private var told = 0
  private(set) var isBehind = false

  /// Below this every piece is told, bytes.
  private static let short = 4096
  /// The most that is told of one text while nothing else happens, bytes a second.
  private static let rate = 20_000_000.0

  /// Whether the text is to be told at once; if not, `rest` seconds after it was told last.
  mutating func changed(to bytes: Int) -> Bool {
    if bytes > Self.short, bytes >= told, bytes - told < told / 8 {
      isBehind = true
      return false
    }
    caughtUp(at: bytes)
    return true
  }

  mutating func caughtUp(at bytes: Int) { (told, isBehind) = (bytes, false) }

  /// Seconds until a text that grew little is told again; nobody who reads notices.
  static func rest(after bytes: Int) -> Double { Double(bytes) / rate }
}
