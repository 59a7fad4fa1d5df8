import Core
import Records

struct ClaudeSession {
  private let thread: String
  private let origin: RecordOrigin
  private var isNamed = false
  /// What the person and the agent say to each other.
  private var main: ClaudeTurn?
  private var begun: [(time: Timestamp, id: String)] = []
  /// What subagents do since the last prompt, by the prompt of each.
  private var sides: [String: ClaudeTurn] = [:]
  private var roots: [String: String] = [:]
  private var beginnings: [String: String] = [:]
  /// By the ids of subagents, the call that made each, and those that go on when the turn is over.
  private var calls: [String: String] = [:]
  private var background: Set<String> = []
  /// By the ids of calls, the turn in which each was made.
  private var makers: [String: String] = [:]

  private static let (mostLines, mostSides, mostBegun) = (8192, 64, 256)

  init(_ thread: String, _ origin: RecordOrigin) {
    (self.thread, self.origin) = (thread, origin)
  }

  /// - Parameter call: what made the subagent that the line is of; nil where that is not known.
  mutating func receive(_ line: ClaudeLine, madeBy call: String?) {
    if line.kind == .system {
      system(line)
    } else if line.kind != .user, line.kind != .assistant {
      // What a person calls it goes before what the program does.
      guard let title = line.title, !isNamed || line.kind == .customTitle else { return }
      isNamed = isNamed || line.kind == .customTitle
      var record = ThreadRecord(origin, id: thread, time: line.time)
      record.title = title
      line.events.append(TurnEvent(origin, thread: thread, time: line.time, .setThread(record)))
    } else if line.isSide {
      side(line, call)
    } else if line.isInterruption {
      end(.aborted, reason: "interrupted", line)
      main = nil
    } else if line.isPrompt {
      end(.completed, reason: nil, line)
      main = begin(line.id, line)
      main?.receive(line)
    } else if let command = line.shellCommand {
      end(.completed, reason: nil, line)
      main = begin(line.id, line)
      main?.run(command, line)
    } else {
      // A session may be followed from its middle.
      if line.kind == .assistant, main?.isLeft(by: line) ?? true {
        main = begin(line.answer, line)
      }
      let wasOver = main?.isOver ?? true
      main?.receive(line)
      if let id = main?.id { note(line, of: id) }
      learn(line)
      if !wasOver, main?.isOver == true { endSides(.completed, reason: nil, line) }
    }
  }

  /// What the program says of itself.
  private mutating func system(_ line: ClaudeLine) {
    guard !line.isSide else { return }
    var said = ""
    switch line.value["subtype"]?.string {
    case "turn_duration":
      if let milliseconds = line.value["durationMs"]?.integer, milliseconds >= 0 {
        main?.took(Int(milliseconds), line)
      }
    case "compact_boundary":
      said = line.value["content"]?.string ?? "Conversation compacted"
      let tokens = line.value["compactMetadata"]
      if let before = tokens?["preTokens"]?.integer, let after = tokens?["postTokens"]?.integer {
        said += ": \(before) tokens became \(after)"
      }
    case "local_command":
      let run = line.value["commandRun"]
      let words = [run?["command"]?.string.map { "/\($0)" }, run?["args"]?.string]
      let lines = [
        words.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " "),
        line.value["content"]?.string.flatMap {
          ClaudeLine.part("local-command-stdout", of: $0)
        } ?? "",
      ]
      said = lines.filter { !$0.isEmpty }.joined(separator: "\n")
    default: break
    }
    if said.isEmpty || line.id.isEmpty { return }
    var record = MessageRecord(
      origin, id: line.id, thread: thread, role: .system, text: said, state: .final,
      time: line.time)
    if let main, !main.isOver { record.turn = main.id }
    line.events.append(
      TurnEvent(
        origin, thread: thread, turn: record.turn ?? "", time: line.time,
        .setMessage(record, text: .whole)))
  }

  mutating func leave(at line: ClaudeLine) {
    end(.completed, reason: nil, line)
    main = nil
  }

  private mutating func begin(_ id: String, _ line: ClaudeLine) -> ClaudeTurn {
    if let time = line.time {
      if begun.count >= Self.mostBegun { begun.removeFirst() }
      begun.append((time, id))
    }
    return ClaudeTurn(origin, thread, id: id, parent: nil, line)
  }

  /// The turn in which a subagent began. Its lines may stand in a file of their own, and come
  /// when later turns have begun.
  private func turn(at line: ClaudeLine) -> String? {
    guard let time = line.time, !begun.isEmpty else { return main?.id }
    return begun.last { $0.time <= time }?.id
  }

  private mutating func end(_ state: TurnRecord.State, reason: String?, _ line: ClaudeLine) {
    endSides(state, reason: reason, line)
    sides = sides.filter { background.contains($0.key) && !$0.value.isOver }
    if let told = line.endedTask {
      sides[told.id]?.end(told.isWell ? .completed : .failed, reason: nil, line)
    }
    main?.end(state, reason: reason, line)
  }

  // MARK: - Subagents

  private mutating func side(_ line: ClaudeLine, _ call: String?) {
    let root = root(of: line)
    if sides[root].map({ $0.isOver && line.isPrompt || $0.isLeft(by: line) }) ?? true {
      if sides[root] == nil, sides.count >= Self.mostSides {
        endSides(.completed, reason: nil, line)
        sides = [:]
      }
      // One that goes on has another turn, and the same one when the line is read again.
      let isFirst = beginnings[root, default: line.id] == line.id
      if beginnings.count >= Self.mostLines { beginnings = [:] }
      if isFirst { beginnings[root] = line.id }
      let id = isFirst ? root : line.answer
      // What a subagent does is a part of what the agent does.
      let call = calls[root] ?? call
      let parent = call.flatMap { makers[$0] } ?? turn(at: line)
      sides[root] = ClaudeTurn(
        origin, thread, id: id, parent: parent, madeBy: call, line)
    }
    sides[root]?.receive(line)
    if let id = sides[root]?.id { note(line, of: id) }
    learn(line)
  }

  /// Keeps in which turn calls were made.
  private mutating func note(_ line: ClaudeLine, of turn: String) {
    guard line.kind == .assistant else { return }
    for block in line.blocks where block["type"]?.string == "tool_use" {
      if makers.count >= Self.mostLines { makers = [:] }
      if let id = block["id"]?.string { makers[id] = turn }
    }
  }

  /// Learns from the result of a call which subagent it made.
  private mutating func learn(_ line: ClaudeLine) {
    guard line.kind == .user, let result = line.value["toolUseResult"],
      let agent = result["agentId"]?.string,
      let call = line.blocks.lazy.compactMap({ $0["tool_use_id"]?.string }).first
    else { return }
    if calls.count >= Self.mostLines { (calls, background) = ([:], []) }
    calls[agent] = call
    if result["isAsync"]?.bool == true { background.insert(agent) }
    sides[agent]?.isMade(by: call, in: makers[call], line)
  }

  /// Not every version says the end of a subagent: it is at the latest that of the agent.
  private mutating func endSides(_ state: TurnRecord.State, reason: String?, _ line: ClaudeLine) {
    for root in sides.keys.sorted() where !background.contains(root) {
      sides[root]?.end(state, reason: reason, line)
    }
  }

  private mutating func root(of line: ClaudeLine) -> String {
    let root =
      line.value["agentId"]?.string ?? line.parent.flatMap { roots[$0] } ?? line.id
    if roots.count >= Self.mostLines { roots = [:] }
    roots[line.id] = root
    return root
  }
}

struct ClaudeTurn {
  let id: String
  private let origin: RecordOrigin
  private let thread: String
  private let isSide: Bool
  private var ended: TurnRecord.State?
  /// The call that made it.
  private var maker: String?
  private var answers: Set<String> = []
  /// By the answers of the API, as the last line of each has them.
  private var tokens: [String: (input: Int64, output: Int64)] = [:]
  private var sum: (input: Int64, output: Int64) = (0, 0)
  /// What each cost; nil for one whose model has no price.
  private var dollars: [String: UInt128?] = [:]
  private var questions: [String: String] = [:]

  init(
    _ origin: RecordOrigin, _ thread: String, id: String, parent: String?,
    madeBy call: String? = nil, _ line: ClaudeLine
  ) {
    (self.origin, self.thread, self.id) = (origin, thread, id)
    isSide = line.isSide
    maker = call
    var turn = record(.running, line)
    turn.parent = parent
    turn.toolCall = call
    turn.started = line.time
    add(.setTurn(turn), line)
  }

  var isOver: Bool { ended != nil }

  /// Whether the agent goes on behind the end with this line, told by nobody: a hook may want
  /// more of it. More lines of an answer that was heard are no sign of that.
  func isLeft(by line: ClaudeLine) -> Bool {
    isOver && line.kind == .assistant && !answers.contains(line.answer)
  }

  mutating func receive(_ line: ClaudeLine) {
    if line.kind == .assistant { return answer(line) }
    if line.isPrompt, !line.isInterruption {
      say(line.id, isSide || line.isOfProgram ? .system : .user, line.words ?? "", line)
    }
    for block in line.blocks where block["type"]?.string == "tool_result" {
      result(block, line)
    }
    if let output = line.shellOutput { ran(output, line) }
  }

  // MARK: - What the agent says

  private mutating func answer(_ line: ClaudeLine) {
    guard let message = line.value["message"] else { return }
    let name = line.answer
    answers.insert(name)
    var texts: [String] = []
    for (index, block) in line.blocks.enumerated() {
      switch block["type"]?.string {
      case "thinking":
        if let words = block["thinking"]?.string, !words.isEmpty {
          say("\(name)/thinking", .thinking, words, line)
        }
      case "text":
        if let words = block["text"]?.string, !words.isEmpty { texts.append(words) }
      case "tool_use": call(block, index, line)
      default: break
      }
    }
    let text = texts.joined(separator: "\n")
    if !text.isEmpty { say(line.id, .assistant, text, line) }
    count(message["usage"], name, line)
    if line.value["isApiErrorMessage"]?.bool == true {
      return end(.failed, reason: text, line)
    }
    let stop = message["stop_reason"]?.string
    if stop == "end_turn", !text.isEmpty {
      end(.completed, reason: nil, answer: line.id, line)
    } else if stop == "refusal" {
      // Behind max_tokens the program goes on by itself, or says that it cannot.
      end(.failed, reason: stop, line)
    }
  }

  private func say(_ id: String, _ role: MessageRecord.Role, _ text: String, _ line: ClaudeLine) {
    let record = MessageRecord(
      origin, id: id, thread: thread, turn: self.id, role: role, text: text,
      state: line.value["isAbortedMidStream"]?.bool == true ? .aborted : .final, time: line.time)
    add(.setMessage(record, text: .whole), line)
  }

  private mutating func count(_ usage: JSONValue?, _ name: String, _ line: ClaudeLine) {
    guard let usage, usage.isObject else { return }
    func number(_ name: String) -> Int64 { max(0, min(usage[name]?.integer ?? 0, 1 << 40)) }
    let new = (
      input: number("input_tokens") + number("cache_creation_input_tokens")
        + number("cache_read_input_tokens"), output: number("output_tokens")
    )
    let old = tokens.updateValue(new, forKey: name) ?? (0, 0)
    sum = (sum.input + new.input - old.input, sum.output + new.output - old.output)
    // Tokens say nothing of a question, which is asked in a block of the same line.
    var turn = record(questions.isEmpty ? .running : .paused, line)
    turn.reason = questions.values.min()
    turn.usage = TurnRecord.Usage(inputTokens: Int(sum.input), outputTokens: Int(sum.output))
    dollars[name] = ClaudeUsage.dollars(of: line.line.object)
    let known = dollars.values.compactMap { $0 }
    // Of a part of the answers it would be too little.
    if known.count == dollars.count { turn.cost = Dollars.number(known.reduce(0, +)) }
    add(.setTurn(turn), line)
  }

  // MARK: - Tools

  private mutating func call(_ block: JSONValue, _ index: Int, _ line: ClaudeLine) {
    guard let name = block["id"]?.string, !name.isEmpty else { return }
    let tool = block["name"]?.string ?? ""
    var call = record(of: name, tool, .running, line)
    call.arguments = line.arguments(index)
    let input = block["input"]
    call.label = input?[either: "description", "command", "file_path", "pattern"]?.string
    call.started = line.time
    if tool == "AskUserQuestion" || tool == "ExitPlanMode" {
      call.state = .waitingApproval
      let reason = tool == "ExitPlanMode" ? "a plan to approve" : "a question"
      questions[name] = reason
      state(.paused, reason, line)
    }
    add(.setToolCall(call), line)
  }

  private mutating func result(_ block: JSONValue, _ line: ClaudeLine) {
    guard let name = block["tool_use_id"]?.string, !name.isEmpty else { return }
    let content = block["content"]
    let said =
      content?.string
      ?? content.map { $0.elements.compactMap { $0["text"]?.string }.joined(separator: "\n") }
    let isError = block["is_error"]?.bool == true
    // What never ran, and what was interrupted, has the words of a No; newer versions say who it was.
    let hasWords = isError && said?.hasPrefix("The user doesn't want to proceed") == true
    let isUnrun = line.value["toolDenialBeforeRun"]?.bool == true
    let isRefused = hasWords && (line.value["toolDenialKind"] != nil || !isUnrun)
    let end: ToolCallRecord.State = isRefused ? .rejected : isError ? .failed : .succeeded
    var call = record(of: name, "", end, line)
    call.ended = line.time
    let result = line.value["toolUseResult"]
    call.stdout = result?["stdout"]?.string ?? said
    call.stderr = result?["stderr"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    if isRefused { call.reason = "not allowed" } else if hasWords { call.reason = "did not run" }
    add(.setToolCall(call), line)
    if questions.removeValue(forKey: name) != nil, questions.isEmpty {
      state(.running, nil, line)
    }
  }

  // MARK: - What the person runs

  /// A line that began with `!`.
  mutating func run(_ command: String, _ line: ClaudeLine) {
    say(line.id, .user, "!" + command, line)
    var call = record(of: id, "Bash", .running, line)
    call.label = command
    call.arguments = RecordText().string("command", command).line.dropLast()
    call.started = line.time
    add(.setToolCall(call), line)
  }

  private mutating func ran(_ output: (stdout: String, stderr: String), _ line: ClaudeLine) {
    // How it ended is not told.
    var call = record(of: id, "", .succeeded, line)
    call.ended = line.time
    call.stdout = output.stdout
    call.stderr = output.stderr.isEmpty ? nil : output.stderr
    add(.setToolCall(call), line)
    // Otherwise the agent answers.
    if line.value["turnOrigin"] == nil { end(.completed, reason: nil, line) }
  }

  // MARK: - Its end

  /// How long it took; nothing else may have said that it is over.
  mutating func took(_ milliseconds: Int, _ line: ClaudeLine) {
    end(.completed, reason: nil, line)
    var turn = record(ended ?? .completed, line)
    turn.milliseconds = milliseconds
    turn.ended = line.time
    add(.setTurn(turn), line)
  }

  /// It turns out which call made it.
  mutating func isMade(by call: String, in parent: String?, _ line: ClaudeLine) {
    if maker == call { return }
    maker = call
    var turn = record(ended ?? .running, line)
    turn.toolCall = call
    turn.parent = parent
    add(.setTurn(turn), line)
  }

  mutating func end(
    _ state: TurnRecord.State, reason: String?, answer: String? = nil, _ line: ClaudeLine
  ) {
    if isOver { return }
    ended = state
    var turn = record(state, line)
    turn.reason = reason
    turn.message = answer
    turn.ended = line.time
    add(.setTurn(turn), line)
  }

  private func state(_ state: TurnRecord.State, _ reason: String?, _ line: ClaudeLine) {
    var turn = record(state, line)
    turn.reason = reason
    add(.setTurn(turn), line)
  }

  private func record(_ state: TurnRecord.State, _ line: ClaudeLine) -> TurnRecord {
    TurnRecord(origin, id: id, thread: thread, state: state, time: line.time)
  }

  private func record(
    of call: String, _ tool: String, _ state: ToolCallRecord.State, _ line: ClaudeLine
  ) -> ToolCallRecord {
    var record = ToolCallRecord(
      origin, id: call, thread: thread, tool: tool, state: state, time: line.time)
    record.turn = id
    return record
  }

  private func add(_ change: TurnChange, _ line: ClaudeLine) {
    line.events.append(
      TurnEvent(origin, thread: thread, turn: id, time: line.time, change))
  }
}
