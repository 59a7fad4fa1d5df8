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

  private static let (mostLines, mostSides, mostBegun) = (8192, 64, 256)

  init(_ thread: String, _ origin: RecordOrigin) {
    (self.thread, self.origin) = (thread, origin)
  }

  mutating func receive(_ line: ClaudeLine, into events: inout [TurnEvent]) {
    if line.kind != .user, line.kind != .assistant {
      // What a person calls it goes before what the program does.
      guard let title = line.title, !isNamed || line.kind == .customTitle else { return }
      isNamed = isNamed || line.kind == .customTitle
      var record = ThreadRecord(origin, id: thread, time: line.time)
      record.title = title
      events.append(TurnEvent(origin, thread: thread, time: line.time, .setThread(record)))
    } else if line.isSide {
      side(line, &events)
    } else if line.isInterruption {
      end(.aborted, reason: "interrupted", line, &events)
      main = nil
    } else if line.isPrompt {
      end(.completed, reason: nil, line, &events)
      main = begin(line.id, line, &events)
      main?.receive(line, &events)
    } else {
      // A session may be followed from its middle.
      if line.kind == .assistant, main?.isLeft(by: line) ?? true {
        main = begin(line.answer, line, &events)
      }
      let wasOver = main?.isOver ?? true
      main?.receive(line, &events)
      if !wasOver, main?.isOver == true { endSides(.completed, reason: nil, line, &events) }
    }
  }

  mutating func leave(at line: ClaudeLine, into events: inout [TurnEvent]) {
    end(.completed, reason: nil, line, &events)
    main = nil
  }

  private mutating func begin(
    _ id: String, _ line: ClaudeLine, _ events: inout [TurnEvent]
  ) -> ClaudeTurn {
    if let time = line.time {
      if begun.count >= Self.mostBegun { begun.removeFirst() }
      begun.append((time, id))
    }
    return ClaudeTurn(origin, thread, id: id, parent: nil, line, &events)
  }

  /// The turn in which a subagent began. Its lines may stand in a file of their own, and come
  /// when later turns have begun.
  private func turn(at line: ClaudeLine) -> String? {
    guard let time = line.time, !begun.isEmpty else { return main?.id }
    return begun.last { $0.time <= time }?.id
  }

  private mutating func end(
    _ state: TurnRecord.State, reason: String?, _ line: ClaudeLine, _ events: inout [TurnEvent]
  ) {
    endSides(state, reason: reason, line, &events)
    sides = [:]
    main?.end(state, reason: reason, line, &events)
  }

  // MARK: - Subagents

  private mutating func side(_ line: ClaudeLine, _ events: inout [TurnEvent]) {
    let root = root(of: line)
    if sides[root].map({ $0.isOver && line.isPrompt || $0.isLeft(by: line) }) ?? true {
      if sides[root] == nil, sides.count >= Self.mostSides {
        endSides(.completed, reason: nil, line, &events)
        sides = [:]
      }
      // One that goes on has another turn, and the same one when the line is read again.
      let isFirst = beginnings[root, default: line.id] == line.id
      if beginnings.count >= Self.mostLines { beginnings = [:] }
      if isFirst { beginnings[root] = line.id }
      let id = isFirst ? root : line.answer
      // What a subagent does is a part of what the agent does.
      sides[root] = ClaudeTurn(origin, thread, id: id, parent: turn(at: line), line, &events)
    }
    sides[root]?.receive(line, &events)
  }

  /// Not every version says the end of a subagent: it is at the latest that of the agent.
  private mutating func endSides(
    _ state: TurnRecord.State, reason: String?, _ line: ClaudeLine, _ events: inout [TurnEvent]
  ) {
    for root in sides.keys.sorted() { sides[root]?.end(state, reason: reason, line, &events) }
  }

  private mutating func root(of line: ClaudeLine) -> String {
    let root =
      line.value["agentId"]?.string ?? line.parent.flatMap { roots[$0] } ?? line.id
    if roots.count >= Self.mostLines { roots = [:] }
    roots[line.id] = root
    return root
  }
}
