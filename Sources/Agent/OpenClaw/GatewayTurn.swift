import Core
import Records
import Turns

/// One question and what a gateway makes of it, as records (Agent/OpenClaw/CONTRACT.md 7): the
/// text of the reply by the one rule, the tools by their call ids. No network, no clock.
struct GatewayTurn {
  let question: ChatQuestion
  /// The session key.
  let thread: String
  let origin: RecordOrigin
  /// The run, which is the question's key unless the gateway says otherwise.
  var run: String
  /// When it was asked, milliseconds since 1970.
  let asked: Int64
  /// How old a row of the history may be to be the question, milliseconds since 1970. What
  /// the gateway knows by its key may have been said long ago.
  var since: Int64
  /// Whether the question was sent once.
  var isSent = false
  /// Whether the gateway is known to have it.
  var isTaken = false
  /// Whether a person wants it to end.
  var isAborting = false
  private(set) var reply = ReplyText()
  private(set) var turn: TurnRecord
  private var pace = TextPace()
  private var tools = GatewayTools()
  private var thought = ""
  private var splitThought = SplitText()
  private var thoughtPace = TextPace()
  private var thoughtTime: Timestamp?

  /// The longest thought that is kept, bytes; of a longer one the end.
  private static let mostThought = 1 << 20

  init(
    _ question: ChatQuestion, thread: String, origin: RecordOrigin, asked: Int64, since: Int64
  ) {
    self.question = question
    self.thread = thread
    self.origin = origin
    self.asked = asked
    run = question.key
    self.since = since
    turn = TurnRecord(
      origin, id: question.key, thread: thread, state: .queued,
      time: Timestamp(milliseconds: asked))
    turn.agent = question.agent
  }

  /// How it ended; nil while it goes on.
  var end: ChatEnd? {
    switch reply.end {
    case nil: nil
    case .final: .answered
    case .aborted: .aborted(turn.reason)
    case .failed(let reason): .failed(reason)
    }
  }

  /// Whether a hole is in the text.
  var isTorn: Bool { reply.isTorn }
  /// Whether the whole text is to be looked for. What failed or was stopped has said all that
  /// it will say.
  var wantsText: Bool { reply.isTorn && (reply.end == nil || reply.end == .final) }

  // MARK: - What comes

  /// Takes an event of the gateway; of another run it is not.
  mutating func take(_ event: GatewayEvent, now: Timestamp) -> [ChatNews] {
    guard event.name == "chat" || event.name == "agent", event.member("runId") == run else {
      return []
    }
    isTaken = true
    guard let payload = event.object else {
      // Too deep to be read, and a piece of the text may have been in it.
      if event.name == "chat" { tear() }
      return []
    }
    return event.name == "chat" ? take(chat: payload, now) : take(agent: payload, now)
  }

  private mutating func take(chat: JSONValue, _ now: Timestamp) -> [ChatNews] {
    var news: [ChatNews] = []
    if chat["state"]?.string == "status" {
      return become(.running, reason: chat["phase"]?.string, now)
    }
    news += become(.running, reason: nil, now)
    let hadEnded = reply.end != nil
    guard reply.take(chat) || (!hadEnded && reply.end != nil) else { return news }
    if let usage = chat["usage"] { OpenClawMessage.add(usage: usage, to: &turn) }
    if reply.end == .aborted { turn.reason = chat["stopReason"]?.string }
    // A text with a hole is fetched whole before it is told as final.
    if reply.end == .final, reply.isTorn { return news }
    if reply.end == nil, !pace.changed(to: reply.text.utf8.count) { return news }
    return news + told(now)
  }

  /// Whether more of a text is there than was told.
  var isBehind: Bool { pace.isBehind || thoughtPace.isBehind }

  /// What was not told yet of the texts that grow.
  mutating func rest(_ now: Timestamp) -> [ChatNews] {
    var news: [ChatNews] = []
    if thoughtPace.isBehind { news.append(.message(thinking(thoughtTime ?? now))) }
    if pace.isBehind { news += told(now) }
    return news
  }

  /// What is to be told of the reply as it is now.
  func message(_ now: Timestamp) -> MessageRecord {
    let state: MessageRecord.State =
      switch reply.end {
      case nil: .partial
      case .final: .final
      case .aborted: .aborted
      case .failed: .failed
      }
    var record = MessageRecord(
      origin, id: run, thread: thread, role: .assistant, text: reply.text, state: state, time: now)
    record.turn = run
    if case .failed(let reason) = reply.end { record.reason = reason }
    return record
  }

  private mutating func told(_ now: Timestamp) -> [ChatNews] {
    pace.caughtUp(at: reply.text.utf8.count)
    // An agent that chose silence said nothing.
    var news: [ChatNews] =
      reply.end == .final && reply.text.isEmpty ? [] : [.message(message(now))]
    switch reply.end {
    case .final:
      if !reply.text.isEmpty { turn.message = run }
      news += become(.completed, reason: nil, now)
    case .aborted: news += become(.aborted, reason: turn.reason, now)
    case .failed(let reason): news += become(.failed, reason: reason, now)
    case nil: break
    }
    return news
  }

  private mutating func become(
    _ state: TurnRecord.State, reason: String?, _ now: Timestamp
  ) -> [ChatNews] {
    guard turn.state.mayBecome(state),
      turn.state != state || (reason != nil && turn.reason != reason)
    else { return [] }
    turn.state = state
    turn.reason = reason
    turn.id = run
    turn.time = now
    if turn.started == nil { turn.started = now }
    if state.isEnd { turn.ended = now }
    return [.turn(turn)]
  }

  private mutating func take(agent: JSONValue, _ now: Timestamp) -> [ChatNews] {
    let data = agent["data"]
    let time = agent["ts"]?.instant ?? now
    switch agent["stream"]?.string {
    case "tool":
      let turn = TurnRecord(origin, id: run, thread: thread, state: .running, time: time)
      guard let call = data.flatMap({ tools.take($0, turn) }) else { return [] }
      return rest(now) + [.toolCall(call)]
    case "thinking": return take(thought: data, time)
    case "lifecycle" where data?["phase"]?.string == "start":
      return become(.running, reason: nil, time)
    default: return []
    }
  }

  private mutating func take(thought data: JSONValue?, _ time: Timestamp) -> [ChatNews] {
    if let whole = data?[either: "text", "thinking"]?.string {
      if whole == thought { return [] }
      thought = whole
    } else if let piece = data?["delta"]?.piece, !piece.isEmpty {
      thought += splitThought.next(piece)
    } else {
      return []
    }
    // Half of what is too long goes at once: not something with every piece.
    if thought.utf8.count > Self.mostThought { thought = thought.tail(bytes: Self.mostThought / 2) }
    thoughtTime = time
    return thoughtPace.changed(to: thought.utf8.count) ? [.message(thinking(time))] : []
  }

  private mutating func thinking(_ time: Timestamp) -> MessageRecord {
    thoughtPace.caughtUp(at: thought.utf8.count)
    var record = MessageRecord(
      origin, id: "\(run)/thinking", thread: thread, role: .thinking, text: thought,
      state: .partial, time: time)
    record.turn = run
    return record
  }

  // MARK: - After a loss

  /// The gateway knows the run, which failed.
  mutating func fail(_ reason: String, now: Timestamp) -> [ChatNews] {
    if reply.end != nil { return [] }
    reply.fail(reason)
    return told(now)
  }

  /// Broadcasts were lost.
  mutating func tear() { reply.tear() }

  /// Takes what the session's history says.
  ///
  /// - Returns: what changed, and whether anything was found.
  mutating func take(
    _ history: GatewayHistory, now: Timestamp
  ) -> (news: [ChatNews], trace: GatewayHistory.Trace) {
    if let running = history.running, running.id == run {
      isTaken = true
      guard reply.end == nil else { return (finishTorn(running.text, now), .said) }
      let isNews = reply.reseat(running.text)
      var news = become(.running, reason: nil, now)
      if isNews { news += told(now) }
      return (news, .said)
    }
    let trace = history.trace(of: question.text, since: since)
    if trace != .absent { isTaken = true }
    guard case .answered(let text) = trace, history.active?.contains(run) != true else {
      return ([], history.active?.contains(run) == true ? .said : trace)
    }
    if reply.end != nil { return (finishTorn(text, now), trace) }
    reply.finish(text)
    return (told(now), trace)
  }

  /// A reply that ended with a hole in it gets its whole text.
  private mutating func finishTorn(_ text: String, _ now: Timestamp) -> [ChatNews] {
    guard reply.isTorn else { return [] }
    reply.mend(text)
    return told(now)
  }

  /// The run has ended, and no more of its text is to be found.
  ///
  /// - Parameter isSilent: whether it said nothing at its end, for all that is known.
  mutating func conclude(isSilent: Bool, now: Timestamp) -> [ChatNews] {
    reply.conclude(isSilent: isSilent) ? told(now) : []
  }
}
