import Agent
import CLibc
import Core
import Records
import Screen

/// `--interactive`: asks a person for each approval that waits, while the link lives. A
/// question goes away when somebody else answers or it expires.
final class Asking: OpenLine {
  private var queue: [ApprovalRecord] = []
  private var later: [ApprovalRecord] = []
  private var current: ApprovalRecord?
  /// What is asked of the current one, where it is a question, and what was answered so far.
  private var (questions, answers): ([AskedQuestion], [String]) = ([], [])
  /// The current one, where it can be changed.
  private var change: ApprovalEdit?
  private var isSending = false
  private var isPrompting = false
  /// A question went away under the fingers of who answered it: until when a line is
  /// taken for the answer to that one.
  private var notBefore = 0.0
  private var typed: [UInt8] = []
  private var status = ExitStatus.success
  private var hasGreeted = false

  private var hasAsked = false

  /// Seconds.
  private static let reactionTime = 1.0
  /// How long what somebody was told of may take to be listed, seconds.
  private static let listingTime = 5.0
  /// Who is asked more than this answers nothing any more.
  private static let mostHeld = 4096
  private static let mostTyped = 1024

  func run() throws(WriteFailure) -> ExitStatus {
    let limit = deadline
    if options.isOnce { deadline = min(limit, Clock.monotonic + Self.listingTime) }
    while end == nil {
      try askNext()
      if hasAsked { deadline = limit }
      if options.isOnce, hasAsked, !isWanted, !isSending { break }
      try prompt()
      try greet()
      try run(reading: 0) {
        (!isSending && !isPrompting && isWanted) || (!hasGreeted && isListed)
          || (options.isOnce && hasAsked && !isWanted && !isSending)
      }
      if end == nil, isReadable(0), !(try read()) { break }
    }
    breakLine()
    let left = queue.count + later.count + (current == nil ? 0 : 1)
    if left > 0 { diagnostics.say("\(left) not answered") }
    return try leave(options.isOnce && !hasAsked ? status.worse(.negative) : status)
  }

  private var isWanted: Bool { current != nil || !queue.isEmpty }

  // MARK: - The question

  /// An empty screen does not say whether anything is to come.
  private func greet() throws(WriteFailure) {
    guard !hasGreeted, isListed else { return }
    hasGreeted = true
    if !isWanted, !options.isOnce { try say("nothing waits; ^D ends") }
  }

  private func askNext() throws(WriteFailure) {
    guard current == nil, !queue.isEmpty, isListed else { return }
    let next = queue.removeFirst()
    (current, hasAsked) = (next, true)
    isPrompting = false
    // What was typed before the question was seen is no answer to it.
    tcflush(0, TCIFLUSH)
    typed = []
    let card = ApprovalCard(next)
    (questions, answers) = (card.questions, [])
    change = try? ApprovalEdit(next)
    try output.lines(card.lines(now: .now()))
  }

  private func prompt() throws(WriteFailure) {
    guard current != nil, !isSending, !isPrompting else { return }
    try output.prompt("  \(promptText) ")
    isPrompting = true
  }

  private var promptText: String {
    guard answers.count < questions.count else {
      let edit = change == nil ? "" : ", e to change it"
      return "allow it once? y, n\(edit) or later [n]"
    }
    let question = questions[answers.count]
    let which = questions.count == 1 ? "answer" : Visible.line(question.header ?? question.text)
    return "\(which)? \(ApprovalCard.hint(question)); deny or later:"
  }

  override func willSay() { breakLine() }

  private func breakLine() {
    guard isPrompting else { return }
    isPrompting = false
    write { () throws(WriteFailure) in try output.prompt("\n") }
  }

  override func changed(_ approval: ApprovalRecord) {
    if approval.state == .pending {
      if !holds(approval.id), queue.count + later.count < Self.mostHeld { queue.append(approval) }
      return
    }
    let isCurrent = current?.id == approval.id
    // What we answered ourselves is told by its result.
    if isCurrent, isSending { return }
    guard holds(approval.id) else { return }
    queue.removeAll { $0.id == approval.id }
    later.removeAll { $0.id == approval.id }
    breakLine()
    if isCurrent {
      current = nil
      notBefore = Clock.monotonic + Self.reactionTime
    }
    write { () throws(WriteFailure) in
      try output.lines([ApprovalCard.state(approval)])
      try output.flush()
    }
  }

  private func holds(_ id: String) -> Bool {
    current?.id == id || queue.contains { $0.id == id } || later.contains { $0.id == id }
  }

  // MARK: - The answer

  /// False at the end of the input.
  private func read() throws(WriteFailure) -> Bool {
    var bytes = [UInt8](repeating: 0, count: Self.mostTyped)
    let count = CLibc.read(0, &bytes, bytes.count)
    if count < 0 { return systemError == EINTR || systemError == EAGAIN }
    if count == 0 { return false }
    for byte in bytes[..<count] {
      if byte != 10 {
        if typed.count < Self.mostTyped { typed.append(byte) }
        continue
      }
      let words = String(decoding: typed, as: UTF8.self)
      typed = []
      isPrompting = false
      try receive(words)
    }
    return true
  }

  private func receive(_ words: String) throws(WriteFailure) {
    let word = words.lowercased().filter { !$0.isWhitespace }
    guard let current, !isSending else {
      if self.current == nil, !later.isEmpty {
        queue += later
        later = []
      }
      return
    }
    if Clock.monotonic < notBefore {
      return try say("that may have been meant for the one before: once more, please")
    }
    if !questions.isEmpty, !["l", "later"].contains(word) {
      return try receive(words.trimmed, for: current)
    }
    // Words behind it are for the agent.
    let given = words.trimmed
    if let space = given.firstIndex(of: " "),
      ["deny", "n", "no"].contains(given[..<space].lowercased())
    {
      let reason = String(given[space...]).trimmed
      return answer(ApprovalDecision(id: current.id, decision: "deny", reason: reason))
    }
    switch word {
    case "e" where change != nil, "edit" where change != nil: try edit(current)
    case "y", "yes": answer(current, "approve")
    case "", "n", "no": answer(current, "deny")
    case "l", "later":
      self.current = nil
      later.append(current)
      try say("put off; Enter asks again when nothing else waits")
    case _ where current.decisions.contains(word): answer(current, word)
    default:
      try say(
        "y allows it once, n or Enter denies it, later puts it off; or one of its answers,"
          + " spelled out")
    }
  }

  private func edit(_ approval: ApprovalRecord) throws(WriteFailure) {
    let input: [UInt8]?
    do throws(Failure) { input = try change?.input(diagnostics) } catch {
      return try say(error.message)
    }
    guard let input else { return try say("nothing changed") }
    guard Confirmation.isYes("  Allow that?") else { return try say("nothing was sent") }
    answer(ApprovalDecision(id: approval.id, decision: "approve", input: input))
  }

  /// An answer to the next of the questions: when all are there, they go out.
  private func receive(
    _ words: String, for approval: ApprovalRecord
  ) throws(WriteFailure) {
    if words.lowercased() == "deny" { return answer(approval, "deny") }
    do throws(Failure) { _ = try questions[answers.count].answer(words) } catch {
      return try say(error.reason)
    }
    answers.append(words)
    guard answers.count == questions.count else { return }
    answer(ApprovalDecision(id: approval.id, answers: answers))
  }

  private func answer(_ approval: ApprovalRecord, _ word: String) {
    answer(ApprovalDecision(id: approval.id, decision: word))
  }

  private func answer(_ decision: ApprovalDecision) {
    isSending = true
    line.answer(decision, number: 0)
  }

  override func answered(_ answer: ApprovalAnswer, number: Int) {
    isSending = false
    current = nil
    status = status.worse(answer.result.status)
    write { () throws(WriteFailure) in try output.answer(answer) }
  }

  private func say(_ words: String) throws(WriteFailure) {
    try output.lines([Line("  " + words, .dim)])
  }
}
