import Core
import Records

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
