import Core
import Records

/// One question and how far the server is with it, as its thread tells
/// (Agent/Pincer/CONTRACT.md 4.1). No network, no clock.
struct PincerTurn {
  /// An action that waits for a person, or waited.
  private struct Action {
    let words: String
    let expires: Timestamp?
    var isPending = true
    var isExpired = false
  }

  let question: ChatQuestion
  let thread: String
  /// The number of the thread's last event before it was asked.
  let base: Int64
  /// The turn's id; nil until it is known.
  private(set) var id: String?
  /// How it ended; nil while it goes on.
  private(set) var end: ChatEnd?
  /// Whether it waits for a person.
  private(set) var isPaused = false
  /// The id of our own message, once it is known to have arrived.
  private(set) var message: String?

  private var actions: [String: Action] = [:]
  private var order: [String] = []
  private var toolCalls: Set<String> = []
  /// The runs of tools that go on.
  private var executions: Set<String> = []
  /// The runs that are over.
  private var finished: Set<String> = []
  /// The numbers of the events that were taken: both streams bring the same ones.
  private var taken: Set<Int64> = []

  init(_ question: ChatQuestion, thread: String, base: Int64) {
    self.question = question
    self.thread = thread
    self.base = base
  }

  // MARK: - What comes

  /// Whether an event is the beginning of a turn that may be this one.
  static func beginning(_ event: JSONValue) -> (turn: String, message: String)? {
    guard let started = event.pincer("turnStarted") else { return nil }
    let turn = event.pincerText("turnId")
    return turn.isEmpty ? nil : (turn, started.pincerText("userMessageId"))
  }

  /// The turn is known to be this one.
  mutating func claim(_ turn: String, message: String) {
    id = turn
    if !message.isEmpty { self.message = message }
  }

  /// Takes an event of the thread.
  ///
  /// - Returns: whether it is of this turn, and new.
  mutating func take(_ event: JSONValue) -> Bool {
    guard isOurs(event) else { return false }
    if let number = event.pincerNumber("sequence"), number > 0, !taken.insert(number).inserted {
      return false
    }
    note(event)
    return true
  }

  /// Behind an answer of a person, events name no turn until it goes on.
  private func isOurs(_ event: JSONValue) -> Bool {
    let turn = event.pincerText("turnId")
    if !turn.isEmpty { return turn == id }
    for name in ["proposedActionStatusChanged", "toolExecutionStarted"] {
      guard let payload = event.pincer(name) else { continue }
      let call = payload.pincerText("toolCallId")
      return actions[payload.pincerText("actionId")] != nil || actions[call] != nil
        || toolCalls.contains(call)
    }
    for name in ["toolExecutionOutputDelta", "toolExecutionFinished"] {
      guard let payload = event.pincer(name) else { continue }
      let execution = payload.pincerText("executionId")
      return executions.contains(execution) || finished.contains(execution)
    }
    return false
  }

  private mutating func note(_ event: JSONValue) {
    if let payload = event.pincer("toolCallPlanned") {
      toolCalls.insert(payload.pincerText("toolCallId"))
    } else if let payload = event.pincer("toolExecutionStarted") {
      executions.insert(payload.pincerText("executionId"))
    } else if let payload = event.pincer("toolExecutionFinished") {
      let execution = payload.pincerText("executionId")
      executions.remove(execution)
      finished.insert(execution)
    } else if let payload = event.pincer("proposedActionCreated") {
      propose(payload)
    } else if let payload = event.pincer("proposedActionStatusChanged") {
      let status = payload.pincerEnum("status", PincerWords.actionStates)
      let key = payload.pincerText("actionId")
      if status != "PENDING" { actions[key]?.isPending = false }
      if status == "REJECTED" {
        actions[key]?.isExpired = payload.pincerText("reason") == PincerAction.expired
      }
    } else if event.pincer("turnPaused") != nil {
      isPaused = true
    } else if event.pincer("turnResumed") != nil {
      isPaused = false
    } else if event.pincer("turnCompleted") != nil {
      finish(.answered)
    } else if let payload = event.pincer("turnFailed") {
      let words = [payload.pincerText("code"), payload.pincerText("message")]
      let reason = words.filter { !$0.isEmpty }.joined(separator: ": ")
      finish(.failed(reason.isEmpty ? "no reason is given" : reason))
    }
  }

  /// The first end counts.
  private mutating func finish(_ end: ChatEnd) {
    isPaused = false
    if self.end == nil { self.end = end }
  }

  private mutating func propose(_ payload: JSONValue) {
    let key = payload.pincerText("actionId")
    // What the model says of it is left out: it decides nothing.
    let preview = payload.pincer("preview").map { " " + $0.compact(limit: Self.longest) } ?? ""
    let risk = payload.pincerEnum("riskClass", PincerWords.risks).map { " (\($0))" } ?? ""
    if actions[key] == nil { order.append(key) }
    actions[key] = Action(
      words: payload.pincerText("tool") + risk + preview + ", approval " + key,
      expires: payload.pincerTime("expiresAt"))
  }

  // MARK: - What is waited for

  /// How much of a preview is told, characters.
  private static let longest = 200

  /// What a person is asked, in a line.
  var waitsFor: String {
    let waiting = order.compactMap { actions[$0] }.filter(\.isPending).map(\.words)
    return waiting.isEmpty ? "for what is not said" : waiting.joined(separator: "; ")
  }

  /// Whether nobody is asked any more, and one of those who were did not answer in time:
  /// then the server does not go on.
  var isStuck: Bool {
    isPaused && !actions.values.contains(where: \.isPending)
      && actions.values.contains(where: \.isExpired)
  }

  /// Whether a tool runs.
  var isWorking: Bool { !executions.isEmpty }

  /// When the last approval that is waited for expires; nil when none says.
  var lastExpiry: Timestamp? {
    actions.values.filter(\.isPending).compactMap(\.expires).max()
  }
}
