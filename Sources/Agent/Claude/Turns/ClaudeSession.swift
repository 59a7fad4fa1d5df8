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
