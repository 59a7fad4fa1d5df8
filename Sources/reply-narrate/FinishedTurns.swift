import Core
import Prose
import Records
import Turns

/// Finds in lines the turns that are finished, each once: in the records of turn-fold(1), and in
/// the transcript of Claude Code itself. Pure.
struct FinishedTurns {
  private let after: Timestamp?
  private var scan = RecordScan()
  /// The last messages of agents, by their places, and in their order.
  private var messages: [String: MessageRecord] = [:]
  private var order: [String] = []
  private var waiting: [String: TurnRecord] = [:]
  private var seen = RecentIDs()

  /// The most messages and turns that are remembered: an answer stands right beside its turn.
  private static let most = 256

  init(after: Timestamp?) { self.after = after }

  /// Reads a line. Returns a turn that is finished and has not been told; nil for anything else.
  /// Its text is empty where nothing can be said.
  mutating func read(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> Narration? {
    let line: TurnLine
    do throws(ScanFault) {
      line = try TurnLine(bytes, &scan)
    } catch {
      if error == .empty { return nil }
      throw Failure(error.reason)
    }
    if let answer = ClaudeAnswer(line) {
      return tell(
        Narration(
          origin: line.origin(.claude), id: answer.id, thread: answer.session, turn: nil,
          text: answer.text, time: answer.time))
    }
    guard line.shape == .own, ["turn", "message"].contains(line.type) else {
      if line.isTooDeep { throw Failure(TurnLine.tooDeep) }
      return nil
    }
    do throws(RecordFields.Fault) {
      switch try ConversationRecord(reading: bytes) {
      case .turn(let turn): return receive(turn)
      case .message(let message): return receive(message)
      default: return nil
      }
    } catch {
      // What a later version writes is passed over.
      if error.isNews { return nil }
      throw Failure(error.reason)
    }
  }

  private mutating func receive(_ turn: TurnRecord) -> Narration? {
    // A part of a turn, as a subagent is, is nobody's answer.
    guard turn.state == .completed, turn.parent == nil else { return nil }
    // A session that was left in its middle has no answer.
    if turn.message == nil, turn.origin.backend == .claude { return nil }
    let place = Self.place(turn.origin, turn.thread, turn.message ?? "turn \(turn.id)")
    guard let message = messages[place] else {
      if waiting.count >= Self.most { waiting = [:] }
      waiting[place] = turn
      return nil
    }
    return tell(turn, message)
  }

  private mutating func receive(_ message: MessageRecord) -> Narration? {
    guard message.role == .assistant, message.state == .final else { return nil }
    var places = [Self.place(message.origin, message.thread, message.id)]
    if let turn = message.turn {
      places.append(Self.place(message.origin, message.thread, "turn \(turn)"))
    }
    for place in places {
      if messages.updateValue(message, forKey: place) == nil { order.append(place) }
    }
    if order.count > 2 * Self.most {
      for place in order.prefix(Self.most) { messages[place] = nil }
      order.removeFirst(Self.most)
    }
    for place in places {
      if let turn = waiting.removeValue(forKey: place) { return tell(turn, message) }
    }
    return nil
  }

  private mutating func tell(_ turn: TurnRecord, _ message: MessageRecord) -> Narration? {
    tell(
      Narration(
        origin: turn.origin, id: message.id, thread: turn.thread, turn: turn.id,
        text: message.text, time: turn.ended ?? turn.time ?? message.time))
  }

  private mutating func tell(_ answer: Narration) -> Narration? {
    // The lines of Claude Code have ids of their own, which sessions that go on copy.
    let isCopied = answer.origin.backend == .claude
    let place = Self.place(
      RecordOrigin(answer.origin.backend, profile: isCopied ? nil : answer.origin.profile),
      isCopied ? "" : answer.thread, answer.id)
    if let after {
      guard let time = answer.time, time > after else { return nil }
    }
    guard seen.insert(place) else { return nil }
    var narration = answer
    narration.text = Prose.of(answer.text)
    return narration
  }

  private static func place(_ origin: RecordOrigin, _ thread: String, _ id: String) -> String {
    [origin.backend.rawValue, origin.profile ?? "", thread, id].joined(separator: "\n")
  }
}

struct Narration: Equatable {
  let origin: RecordOrigin
  /// The id of the answer, where it has one; else that of the turn.
  let id: String
  let thread: String
  /// The turn's id; nil where a line says only that one has ended.
  let turn: String?
  /// Prose, one line.
  var text: String
  let time: Timestamp?

  func line(_ form: NarrateOptions.Form) -> [UInt8] {
    switch form {
    case .text: Array(text.utf8) + [10]
    case .json:
      RecordText(.narration).string("backend", origin.backend.rawValue)
        .string("profile", origin.profile).string("id", id).string("thread", thread)
        .string("turn", turn).string("text", text).number("chars", text.count).time(time).line
    }
  }
}
