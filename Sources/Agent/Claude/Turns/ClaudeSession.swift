import Core
import Records

/// One session of Claude Code: which turn each of its lines belongs to.
struct ClaudeSession {
  private let thread: String
  private let origin: RecordOrigin
  /// What the person and the agent say to each other.
  private var main: ClaudeTurn?
  /// When the latest turns began, and their ids.
  private var begun: [(time: Timestamp, id: String)] = []
  /// What subagents do, by the prompt of each.
  private var sides: [String: ClaudeTurn] = [:]
  /// The prompt that a line of a sidechain goes back to, by the line's id.
  private var roots: [String: String] = [:]

  /// How many lines, subagents and turns are remembered.
  private static let (mostLines, mostSides, mostBegun) = (8192, 64, 256)

  init(_ thread: String, _ origin: RecordOrigin) {
    (self.thread, self.origin) = (thread, origin)
  }

  mutating func take(_ line: ClaudeLine, into events: inout [TurnEvent]) {
    if line.kind == .summary {
      guard let title = line.value["summary"]?.string else { return }
      var record = ThreadRecord(origin, id: thread, time: line.time)
      record.title = title
      events.append(TurnEvent(origin, thread: thread, time: line.time, .setThread(record)))
      return
    }
    if line.isSide {
      let root = root(of: line)
      if sides[root] == nil {
        if sides.count >= Self.mostSides { sides = [:] }
        // What a subagent does is a part of what the agent does.
        sides[root] = ClaudeTurn(origin, thread, id: root, parent: turn(at: line), line, &events)
      }
      sides[root]?.take(line, &events)
      return
    }
    if line.isInterruption {
      main?.abort(line, &events)
      main = nil
    } else if line.isPrompt {
      main?.end(.completed, reason: nil, line, &events)
      main = ClaudeTurn(origin, thread, id: line.id, parent: nil, line, &events)
      note(line.id, line)
      main?.take(line, &events)
    } else {
      // A session may be followed from its middle.
      if main == nil, line.kind == .assistant {
        let id = line.value["message"]?["id"]?.string ?? line.id
        main = ClaudeTurn(origin, thread, id: id, parent: nil, line, &events)
        note(id, line)
      }
      main?.take(line, &events)
    }
  }

  private mutating func note(_ id: String, _ line: ClaudeLine) {
    guard let time = line.time else { return }
    if begun.count >= Self.mostBegun { begun.removeFirst() }
    begun.append((time, id))
  }

  /// The turn in which a subagent began. Its lines may stand in a file of their own, and come
  /// when later turns have begun.
  private func turn(at line: ClaudeLine) -> String? {
    guard let time = line.time, !begun.isEmpty else { return main?.id }
    return begun.last { $0.time <= time }?.id
  }

  /// The prompt that a line of a sidechain goes back to.
  private mutating func root(of line: ClaudeLine) -> String {
    let root =
      line.value["agentId"]?.string ?? line.parent.flatMap { roots[$0] } ?? line.id
    if roots.count >= Self.mostLines { roots = [:] }
    roots[line.id] = root
    return root
  }
}

/// A turn, from its prompt to its end.
private struct ClaudeTurn {
  let id: String
  private let origin: RecordOrigin
  private let thread: String
  private let isSide: Bool
  private var isOver = false
  /// The tokens of each answer of the API, as its last line has them.
  private var tokens: [String: (input: Int64, output: Int64)] = [:]
  /// The calls that wait for a person, and for what.
  private var questions: [String: String] = [:]

  init(
    _ origin: RecordOrigin, _ thread: String, id: String, parent: String?, _ line: ClaudeLine,
    _ events: inout [TurnEvent]
  ) {
    (self.origin, self.thread, self.id) = (origin, thread, id)
    isSide = line.isSide
    var turn = TurnRecord(origin, id: id, thread: thread, state: .running, time: line.time)
    turn.parent = parent
    turn.started = line.time
    add(.setTurn(turn), line, &events)
  }

  mutating func take(_ line: ClaudeLine, _ events: inout [TurnEvent]) {
    if line.kind == .assistant { return answer(line, &events) }
    if line.isPrompt, !line.isInterruption {
      say(line.id, isSide ? .system : .user, line.text ?? "", line, &events)
    }
    for block in line.blocks where block["type"]?.string == "tool_result" {
      result(block, line, &events)
    }
  }

  // MARK: - What the agent says

  private mutating func answer(_ line: ClaudeLine, _ events: inout [TurnEvent]) {
    guard let message = line.value["message"] else { return }
    let name = message["id"]?.string ?? line.id
    var texts: [String] = []
    for (index, block) in line.blocks.enumerated() {
      switch block["type"]?.string {
      case "thinking":
        if let words = block["thinking"]?.string, !words.isEmpty {
          say("\(name)/thinking", .thinking, words, line, &events)
        }
      case "text":
        if let words = block["text"]?.string, !words.isEmpty { texts.append(words) }
      case "tool_use": call(block, index, line, &events)
      default: break
      }
    }
    let text = texts.joined(separator: "\n")
    if !text.isEmpty { say(line.id, .assistant, text, line, &events) }
    count(message["usage"], name, line, &events)
    if line.value["isApiErrorMessage"]?.bool == true {
      return end(.failed, reason: text, line, &events)
    }
    let stop = message["stop_reason"]?.string
    if stop == "end_turn", !text.isEmpty {
      end(.completed, reason: nil, answer: line.id, line, &events)
    } else if stop == "refusal" || stop == "max_tokens" {
      end(.failed, reason: stop, line, &events)
    }
  }

  private func say(
    _ id: String, _ role: MessageRecord.Role, _ text: String, _ line: ClaudeLine,
    _ events: inout [TurnEvent]
  ) {
    var record = MessageRecord(
      origin, id: id, thread: thread, role: role, text: text, state: .final, time: line.time)
    record.turn = self.id
    add(.setMessage(record, text: .whole), line, &events)
  }

  private mutating func count(
    _ usage: JSONValue?, _ name: String, _ line: ClaudeLine, _ events: inout [TurnEvent]
  ) {
    guard let usage, usage.isObject else { return }
    func number(_ name: String) -> Int64 { max(0, min(usage[name]?.integer ?? 0, 1 << 40)) }
    tokens[name] = (
      number("input_tokens") + number("cache_creation_input_tokens")
        + number("cache_read_input_tokens"), number("output_tokens")
    )
    // Tokens say nothing of a question, which is asked in a block of the same line.
    var turn = TurnRecord(
      origin, id: id, thread: thread, state: questions.isEmpty ? .running : .paused,
      time: line.time)
    turn.reason = questions.values.min()
    turn.usage = TurnRecord.Usage(
      inputTokens: Int(tokens.values.reduce(0) { $0 + $1.input }),
      outputTokens: Int(tokens.values.reduce(0) { $0 + $1.output }))
    add(.setTurn(turn), line, &events)
  }

  // MARK: - Tools

  private mutating func call(
    _ block: JSONValue, _ index: Int, _ line: ClaudeLine, _ events: inout [TurnEvent]
  ) {
    guard let name = block["id"]?.string, !name.isEmpty else { return }
    let tool = block["name"]?.string ?? ""
    var call = ToolCallRecord(
      origin, id: name, thread: thread, tool: tool, state: .running, time: line.time)
    call.turn = id
    call.arguments = line.arguments(index)
    let input = block["input"]
    call.label = input?[either: "description", "command", "file_path", "pattern"]?.string
    call.started = line.time
    if tool == "AskUserQuestion" || tool == "ExitPlanMode" {
      call.state = .waitingApproval
      let reason = tool == "ExitPlanMode" ? "a plan to approve" : "a question"
      questions[name] = reason
      state(.paused, reason, line, &events)
    }
    add(.setToolCall(call), line, &events)
  }

  private mutating func result(
    _ block: JSONValue, _ line: ClaudeLine, _ events: inout [TurnEvent]
  ) {
    guard let name = block["tool_use_id"]?.string, !name.isEmpty else { return }
    let content = block["content"]
    let said =
      content?.string
      ?? content.map { $0.elements.compactMap { $0["text"]?.string }.joined(separator: "\n") }
    let isError = block["is_error"]?.bool == true
    let isRefused = isError && said?.hasPrefix("The user doesn't want to proceed") == true
    var call = ToolCallRecord(
      origin, id: name, thread: thread, tool: "",
      state: isRefused ? .rejected : isError ? .failed : .succeeded, time: line.time)
    call.turn = id
    call.ended = line.time
    let result = line.value["toolUseResult"]
    call.stdout = result?["stdout"]?.string ?? said
    call.stderr = result?["stderr"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    if isRefused { call.reason = "not allowed" }
    add(.setToolCall(call), line, &events)
    if questions.removeValue(forKey: name) != nil, questions.isEmpty {
      state(.running, nil, line, &events)
    }
  }

  // MARK: - Its end

  mutating func abort(_ line: ClaudeLine, _ events: inout [TurnEvent]) {
    end(.aborted, reason: "interrupted", line, &events)
  }

  mutating func end(
    _ state: TurnRecord.State, reason: String?, answer: String? = nil, _ line: ClaudeLine,
    _ events: inout [TurnEvent]
  ) {
    if isOver { return }
    isOver = true
    var turn = TurnRecord(origin, id: id, thread: thread, state: state, time: line.time)
    turn.reason = reason
    turn.message = answer
    turn.ended = line.time
    add(.setTurn(turn), line, &events)
  }

  private func state(
    _ state: TurnRecord.State, _ reason: String?, _ line: ClaudeLine,
    _ events: inout [TurnEvent]
  ) {
    var turn = TurnRecord(origin, id: id, thread: thread, state: state, time: line.time)
    turn.reason = reason
    add(.setTurn(turn), line, &events)
  }

  private func add(_ change: TurnChange, _ line: ClaudeLine, _ events: inout [TurnEvent]) {
    var event = TurnEvent(origin, thread: thread, time: line.time, change)
    event.turn = id
    events.append(event)
  }
}
