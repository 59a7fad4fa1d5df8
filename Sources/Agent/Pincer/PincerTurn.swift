import Core
import Records
import Turns

/// One question and how far the server is with it, as its thread tells
/// (Agent/Pincer/CONTRACT.md 4.1). No network, no clock.
struct PincerTurn {
  let question: ChatQuestion
  let thread: String
  let base: Int64
  private(set) var id: String?
  private(set) var end: ChatEnd?
  private(set) var isPaused = false
  private(set) var message: String?

  private let origin: RecordOrigin
  private var decoder = PincerTurns()
  private let fold: TurnFold
  private var scan = RecordScan()
  /// What a person is or was asked, also where the server could not propose it.
  private var actions: PincerActions
  /// The same as events propose it, in order.
  private var approvals: [ApprovalRecord] = []
  /// The calls of tools that run.
  private var running: Set<String> = []
  /// The numbers of the events that came: both streams bring the same ones.
  private var known: Set<Int64> = []

  init(_ question: ChatQuestion, _ origin: RecordOrigin, thread: String, base: Int64) {
    (self.question, self.origin, self.thread, self.base) = (question, origin, thread, base)
    fold = TurnFold(thread: thread)
    actions = PincerActions(origin, thread: thread)
  }

  // MARK: - What comes

  /// The turn that an event begins, and the message that it answers; nil for any other event.
  static func beginning(_ message: [UInt8]) -> (turn: String, message: String)? {
    var decoder = PincerTurns()
    guard
      let event = message.withUnsafeBytes({ decoder.event($0, origin: RecordOrigin(.pincer)) }),
      case .started(let message) = event.change, !event.turn.isEmpty
    else { return nil }
    return (event.turn, message)
  }

  mutating func claim(_ turn: String, message: String = "") {
    id = turn
    if !message.isEmpty { self.message = message }
  }

  /// Reads an event of the thread.
  ///
  /// - Returns: what it tells of this turn; nil for one that is of another, or came before.
  mutating func receive(_ message: [UInt8], _ event: JSONValue) -> [ChatNews]? {
    let turn = event.pincerText("turnId")
    // Behind an answer of a person, events name no turn until it goes on.
    if !turn.isEmpty, turn != id { return nil }
    if let number = event.pincerNumber("sequence"), number > 0, !known.insert(number).inserted {
      return nil
    }
    actions.receive(event)
    var events: [TurnEvent] = []
    message.withUnsafeBytes { bytes in
      guard let line = try? TurnLine(bytes, &scan) else { return }
      _ = decoder.decode(line, into: &events)
    }
    var news: [ChatNews] = []
    for var event in events {
      event.origin = origin
      if case .started(let message) = event.change, !turn.isEmpty {
        claim(turn, message: message)
        if let own = ownMessage(event.time) { news.append(.message(own)) }
      }
      for entity in fold.receive(event) where entity.turn == id {
        tell(entity, &news)
      }
    }
    return turn.isEmpty && news.isEmpty ? nil : news
  }

  private mutating func tell(_ entity: ConversationRecord, _ news: inout [ChatNews]) {
    note(entity)
    // What a model that failed leaves behind is no answer, and stands in the turn.
    if case .message(let record) = entity, record.role == .assistant,
      record.text.hasPrefix(PincerTurns.failing)
    {
      return
    }
    news.append(ChatNews(entity))
  }

  /// The end that came too early was the end after all.
  mutating func settle() -> [ChatNews] {
    var event = TurnEvent(origin, thread: thread, time: nil, .completed(message: nil))
    event.turn = id ?? ""
    var news: [ChatNews] = []
    for entity in fold.receive(event) where entity.turn == id { tell(entity, &news) }
    return news
  }

  private func ownMessage(_ time: Timestamp?) -> MessageRecord? {
    guard let message else { return nil }
    var own = MessageRecord(
      origin, id: message, thread: thread, role: .user, text: question.text, state: .final,
      time: time)
    own.turn = id
    return own
  }

  private mutating func note(_ entity: ConversationRecord) {
    switch entity {
    case .turn(let record):
      isPaused = record.state == .paused
      if end != nil { return }
      switch record.state {
      case .completed: end = .answered
      case .failed: end = .failed(record.reason ?? "no reason is given")
      default: break
      }
    case .toolCall(let record):
      if record.state == .running { running.insert(record.id) } else { running.remove(record.id) }
    case .approval(let record):
      if let index = approvals.firstIndex(where: { $0.id == record.id }) {
        approvals[index] = record
      } else {
        approvals.append(record)
      }
    case .message, .thread: break
    }
  }

  // MARK: - What is waited for

  /// How much of a preview is told, characters.
  private static let longest = 200

  private var pending: [ApprovalRecord] { actions.records.filter { $0.state == .pending } }

  var waitsFor: String {
    let waiting = pending.map { approval in
      // What the model says of it is left out: it decides nothing.
      let request = try? JSONValue.parse(approval.request)
      let preview = request?["preview"].map { " " + $0.compact(limit: Self.longest) } ?? ""
      let risk = approval.risk.map { " (\($0))" } ?? ""
      return approval.tool + risk + preview + ", approval " + approval.id
    }
    return waiting.isEmpty ? "for what is not said" : waiting.joined(separator: "; ")
  }

  /// Nobody is asked any more, and one was not answered in time: the server does not go on.
  var isStuck: Bool {
    isPaused && pending.isEmpty && approvals.contains { $0.state == .expired }
  }

  /// How many actions are open though its end was told; none when it may go on any time.
  private var openActions: Int? { id.flatMap { fold.openActions(of: $0) } }

  var isWorking: Bool { !running.isEmpty || (openActions ?? 0) > 0 }

  /// Whether its end came before its last action was done, so that it is likely to go on.
  var mayGoOn: Bool { openActions == 0 }

  var lastExpiry: Timestamp? { pending.compactMap(\.expires).max() }
}
