import Core
import Records
import Turns

/// One question and what a gateway makes of it, as records (Agent/OpenClaw/CONTRACT.md 7): what is
/// told of its run, folded. A text with a hole in it is not told as final before it is whole again.
/// No network, no clock.
struct GatewayTurn {
  let question: ChatQuestion
  let thread: String
  let origin: RecordOrigin
  /// The run, which is the question's key unless the gateway says otherwise.
  var run: String
  /// When it was asked, milliseconds since 1970.
  let asked: Int64
  /// How old a row of the history may be to be the question, milliseconds since 1970. What
  /// the gateway knows by its key may have been said long ago.
  var since: Int64
  var isSent = false
  var isTaken = false
  var isAborting = false
  private(set) var end: ChatEnd?
  /// Whether a hole may have swallowed a piece of the text: what is appended to such a text is not
  /// to be trusted until something whole comes.
  private(set) var isTorn = false
  /// Whether there is more of it than the text, for all that is known.
  private var isShort = false
  private var decoder = OpenClawTurns()
  private let fold = TurnFold()
  private var pace = FoldPace()
  /// The reply, once there is any.
  private var reply: (any FoldedEntity)?
  /// Whether the fold knows of it.
  private var isTold = false
  /// What it asks a person.
  private var questions: Set<String> = []
  /// The end of a text that had a hole in it, told when that is whole.
  private var ending: TurnRecord?

  /// The longest text that is put together, bytes; what would pass it leaves a hole.
  static let mostBytes = 64 << 20
  /// The longest id of a call that is one, bytes.
  private static let longestID = 1024
  /// More than that is no run's.
  private static let mostQuestions = 1024

  init(
    _ question: ChatQuestion, thread: String, origin: RecordOrigin, asked: Int64, since: Int64
  ) {
    (self.question, self.thread, self.origin, self.asked) = (question, thread, origin, asked)
    run = question.key
    self.since = since
  }

  /// What was said so far.
  var text: String {
    if case .message(let record)? = reply?.entity { record.text } else { "" }
  }

  /// What failed or was stopped has said all that it will say.
  var wantsText: Bool { isTorn && (end == nil || end == .answered) }

  // MARK: - What comes

  /// Reads an event of the gateway; of another run it tells nothing.
  mutating func receive(_ event: GatewayEvent, now: Timestamp) -> [ChatNews] {
    if event.name.hasPrefix("question.") { return asks(event, now) }
    let isChat = event.name == "chat"
    guard isChat || event.name == "agent", event.member("runId") == run else { return [] }
    isTaken = true
    // Too deep to be read, and a piece of the text may have been in it.
    if isChat, event.object == nil { tear() }
    if isChat, end != nil { return [] }
    var events: [TurnEvent] = []
    decoder.decode(isChat ? .chat : .agent, event.payload, origin, now, into: &events)
    return events.flatMap { receive($0, isChat: isChat, now) }
  }

  /// What the run asks a person, and what comes of it, which does not say whose it is.
  private mutating func asks(_ event: GatewayEvent, _ now: Timestamp) -> [ChatNews] {
    let isOver = event.name == "question.resolved"
    guard let id = event.member("id"),
      isOver ? questions.contains(id) : event.member("runId") == run
    else { return [] }
    if !isOver, questions.count < Self.mostQuestions { questions.insert(id) }
    var events: [TurnEvent] = []
    decoder.decode(
      .approval(tool: AskedQuestion.tool, isOver: isOver), event.payload, origin, now,
      into: &events)
    return events.flatMap { tell($0, now) }
  }

  private mutating func receive(
    _ event: TurnEvent, isChat: Bool, _ now: Timestamp
  ) -> [ChatNews] {
    switch event.change {
    case .setTurn(let record, _) where record.state.isEnd:
      // The reply says how a run ended.
      if !isChat { return [] }
      end = record.end(ofFailure: "the run failed")
      // Without words its answer may be in another run; of just as many as a gateway sends there may
      // be more in the history (CONTRACT.md 3 and 6).
      if text.isEmpty || 0...1 ~= GatewayHistory.longestText - text.utf16.count {
        (isTorn, isShort) = (true, true)
      }
      if isTorn, end == .answered {
        ending = record
        return []
      }
    case .setToolCall(let call) where call.id.utf8.count > Self.longestID: return []
    case .setMessage(var record, var text) where record.id == run:
      record.time = now
      // It is told with its end.
      if text == .whole { (isTorn, isShort) = (false, false) }
      let isFull =
        text == .appended && self.text.utf8.count + record.text.utf8.count > Self.mostBytes
      if isFull { tear() }
      if text == .appended, isTorn { (text, isShort) = (.unchanged, true) }
      if record.state == .final, isTorn { return [] }
      if record.state == .failed || record.state == .aborted, reply == nil, text == .unchanged {
        text = .whole
      }
      var event = event
      event.change = .setMessage(record, text: text)
      return tell(event, now)
    default: break
    }
    return tell(event, now)
  }

  /// What an event of ours tells.
  private mutating func tell(_ event: TurnEvent, _ now: Timestamp) -> [ChatNews] {
    var changed: [any FoldedEntity] = []
    if !isTold {
      isTold = true
      var turn = TurnRecord(
        origin, id: run, thread: thread, state: .queued, time: Timestamp(milliseconds: asked))
      (turn.agent, turn.started) = (question.agent, now)
      fold.fold(TurnEvent(origin, thread: thread, time: turn.time, .setTurn(turn)), into: &changed)
      changed = []
    }
    var event = event
    (event.thread, event.time) = (thread, event.time ?? now)
    fold.fold(event, into: &changed)
    var news: [ChatNews] = []
    for entity in changed {
      switch entity.entity {
      case .message(let record) where record.id == run: reply = entity
      // What was said before a tool was used is told before it.
      case .toolCall: news += rest()
      // That a thought has ended is no news beside the end of the turn.
      case .message(let record) where record.role == .thinking && record.state.isEnd: continue
      default: break
      }
      if pace.isDue(entity) { news.append(tell(entity)) }
    }
    return news
  }

  private func tell(_ entity: any FoldedEntity) -> ChatNews {
    entity.marks.tell(size: entity.textSize)
    if case .toolCall(var call) = entity.entity, call.tool.isEmpty {
      call.tool = "tool"
      return .toolCall(call)
    }
    return ChatNews(entity.entity)
  }

  var isBehind: Bool { pace.isBehind }

  mutating func rest() -> [ChatNews] { pace.rest().map(tell) }

  // MARK: - After a loss

  mutating func tear() { if end == nil { (isTorn, isShort) = (true, true) } }

  mutating func fail(_ reason: String, now: Timestamp) -> [ChatNews] {
    if end != nil { return [] }
    end = .failed(reason)
    var (message, turn) = (message("", .failed, now), turn(.failed, now))
    (message.reason, turn.reason) = (reason, reason)
    return tell(.setMessage(message, text: reply == nil ? .whole : .unchanged), now)
      + tell(.setTurn(turn), now)
  }

  /// Reads what the session's history says.
  ///
  /// - Returns: what changed, and whether anything was found.
  mutating func receive(
    _ history: GatewayHistory, now: Timestamp
  ) -> (news: [ChatNews], trace: GatewayHistory.Trace) {
    if let running = history.running, running.id == run {
      isTaken = true
      if end != nil { return (mend(running.text, now), .said) }
      return (tell(.setTurn(turn(.running, now)), now) + reseat(running.text, now), .said)
    }
    let trace = history.trace(of: question, since: since)
    if trace != .absent || history.active?.contains(run) == true { isTaken = true }
    guard case .answered(let text, let cut) = trace else { return ([], trace) }
    if !cut.isEmpty {
      isTorn = true
      return (tell(.setMessage(message(text, .partial, now), text: .whole), now), trace)
    }
    if end != nil { return (mend(text, now), trace) }
    return (finish(text, now), trace)
  }

  /// Takes over the text so far from the session's history, where the stream has left a hole.
  /// Nobody can say whether what streams next is in it already: the hole stays until the
  /// stream brings something whole, so that nothing is doubled and nothing left out.
  private mutating func reseat(_ text: String, _ now: Timestamp) -> [ChatNews] {
    let known = self.text
    guard !text.isEmpty, isTorn || known.isEmpty else { return [] }
    isTorn = true
    if text.utf8.count >= known.utf8.count { isShort = false }
    // A text that streamed meanwhile is newer.
    if known.utf8.starts(with: text.utf8) { return [] }
    return tell(.setMessage(message(text, .partial, now), text: .whole), now)
  }

  /// A reply that ended with a hole in it gets its whole text.
  private mutating func mend(_ text: String, _ now: Timestamp) -> [ChatNews] {
    ending == nil ? [] : finish(text, now)
  }

  /// `isSilent`: the run said nothing at its end, for all that is known.
  mutating func conclude(isSilent: Bool, now: Timestamp) -> [ChatNews] {
    isShort && !isSilent ? [] : finish(text, now)
  }

  private mutating func finish(_ text: String, _ now: Timestamp) -> [ChatNews] {
    var turn = ending ?? turn(.completed, now)
    (ending, end, isTorn, isShort) = (nil, end ?? .answered, false, false)
    // An agent that chose silence said nothing.
    turn.message = text.isEmpty ? nil : run
    let said = text.isEmpty ? [] : tell(.setMessage(message(text, .final, now), text: .whole), now)
    return said + tell(.setTurn(turn), now)
  }

  private mutating func tell(_ change: TurnChange, _ now: Timestamp) -> [ChatNews] {
    tell(TurnEvent(origin, thread: thread, time: now, change), now)
  }

  private func turn(_ state: TurnRecord.State, _ now: Timestamp) -> TurnRecord {
    TurnRecord(origin, id: run, thread: thread, state: state, time: now)
  }

  private func message(
    _ text: String, _ state: MessageRecord.State, _ now: Timestamp
  ) -> MessageRecord {
    return MessageRecord(
      origin, id: run, thread: thread, turn: run, role: .assistant, text: text, state: state,
      time: now)
  }
}

/// The answer to `chat.history` (Agent/OpenClaw/CONTRACT.md 6).
struct GatewayHistory {
  let key: String
  /// Oldest first.
  private(set) var rows: [OpenClawRow]
  let running: (id: String, text: String)?
  /// The runs that are under way; nil where the gateway does not say.
  let active: [String]?
  /// Whether any is, or waits to be.
  let isBusy: Bool
  /// The rows that are no part of an answer.
  private let asides: Set<String>
  /// The longest text that a gateway gives of a row, where it is asked for more than it gives
  /// unasked.
  static let longestText = 500_000

  init(_ payload: JSONValue?, key: String) {
    self.key = payload?["sessionKey"]?.string ?? key
    let all = (payload?["messages"]?.elements ?? []).compactMap(OpenClawRow.init)
    (rows, asides) = (all.filter(\.isHeard), OpenClawRow.asides(all))
    let run = payload?["inFlightRun"]
    running = run?["runId"]?.string.map { ($0, run?["text"]?.string ?? "") }
    let info = payload?["sessionInfo"]
    let isActive = info?["hasActiveRun"]?.bool
    active = info?["activeRunIds"]?.elements.compactMap(\.string) ?? (isActive == false ? [] : nil)
    isBusy =
      isActive == true || running != nil || active?.isEmpty == false
      || payload?["pendingInputs"]?["total"]?.integer ?? 0 > 0
  }

  /// The rows whose texts are not whole, of the last so many; an id is empty where there is none.
  func cut(last count: Int) -> [String] {
    rows.suffix(count).filter(\.isCut).map { $0.id ?? "" }
  }

  /// Takes the whole of a row.
  mutating func receive(_ whole: JSONValue, of id: String) {
    guard let row = OpenClawRow(whole), !row.isCut else { return }
    for index in rows.indices where rows[index].id == id && rows[index].isCut {
      (rows[index].text, rows[index].isCut) = (row.text, false)
    }
  }

  func records(_ origin: RecordOrigin) -> [MessageRecord] {
    rows.enumerated().map { index, row in
      var record = MessageRecord(
        origin, id: row.id ?? "\(key)/\(row.time?.rfc3339 ?? "")/\(index)", thread: key,
        turn: row.run, role: row.role, text: row.text, state: .final, time: row.time)
      record.attachments = row.attachments
      return record
    }
  }

  enum Trace: Equatable {
    case absent
    case said
    /// What the agent said to it, and the rows of that whose texts are not whole, as of `cut`.
    case answered(String, cut: [String])
  }

  /// Looks for what was said under a key, or where rows have none, in these words since then,
  /// milliseconds since 1970, and for its answer: what the agent says behind it, which is whole
  /// once none of the runs that say it is under way.
  func trace(of turn: GatewayTurn) -> Trace { trace(of: turn.question, since: turn.since) }

  func trace(of question: ChatQuestion, since: Int64) -> Trace {
    let wanted = question.text.trimmed
    let index =
      rows.lastIndex { $0.role == .user && $0.key == question.key }
      ?? rows.lastIndex { row in
        row.role == .user && (row.key == nil ? row.text.trimmed == wanted : row.collects(wanted))
          && row.time.map { $0.milliseconds >= since } ?? true
      }
    guard let index else { return .absent }
    // What went into one run together is answered together.
    let target = rows[index].steered
    let said = rows[(index + 1)...].filter { !$0.isOwn }
      .drop { $0.role == .user && target != nil && $0.steered == target }
      .prefix { $0.role != .user }
      .filter { row in row.role == .assistant && !(row.id.map(asides.contains) ?? false) }
    let isGoingOn = said.contains { row in
      guard let run = row.run, let active else { return isBusy }
      return active.contains(run) || running?.id == run
    }
    if said.isEmpty || isGoingOn { return .said }
    return .answered(
      said.map(\.text).joined(separator: "\n\n"), cut: said.filter(\.isCut).map { $0.id ?? "" })
  }
}

extension OpenClawRow {
  /// Whether it holds these words among others that were said while the agent was at work: their
  /// own keys are gone (CONTRACT.md 6).
  fileprivate func collects(_ words: String) -> Bool {
    guard key?.hasPrefix("followup-collect:") == true else { return false }
    let whole = text.trimmed
    return whole.hasSuffix("\n\(words)") || whole.holds("\n\(words)\n\n---\nQueued #")
  }
}

extension Timestamp {
  /// Since 1970.
  var milliseconds: Int64 { seconds * 1000 + Int64(nanoseconds / 1_000_000) }
}
