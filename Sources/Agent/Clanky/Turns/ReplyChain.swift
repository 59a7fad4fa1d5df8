import Core
import Records

/// Puts the calls of models and tools of one agent into the turns of its answers.
///
/// Newer servers name the message that is answered in each call of a model; then the turn
/// runs from its first one. Otherwise a part waits for the answer. Rows may come in either
/// order of time: an answer is remembered for the parts that come after it, and so is one
/// half of a browser's step for the other.
struct ReplyChain {
  private var waiting: [ChainPart] = []
  /// What is to be told yet.
  private var events: [TurnEvent] = []
  private var turns: [ReplyTurn] = []
  private var told: [StepKey: (part: ChainPart, turn: String?, isInferred: Bool)] = [:]

  /// What has waited so long, by the time of what happens, has no answer.
  private static let patience = Duration.seconds(600)
  private static let most = 1024

  private struct StepKey: Hashable {
    let place: String
    let call: String

    init?(_ part: ChainPart) {
      guard part.isStep, let call = part.calls.first else { return nil }
      (place, self.call) = (part.place, call.id)
    }
  }

  mutating func receive(_ part: ChainPart) {
    var part = part
    if let key = StepKey(part) {
      if let step = told[key] {
        part.complete(with: step.part)
        let index = turns.lastIndex { $0.record.id == step.turn && $0.record.thread == part.place }
        if let index {
          join(part, to: index, isInferred: step.isInferred)
        } else {
          tell(part, in: step.turn, isInferred: step.isInferred)
        }
        return
      }
      if let index = waiting.lastIndex(where: { StepKey($0) == key }) {
        part.complete(with: waiting.remove(at: index))
      }
    }
    if let index = turns.lastIndex(where: { $0.isNamed(by: part) }) {
      join(part, to: index, isInferred: false)
    } else if part.message != nil, ReplyTurn.mayBegin(part) {
      begin(part)
    } else if let index = home(of: part) {
      join(part, to: index, isInferred: true)
    } else if part.time == nil {
      tell(part, in: nil, isInferred: false)
    } else {
      waiting.append(part)
    }
    giveUp(before: part.time)
  }

  mutating func receive(_ end: ReplyTurn) {
    var end = end
    let known = turns.lastIndex {
      $0.record.id == end.record.id && $0.record.thread == end.record.thread
    }
    if let known {
      // What began with its first call, or was answered in several messages.
      let begun = turns.remove(at: known)
      (end.total, end.hasParts) = (begun.total, begun.hasParts)
      // As long as it ran, nobody knew who speaks.
      if begun.person != end.user { end.person = begun.person }
      end.triggers.formUnion(begun.triggers)
      end.record.started = Self.earlier(begun.record.started, end.record.started)
      end.start = Self.earlier(begun.start, end.start)
    }
    let mine = claim(for: &end)
    if end.isTurn, known == nil {
      var begun = end.record
      (begun.state, begun.message, begun.reason, begun.ended) = (.running, nil, nil, nil)
      (begun.usage, begun.cost, begun.time) = (nil, nil, begun.started ?? begun.time)
      events.append(event(.setTurn(begun), begun))
    }
    for (part, isInferred) in mine {
      tell(part, in: end.record.id, isInferred: isInferred)
    }
    if var answer = end.answer {
      answer.turn = end.isTurn ? end.record.id : nil
      events.append(event(.setMessage(answer, text: .whole), end.record))
    }
    if end.isTurn { events.append(event(.setTurn(end.now), end.now)) }
    remember(end)
    giveUp(before: end.record.time)
  }

  private mutating func remember(_ turn: ReplyTurn) {
    turns.append(turn)
    if turns.count > Self.most { turns.removeFirst(Self.most / 2) }
  }

  private static func earlier(_ one: Timestamp?, _ other: Timestamp?) -> Timestamp? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  /// What came of it since the last time.
  mutating func takeEvents() -> [TurnEvent] {
    defer { events = [] }
    return events
  }

  mutating func finish() {
    for part in waiting { tell(part, in: nil, isInferred: false) }
    waiting = []
  }

  private mutating func claim(for end: inout ReplyTurn) -> [(ChainPart, Bool)] {
    // The newest tells who is answered.
    for part in waiting.reversed() where end.person == nil && end.fits(part) {
      if part.user != end.user { end.person = part.user }
    }
    var mine: [(ChainPart, Bool)] = []
    waiting.removeAll { part in
      let isNamed = end.isNamed(by: part)
      guard isNamed || end.fits(part) else { return false }
      mine.append((part, !isNamed))
      return true
    }
    mine.sort { ($0.0.time ?? Timestamp(seconds: .min)) < ($1.0.time ?? Timestamp(seconds: .min)) }
    for (part, _) in mine { end.add(part) }
    return mine
  }

  /// By place and time: the first that ended after the part, or one that still runs.
  private func home(of part: ChainPart) -> Int? {
    var best: Int?
    for (index, turn) in turns.enumerated() where turn.fits(part) {
      guard let found = best, let end = turns[found].record.ended else {
        best = index
        continue
      }
      if let other = turn.record.ended, other < end { best = index }
    }
    return best
  }

  private mutating func join(_ part: ChainPart, to index: Int, isInferred: Bool) {
    turns[index].add(part)
    tell(part, in: turns[index].record.id, isInferred: isInferred)
    events.append(event(.setTurn(turns[index].now), turns[index].now))
  }

  private mutating func begin(_ part: ChainPart) {
    guard let message = part.message, let origin = part.turn?.origin ?? part.calls.first?.origin
    else { return }
    var record = TurnRecord(
      origin, id: message, thread: part.place, state: .running, time: part.time)
    record.started = part.started
    var turn = ReplyTurn(record, triggers: [message], source: part.source)
    turn.start = part.started
    events.append(event(.setTurn(record), record))
    remember(turn)
    join(part, to: turns.count - 1, isInferred: false)
  }

  /// Tells of a part, and remembers a step for its other half.
  private mutating func tell(_ part: ChainPart, in turn: String?, isInferred: Bool) {
    events += part.events(in: turn, isInferred: isInferred)
    guard let key = StepKey(part) else { return }
    if told.count >= Self.most { told.removeAll() }
    told[key] = (part, turn, isInferred)
  }

  private mutating func giveUp(before now: Timestamp?) {
    var lost: [ChainPart] = []
    if waiting.count > Self.most {
      lost = Array(waiting.prefix(Self.most / 2))
      waiting.removeFirst(lost.count)
    }
    if let now, let first = waiting.first?.time, first.adding(Self.patience) < now {
      lost += waiting.filter { $0.time?.adding(Self.patience) ?? now < now }
      waiting.removeAll { $0.time?.adding(Self.patience) ?? now < now }
    }
    for part in lost { tell(part, in: nil, isInferred: false) }
  }

  private func event(_ change: TurnChange, _ turn: TurnRecord) -> TurnEvent {
    TurnEvent(turn.origin, thread: turn.thread, time: turn.time, change)
  }
}

struct ReplyTurn {
  /// The turn, without what its parts add.
  var record: TurnRecord
  var triggers: Set<String>
  /// What the `source` of its parts says; empty where the server does not tell.
  var source: String
  /// What it is: an answer, or something said unasked. Parts say so in their source.
  var family = Family.reply
  var user: String?
  var person: String?
  var start: Timestamp?
  var answer: MessageRecord?
  var total = TurnTotal()
  var hasParts = false

  enum Family: String {
    case reply, initiative, automation
  }

  /// How much earlier than its own account says a turn may have begun.
  private static let slack = Duration.seconds(2)
  /// How long a turn takes that does not say it.
  private static let usual = Duration.seconds(60)

  init(_ record: TurnRecord, triggers: Set<String>, source: String) {
    (self.record, self.triggers, self.source) = (record, triggers, source)
  }

  init(_ action: ClankyAction) {
    let metadata = action.metadata
    let isSkipped = action.kind == "reply_skipped"
    let trigger = metadata.text(.triggerMessageId)
    let named = metadata[.triggerMessageIds].elements.map(\.string) + [trigger]
    var record = TurnRecord(
      action.origin, id: trigger ?? action.message ?? action.id, thread: action.place,
      state: .completed, time: action.time)
    let llm = ScanFields<ClankyField>(metadata[.llm].bytes)
    record.usage = llm.usage(.usage)
    record.cost = ScanNumber(llm[.costUsd]).flatMap { $0.isZero ? nil : $0.double }
    record.reason = isSkipped ? action.content : nil
    record.ended = action.time
    self.init(record, triggers: Set(named.compactMap(\.self)), source: metadata.text(.source) ?? "")
    user = action.user
    let took = ScanFields<ClankyField>(metadata[.performance].bytes).count(.totalMs)
    start = action.time?.adding(took.map { .milliseconds(-$0) } ?? .zero - Self.usual)
    self.record.started = took == nil ? nil : start
    family = Family(rawValue: String(action.kind.prefix { $0 != "_" })) ?? .reply
    if isSkipped { return }
    let answer = MessageRecord(
      action.origin, id: action.message ?? action.id, thread: action.place, turn: record.id,
      role: .assistant,
      text: action.content ?? "", state: .final, time: action.time)
    self.record.message = answer.id
    self.answer = answer
  }

  var isTurn: Bool { !triggers.isEmpty || hasParts || record.usage != nil || answer == nil }

  func isNamed(by part: ChainPart) -> Bool { part.message.map(triggers.contains) ?? false }

  /// Whether a part that names no message fits by place, time, purpose and person.
  func fits(_ part: ChainPart) -> Bool {
    guard let time = part.time, let start, part.message == nil else { return false }
    if let end = record.ended, time > end { return false }
    return time >= start.adding(.zero - Self.slack) && part.place == record.thread
      && Self.family(of: part.source, or: family, isSame: part.source == source) == family
      && isUser(part.user)
  }

  /// Whether a part was done for the agent itself, or for the person who is answered.
  private func isUser(_ other: String?) -> Bool {
    other == nil || other == user || person == nil || other == person
  }

  /// What a source speaks of; nil for what is never a part of something said in a channel.
  private static func family(of source: String, or usual: Family, isSame: Bool) -> Family? {
    if source.isEmpty || isSame { return usual }
    for family in [Family.initiative, .automation] where source.hasPrefix(family.rawValue) {
      return family
    }
    for other in ["voice", "memory", "reflection", "discovery"] where source.hasPrefix(other) {
      return nil
    }
    return .reply
  }

  static func mayBegin(_ part: ChainPart) -> Bool {
    family(of: part.source, or: .reply, isSame: false) == .reply
  }

  mutating func add(_ part: ChainPart) {
    hasParts = true
    total.add(part.usage, part.cost)
    if person == nil, let other = part.user, other != user { person = other }
    if let time = part.started {
      record.started = record.started.map { min($0, time) } ?? time
    }
  }

  /// The turn as it is now. What its parts cost is what it cost; the answer's own account
  /// counts where no part is known.
  var now: TurnRecord {
    var now = record
    now.usage = total.usage ?? now.usage
    now.cost = total.cost ?? now.cost
    return now
  }
}

/// A step on the way to an answer: the call of a model, or of a tool. It does not say
/// whose it is, or only by the message that it names.
struct ChainPart {
  var turn: TurnRecord?
  var calls: [ToolCallRecord] = []
  let place: String
  private(set) var time: Timestamp?
  let user: String?
  let source: String
  let message: String?
  let cost: Double?
  /// Whether it is a step in a browser, which is told in two halves.
  private(set) var isStep = false
  var usage: TurnRecord.Usage? { turn?.usage }

  private init(_ action: ClankyAction, _ metadata: ScanFields<ClankyField>, place: String) {
    self.place = place
    time = action.time
    user = action.user
    source = metadata.text(.source) ?? ""
    message = metadata.text(.messageId)
    cost = action.cost
  }

  init(model action: ClankyAction, place: String) {
    let metadata = action.metadata
    self.init(action, metadata, place: place)
    let isError = action.kind == "llm_error"
    var turn = TurnRecord(
      action.origin, id: action.id, thread: place, state: isError ? .failed : .completed,
      time: action.time)
    let names = [metadata.text(.provider), metadata.text(.model)].compactMap(\.self)
    turn.agent = names.isEmpty ? nil : names.joined(separator: ":")
    turn.reason = isError ? action.content : Self.reason(metadata)
    turn.usage = metadata.usage(.usage)
    turn.cost = action.cost
    turn.ended = action.time
    turn.started = Self.start(action, Self.milliseconds(metadata))
    self.turn = turn
    for element in metadata[.toolCalls].elements {
      let call = ScanFields<ClankyField>(element.bytes)
      guard let name = call.text(.name) else { continue }
      let id = call.text(.id) ?? "\(action.id)/\(calls.count + 1)"
      var record = ToolCallRecord(
        action.origin, id: id, thread: place, tool: name, state: .planned, time: action.time)
      record.arguments = call[.input].json ?? call[.arguments].json
      calls.append(record)
    }
  }

  private static func milliseconds(_ metadata: ScanFields<ClankyField>) -> Int? {
    metadata.count(.latencyMs) ?? metadata.count(.durationMs)
  }

  /// When something began that is told when it ends; nil where nobody knows how long it took.
  static func start(_ action: ClankyAction, _ milliseconds: Int?) -> Timestamp? {
    milliseconds.flatMap { action.time?.adding(.milliseconds(-$0)) }
  }

  var started: Timestamp? { turn?.started ?? calls.first?.started ?? time }

  private static func reason(_ metadata: ScanFields<ClankyField>) -> String? {
    guard let stop = metadata.text(.stopReason), stop != "end_turn" else { return nil }
    var names = metadata.text(.toolNames)
    if metadata[.toolNames].isArray {
      names = metadata[.toolNames].elements.map { $0.string ?? "" }.joined(separator: ", ")
    }
    return names.map { "\(stop): \($0)" } ?? stop
  }

  init(tool: String, isError: Bool, _ action: ClankyAction, place: String) {
    let metadata = action.metadata
    self.init(action, metadata, place: place)
    var call = ToolCallRecord(
      action.origin, id: action.id, thread: place, tool: tool,
      state: isError ? .failed : .succeeded, time: action.time)
    call.arguments = metadata[.query].json.map { Array("{\"query\":".utf8) + $0 + [0x7d] }
    if isError {
      call.label = metadata.text(.query)
      call.reason = metadata.text(.errorMessage) ?? action.content
    } else {
      let found = metadata.count(.returnedResults).map { $0 == 1 ? "1 result" : "\($0) results" }
      call.label = [action.content, found].compactMap(\.self).joined(separator: " · ")
    }
    call.milliseconds = Self.milliseconds(metadata)
    call.started = Self.start(action, call.milliseconds)
    call.ended = action.time
    calls = [call]
  }

  init?(browser action: ClankyAction, place: String) {
    let metadata = action.metadata
    guard let key = metadata.text(.sessionKey) ?? metadata.text(.sessionId),
      let step = metadata.count(.step)
    else { return nil }
    self.init(action, metadata, place: place)
    let isResult = action.kind == "browser_tool_result"
    let state: ToolCallRecord.State =
      isResult ? (metadata[.isError].isTrue ? .failed : .succeeded) : .running
    var call = ToolCallRecord(
      action.origin, id: "\(key)/\(step)", thread: place,
      tool: metadata.text(.tool) ?? (isResult ? nil : action.content) ?? "browser", state: state,
      time: action.time)
    if isResult {
      call.stdout = action.content
      call.ended = action.time
      if let whole = metadata.count(.fullLength), let content = action.content {
        call.isTruncated = whole > content.utf16.count
      }
      if state == .failed { call.reason = action.content }
    } else {
      call.arguments = metadata[.input].json
      call.started = action.time
    }
    calls = [call]
    isStep = true
  }

  /// Makes a step whole with the half of it that is known; an end never turns back.
  mutating func complete(with known: ChainPart) {
    guard let new = calls.first, let old = known.calls.first else { return }
    let (begin, end) = old.state.isEnd && !new.state.isEnd ? (new, old) : (old, new)
    var whole = begin
    if whole.merge(end) { whole.stdout = end.stdout ?? begin.stdout }
    whole.tool = begin.tool
    calls = [whole]
    // It was done when it began.
    time = begin.started ?? known.time ?? time
  }

  /// `isInferred`: whether place and time alone say that it is part of `parent`.
  func events(in parent: String?, isInferred: Bool) -> [TurnEvent] {
    var events: [TurnEvent] = []
    func tell(_ origin: RecordOrigin, _ time: Timestamp?, _ change: TurnChange) {
      events.append(TurnEvent(origin, thread: place, time: time, change))
    }
    let mark: Bool? = isInferred ? true : nil
    if var turn {
      turn.parent = parent
      turn.isInferred = mark
      tell(turn.origin, turn.time, .setTurn(turn))
    }
    for var call in calls {
      call.turn = parent ?? turn?.id
      call.isInferred = mark
      tell(call.origin, call.time, .setToolCall(call))
    }
    return events
  }
}

struct TurnTotal {
  private(set) var usage: TurnRecord.Usage?
  private var dollars: Double?

  mutating func add(_ usage: TurnRecord.Usage?, _ cost: Double?) {
    if let usage { self.usage = self.usage.map { $0 + usage } ?? usage }
    if let cost { dollars = (dollars ?? 0) + cost }
  }

  /// US dollars, without the dust that sums of doubles have behind the twelfth decimal.
  var cost: Double? {
    dollars.map { $0.magnitude < 1000 ? ($0 * 1e12).rounded() / 1e12 : $0 }
  }
}
