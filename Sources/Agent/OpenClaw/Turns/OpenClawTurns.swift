package import Core
package import Records

/// What the events of an OpenClaw gateway tell of turns (CONTRACT.md 7 and 8). A run is a turn,
/// and its reply a message of the same id.
public struct OpenClawTurns: TurnDecoder {
  /// The sessions of runs, for events that do not say theirs.
  private var sessions: [String: String] = [:]
  private var split = SplitText()
  private var (run, session) = (LastText(), LastText())
  /// Runs that failed and may yet be tried again, as failed turns.
  private var failures: [Run: TurnRecord] = [:]
  /// Runs whose reply is over: what chat still says of them does not count.
  private var ended: Set<Run> = []
  /// What was kept of runs whose reply is not over.
  private var kept: [Run: [String]] = [:]
  private var fields = ScanFields<OpenClawField>()

  private struct Run: Hashable {
    var origin: RecordOrigin
    var id: String
  }

  /// A gateway tries again before it says that a run is over (CONTRACT.md 7.1).
  private static let grace = Duration.seconds(15)

  private static let mostRuns = 4096

  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool {
    guard let frame = OpenClawFrame(line) else { return false }
    decode(frame.kind, frame.payload, line.origin(.openclaw), line.received, into: &events)
    return true
  }

  /// Reads an event's payload.
  ///
  /// - Parameters:
  ///   - received: when it came, for what says no time itself.
  ///   - events: as of `TurnDecoder`.
  package mutating func decode(
    _ kind: OpenClawFrame.Kind, _ payload: ScanValue, _ origin: RecordOrigin,
    _ received: @autoclosure () -> Timestamp?, into events: inout [TurnEvent]
  ) {
    guard payload.isObject else { return }
    switch kind {
    case .chat: chat(payload, received(), origin, &events)
    case .agent: agent(payload, received, origin, &events)
    case .row:
      guard let object = try? JSONValue.parse(payload.bytes),
        let row = object["message"].flatMap({ OpenClawRow($0) })
      else { return }
      hear(row, object["sessionKey"]?.string ?? "", origin, &events)
    case .history:
      if let object = try? JSONValue.parse(payload.bytes) { history(object, origin, &events) }
    case .approval(let tool, let isOver):
      guard let object = try? JSONValue.parse(payload.bytes) else { return }
      let approval =
        isOver
        ? OpenClawApproval.resolved(object, payload, tool, origin, received())
        : OpenClawApproval.requested(object, payload, tool, origin)
      guard let approval else { return }
      events.append(
        TurnEvent(
          origin, thread: approval.thread ?? "", time: approval.time, .setApproval(approval)))
    }
  }

  public mutating func finish(into events: inout [TurnEvent]) {
    giveUp(&events) { _ in true }
  }

  private mutating func giveUp(_ events: inout [TurnEvent], where isOver: (TurnRecord) -> Bool) {
    for turn in failures.values.filter(isOver).sorted(by: { $0.id < $1.id }) {
      failures[Run(origin: turn.origin, id: turn.id)] = nil
      add(.setTurn(turn), nil, turn, &events)
    }
  }

  private mutating func session(_ value: ScanValue, of run: String) -> String {
    let named = session.of(value)
    if named.isEmpty { return sessions[run] ?? "" }
    if sessions[run] == nil {
      if sessions.count >= Self.mostRuns { sessions = [:] }
      sessions[run] = named
    }
    return named
  }

  // MARK: - What is said

  private mutating func chat(
    _ payload: ScanValue, _ received: Timestamp?, _ origin: RecordOrigin,
    _ events: inout [TurnEvent]
  ) {
    try? fields.read(payload.bytes)
    let run = run.of(fields[.runId])
    if run.isEmpty { return }
    if ended.contains(Run(origin: origin, id: run)) { return }
    let thread = session(fields[.sessionKey], of: run)
    failures[Run(origin: origin, id: run)] = nil
    var time = received
    var text = TurnText.unchanged
    var words = ""
    let state = fields[.state].string
    let isEnd = state == "final" || state == "aborted"
    if fields[.message].isObject, let message = try? JSONValue.parse(fields[.message].bytes) {
      time = time ?? message["timestamp"]?.integer.flatMap { Timestamp(milliseconds: $0) }
      // Nothing but pictures or thoughts takes no words back.
      // Nor does an end without words.
      if let whole = OpenClawMessage.text(of: message), !(isEnd && whole.isEmpty) {
        split.end(run)
        (text, words) = (.whole, whole)
      }
    } else if let piece = fields[.deltaText].piece {
      if fields[.replace].isTrue { split.end(run) }
      (text, words) = (fields[.replace].isTrue ? .whole : .appended, split.next(piece, of: run))
    }
    if isEnd, case let half = split.end(run), !half.isEmpty {
      (text, words) = (text == .whole ? .whole : .appended, words + half)
    }
    var turn = TurnRecord(origin, id: run, thread: thread, state: .running, time: time)
    turn.agent = fields[.agentId].isString ? fields[.agentId].string : nil
    var message = MessageRecord(
      origin, id: run, thread: thread, turn: run, role: .assistant, text: words, state: .partial,
      time: time)
    switch state {
    case "status":
      turn.reason = fields[.phase].isString ? fields[.phase].string : nil
      return add(.setTurn(turn), run, turn, &events)
    case "delta":
      add(.setMessage(message, text: text), run, turn, &events)
      if text == .appended { Self.number(&events, fields[.seq], "chat") }
      return
    case "final":
      (message.state, turn.state) = (.final, .completed)
      turn.message = run
      if fields[.usage].isObject, let usage = try? JSONValue.parse(fields[.usage].bytes) {
        OpenClawMessage.add(usage: usage, to: &turn)
      }
    case "aborted":
      (message.state, turn.state) = (.aborted, .aborted)
      turn.reason = fields[.stopReason].isString ? fields[.stopReason].string : nil
    case "error":
      (message.state, turn.state) = (.failed, .failed)
      let why = [fields[.errorKind], fields[.errorMessage]].filter(\.isString)
        .compactMap(\.string)
      turn.reason = why.isEmpty ? "the run failed" : why.joined(separator: ": ")
      (message.reason, text) = (turn.reason, .unchanged)
    default: return
    }
    end(turn, message, text, &events)
  }

  private mutating func end(
    _ turn: TurnRecord, _ message: MessageRecord, _ text: TurnText, _ events: inout [TurnEvent]
  ) {
    if ended.count >= Self.mostRuns { ended = [] }
    ended.insert(Run(origin: turn.origin, id: turn.id))
    kept[Run(origin: turn.origin, id: turn.id)] = nil
    add(.setMessage(message, text: text), nil, turn, &events)
    add(.setTurn(turn), nil, turn, &events)
  }

  /// What is appended must not be appended twice: events of a run are known by their numbers.
  private static func number(_ events: inout [TurnEvent], _ number: ScanValue, _ stream: String) {
    guard let number = number.wholeNumber, let last = events.indices.last else { return }
    events[last].id = "\(events[last].turn)/\(stream)/\(number)"
  }

  /// `run`: the run that goes on by this; nil when it does not.
  private func add(
    _ change: TurnChange, _ run: String?, _ turn: TurnRecord, _ events: inout [TurnEvent]
  ) {
    events.append(
      TurnEvent(turn.origin, thread: turn.thread, turn: run ?? "", time: turn.time, change))
  }

  // MARK: - What is kept

  /// What a person said. What the agent says comes as chat, too.
  private mutating func hear(
    _ row: OpenClawRow, _ thread: String, _ origin: RecordOrigin, _ events: inout [TurnEvent]
  ) {
    guard row.isHeard else { return }
    if row.role == .user, let id = row.id {
      var message = MessageRecord(
        origin, id: id, thread: thread, turn: row.steered ?? row.key, role: .user, text: row.text,
        state: .final, time: row.time)
      message.reason = row.isCut ? Self.cut : nil
      message.attachments = row.attachments
      events.append(
        TurnEvent(origin, thread: thread, time: row.time, .setMessage(message, text: .whole)))
    } else if row.role == .assistant, let id = row.run, row.calls.isEmpty, row.end != .failed {
      let run = Run(origin: origin, id: id)
      if ended.contains(run) { return }
      if kept.count >= Self.mostRuns { kept = [:] }
      kept[run, default: []].append(row.text)
    }
  }

  /// What happened while nobody listened, and what is at work since then.
  private mutating func history(
    _ answer: JSONValue, _ origin: RecordOrigin, _ events: inout [TurnEvent]
  ) {
    let thread = answer["sessionKey"]?.string ?? ""
    let rows = (answer["messages"]?.elements ?? []).compactMap { OpenClawRow($0) }
    let asides = OpenClawRow.asides(rows)
    let flight = answer["inFlightRun"]
    let info = answer["sessionInfo"]
    var active = info?["activeRunIds"]?.elements.compactMap(\.string)
    if active == nil, info?["hasActiveRun"]?.bool == false { active = [] }
    if let id = flight?["runId"]?.string { active = (active ?? []) + [id] }
    var last: [String: Int] = [:]
    for (index, row) in rows.enumerated() { if let run = row.run { last[run] = index } }
    for (index, row) in rows.enumerated() {
      if row.id.map(asides.contains) != true { hear(row, thread, origin, &events) }
      guard let id = row.run, !ended.contains(Run(origin: origin, id: id)) else { continue }
      var turn = TurnRecord(origin, id: id, thread: thread, state: .running, time: row.time)
      for call in OpenClawTool.records(row, turn) { add(.setToolCall(call), id, turn, &events) }
      if last[id] != index || active?.contains(id) == true { continue }
      turn.state = row.end ?? .completed
      turn.reason = row.end == .failed ? row.text : nil
      close(turn, row, &events)
    }
    if let id = flight?["runId"]?.string, let text = flight?["text"]?.string, !text.isEmpty {
      let turn = TurnRecord(origin, id: id, thread: thread, state: .running, time: nil)
      split.end(id)
      add(.setMessage(reply(turn, text, .partial), text: .whole), id, turn, &events)
    }
    guard let active else { return }
    // Of what is at work no more, and left nothing, the end was not heard.
    let silent = sessions.filter { run in
      run.value == thread && !active.contains(run.key)
        && !ended.contains(Run(origin: origin, id: run.key))
    }
    for id in silent.keys.sorted() {
      var turn = TurnRecord(origin, id: id, thread: thread, state: .completed, time: nil)
      turn.isInferred = true
      close(turn, nil, &events)
    }
  }

  /// A run is over, and its last row known.
  private mutating func close(
    _ turn: TurnRecord, _ row: OpenClawRow?, _ events: inout [TurnEvent]
  ) {
    var turn = turn
    let said = kept[Run(origin: turn.origin, id: turn.id)] ?? []
    split.end(turn.id)
    turn.message = turn.state == .failed ? nil : turn.id
    let state: MessageRecord.State =
      turn.state == .failed ? .failed : turn.state == .aborted ? .aborted : .final
    var message = reply(turn, said.joined(separator: "\n\n"), state)
    message.reason = turn.reason ?? (row?.isCut == true ? Self.cut : nil)
    end(turn, message, said.isEmpty ? .unchanged : .whole, &events)
  }

  private func reply(
    _ turn: TurnRecord, _ text: String, _ state: MessageRecord.State
  ) -> MessageRecord {
    return MessageRecord(
      turn.origin, id: turn.id, thread: turn.thread, turn: turn.id, role: .assistant, text: text,
      state: state,
      time: turn.time)
  }

  private static let cut = "the gateway gave a part of it"

  // MARK: - What is done

  private mutating func agent(
    _ payload: ScanValue, _ received: () -> Timestamp?, _ origin: RecordOrigin,
    _ events: inout [TurnEvent]
  ) {
    try? fields.read(payload.bytes)
    let run = run.of(fields[.runId])
    guard !run.isEmpty, fields[.data].isObject else { return }
    // What the agent says comes as chat, too.
    let stream = fields[.stream].string
    guard stream == "lifecycle" || stream == "tool" || stream == "thinking",
      let data = try? JSONValue.parse(fields[.data].bytes)
    else { return }
    let time =
      fields[.ts].wholeNumber.flatMap { Timestamp(milliseconds: Int64($0)) } ?? received()
    let thread = session(fields[.sessionKey], of: run)
    var turn = TurnRecord(origin, id: run, thread: thread, state: .running, time: time)
    if let time {
      giveUp(&events) { $0.time.map { $0.adding(Self.grace) < time } ?? true }
    }
    switch stream {
    case "lifecycle":
      failures[Run(origin: origin, id: run)] = nil
      switch data["phase"]?.string {
      case "start":
        turn.started = data["startedAt"]?.integer.flatMap { Timestamp(milliseconds: $0) } ?? time
      case "waiting-approval": turn.state = .paused
      case "approval-resolved": break
      case "end":
        turn.state = .completed
        turn.ended = data["endedAt"]?.integer.flatMap { Timestamp(milliseconds: $0) }
      case "error":
        turn.state = .failed
        turn.reason = data[either: "error", "errorMessage"]?.text
        if failures.count >= Self.mostRuns { giveUp(&events) { _ in true } }
        failures[Run(origin: origin, id: run)] = turn
        return
      default: return
      }
      add(.setTurn(turn), nil, turn, &events)
    case "thinking":
      let whole = data[either: "text", "thinking"]?.string
      let piece = data["delta"]?.piece
      guard let words = whole ?? piece.map({ split.next($0, of: "\(run)/thinking") }) else {
        return
      }
      let record = MessageRecord(
        origin, id: "\(run)/thinking", thread: thread, turn: run, role: .thinking, text: words,
        state: .partial, time: time)
      add(.setMessage(record, text: whole == nil ? .appended : .whole), run, turn, &events)
      if whole == nil { Self.number(&events, fields[.seq], stream ?? "") }
    default:
      if let call = OpenClawTool.record(
        data, arguments: (try? ScanMembers.value(of: "args", in: fields[.data].bytes))?.json, turn)
      {
        add(.setToolCall(call), run, turn, &events)
        // A run that asks a person waits, and says it in no other way.
        if call.tool == OpenClawTool.question {
          if call.state == .running { turn.state = .paused }
          add(.setTurn(turn), nil, turn, &events)
        }
      }
    }
  }
}

extension Timestamp {
  /// Nil for a year that RFC 3339 cannot write.
  package init?(milliseconds: Int64) {
    guard (-62_167_219_200_000..<253_402_300_800_000).contains(milliseconds) else { return nil }
    let rest = milliseconds % 1000
    self.init(
      seconds: milliseconds / 1000 - (rest < 0 ? 1 : 0),
      nanoseconds: Int32((rest + (rest < 0 ? 1000 : 0)) * 1_000_000))
  }
}
