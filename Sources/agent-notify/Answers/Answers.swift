import CLibc
import Core
import Records
import Screen
import Turns

/// Asks a person what an agent asks, on a phone and at the desktop, and gives the first answer to the
/// agent, by agent-approve(1).
///
/// The codes are in memory alone. Whoever reads one can answer, so none is written to a disk; after
/// a restart what waits is asked again, and the buttons of before do nothing.
final class Answers {
  /// Where a phone's are heard; nil for none.
  let topic: AnswerTopic?
  /// Whether notices of the desktop have buttons.
  let isAtDesktop: Bool
  private var all: [String: Ask] = [:]
  private var byCode: [String: (ask: Ask, button: Button)] = [:]
  /// Those that have ended, oldest first: their codes are known to be of no use.
  private var ended: [Ask] = []
  private let deniesOnly: Bool
  /// Those whose questions are told here alone.
  private var profiles: Set<String>
  private var waiting: [(ask: Ask, button: Button)] = []
  private var givings: [Giving] = []
  /// What is to be told because of answers.
  private var news: [Delivery] = []

  private static let mostGivings = 8
  private static let (most, mostEnded) = (4096, 1000)

  init(_ options: NotifyOptions, _ topic: AnswerTopic?, isAtDesktop: Bool) {
    (self.topic, self.isAtDesktop) = (topic, isAtDesktop)
    deniesOnly = options.deniesOnly
    profiles = Set(options.profiles)
  }

  /// Whether no answer is on its way.
  var isIdle: Bool { givings.isEmpty && waiting.isEmpty }
  /// Whether there is one to be given now.
  var isDue: Bool { !waiting.isEmpty && givings.count < Self.mostGivings }
  /// To be waited for.
  var descriptors: [Int32] { givings.flatMap { $0.call?.reading ?? [] } }

  /// Looks at a line of what follows the approvals of a profile.
  func read(_ line: UnsafeRawBufferPointer, of profile: String) {
    guard case .approval(let approval)? = try? ConversationRecord(reading: line) else { return }
    if let name = approval.origin.profile { profiles.insert(name) }
    changed(approval, of: profile)
  }

  /// Something waits, or does not wait any more.
  private func changed(_ approval: ApprovalRecord, of profile: String) {
    guard let ask = all[Ask.key(approval.origin.profile, approval.id)] else {
      if approval.state == .pending, all.count < Self.most {
        add(approval, of: profile, now: Clock.monotonic)
      }
      return
    }
    guard approval.state != .pending else { return }
    ask.isGone = true
    // What an answer from here did, the agent says to whoever gave it.
    guard ask.state == .open else { return }
    switch approval.state {
    case .approved, .executed:
      let isForEver = approval.decision?.hasSuffix("always") == true
      end(ask, "answered at the desk", isForEver ? "always allowed" : "allowed")
    case .rejected: end(ask, "answered at the desk", "denied")
    case .expired: end(ask, "too late", approval.reason ?? "nobody answered in time")
    default: end(ask, "withdrawn", approval.reason)
    }
  }

  @discardableResult
  private func add(_ approval: ApprovalRecord, of profile: String, now: Double) -> Ask {
    let ask = Ask(approval, of: profile, deniesOnly: deniesOnly, now: now)
    all[ask.key] = ask
    for (code, button) in zip(ask.codes, ask.buttons) { byCode[code] = (ask, button) }
    return ask
  }

  /// Whether a notice is of an approval that is asked here, whoever told of it: events of one
  /// profile do not name it.
  func isQuestion(_ notice: Notice) -> Bool {
    notice.category == "approval" && notice.about?.type == "approval"
      && notice.profile.map(profiles.contains) != false
  }

  /// Whether it is to be told now: once, when all is known of it.
  func tells(_ notice: Notice) -> Bool {
    guard let ask = ask(Ask.key(notice)), ask.notice == nil, ask.state == .open else {
      return false
    }
    ask.tell(notice)
    return true
  }

  /// How a question is told.
  enum Way {
    /// Nobody may be asked yet.
    case wait
    /// It waits no more.
    case gone
    /// It is none, or nobody can answer it here.
    case plain
    case question(Ask, Delivery)
  }

  /// How a delivery is told on a phone.
  func onPhone(_ delivery: Delivery) -> Way {
    guard let topic, !topic.isClosed else { return .plain }
    let way = question(delivery)
    guard case .question(let ask, _) = way else { return way }
    guard topic.mayAsk else { return .wait }
    ask.delivery = delivery
    return way
  }

  /// How a delivery is told where it can be answered at once.
  func question(_ delivery: Delivery) -> Way {
    guard let ask = ask(delivery.question) else { return .plain }
    guard ask.state == .open else { return .gone }
    var delivery = delivery
    if let always = ask.always { delivery.body += "\nAlways: \(always)" }
    return .question(ask, delivery)
  }

  private func ask(_ key: String?) -> Ask? { key.flatMap { all[$0] } }

  // MARK: - What is answered

  /// Goes on. Returns when to be called again at the latest.
  ///
  /// - Throws: what is wrong with the topic, while nobody was asked yet.
  func work(now: Double) throws(Failure) -> Double {
    for ask in open where ask.deadline <= now { end(ask, "too late", "nobody answered in time") }
    let due = try topic?.work(now: now) ?? .infinity
    for code in topic?.takeHeard() ?? [] { receive(code) }
    return min(due, give(now: now), open.map(\.deadline).min() ?? .infinity)
  }

  private var open: [Ask] { all.values.filter { $0.state == .open } }

  /// A code that came; one that comes again, as after a cut, stands for what it stood for, and that
  /// has ended.
  func receive(_ code: String) {
    guard let (ask, button) = byCode[code] else { return }
    let why: String
    switch ask.state {
    case .open:
      (ask.state, ask.answer) = (.answering(button), button)
      return waiting.append((ask, button))
    case .answering(let first): why = "the first answer was \(first.label)"
    case .ended(let what): why = what
    }
    // The same once more is no other answer, and each is told once: whoever replays codes makes no
    // noise.
    guard ask.answer != button, !ask.hasSaidLate else { return }
    ask.hasSaidLate = true
    say("too late", ask, why)
  }

  /// Gives answers to the agents. Returns when to be called again at the latest.
  private func give(now: Double) -> Double {
    for giving in givings where giving.isDone(now: now) {
      let (result, reason) = giving.result
      let (ask, outcome) = (giving.ask, giving.button.outcome)
      switch result {
      case .accepted: end(ask, outcome, nil)
      case .already: end(ask, "answered at the desk", outcome)
      case .late: end(ask, "too late", reason)
      case .notFound: end(ask, "too late", "it does not wait any more")
      case .unknown: end(ask, "perhaps answered", reason)
      case .refused, nil: end(ask, "not answered", reason)
      }
      let hasFailed = result == nil || result == .refused || result == .unknown
      if hasFailed, let delivery = again(ask, now: now)?.delivery { news.append(delivery) }
    }
    givings.removeAll { $0.isOver }
    while givings.count < Self.mostGivings, !waiting.isEmpty {
      let (ask, button) = waiting.removeFirst()
      givings.append(Giving(ask, button, now: now))
    }
    // The end of a program is nothing that can be polled for.
    if givings.isEmpty { return .infinity }
    return now + (givings.contains { $0.call?.isTalking != true } ? 0.01 : 1)
  }

  /// The same question with other codes, where an answer was not taken and it still waits.
  private func again(_ ask: Ask, now: Double) -> Ask? {
    if ask.isGone || ask.deadline <= now { return nil }
    let next = add(ask.approval, of: ask.profile, now: now)
    if let notice = ask.notice { next.tell(notice) }
    next.delivery = ask.delivery
    return next
  }

  private func end(_ ask: Ask, _ title: String, _ reason: String?) {
    ask.state = .ended([title, reason].compactMap(\.self).joined(separator: ": "))
    ended.append(ask)
    if ended.count > Self.mostEnded {
      let old = ended.removeFirst()
      if all[old.key] === old { all[old.key] = nil }
      for code in old.codes { byCode[code] = nil }
    }
    // Who was not asked has nothing to hear.
    if ask.delivery != nil { say(title, ask, reason) }
  }

  private func say(_ title: String, _ ask: Ask, _ reason: String?) {
    let line = NtfyMessage.cut(Plain.line(ask.line), 300)
    let text = [line, reason.map { Plain.line($0, limit: 300) }].compactMap(\.self)
    news.append(
      Delivery(
        title: title, body: text.joined(separator: "\n"), urgency: .info, hasSound: false,
        category: "answer", sequence: ask.delivery?.sequence ?? Bundle.newSequence(), record: []))
  }

  func takeNews() -> [Delivery] {
    defer { news = [] }
    return news
  }
}

/// An answer on its way to an agent: agent-approve(1), with the decision on its standard input.
private final class Giving {
  let ask: Ask
  let button: Button
  private(set) var call: ProgramCall?
  private var reason = ""
  private(set) var isOver = false
  private let deadline: Double

  /// How long the agent may take, seconds.
  private static let patience = 120

  init(_ ask: Ask, _ button: Button, now: Double) {
    (self.ask, self.button) = (ask, button)
    deadline = now + Double(Self.patience) + 10
    let id = RecordText().string("id", ask.approval.id)
    let decision =
      button.isChoice
      ? id.strings("answers", [button.decision]) : id.string("decision", button.decision)
    do throws(Failure) {
      call = try ProgramCall(
        ["agent-approve", "-p", ask.profile, "-o", "json", "--max-time", "\(Self.patience)"],
        input: decision.line, leadsGroup: false, most: 1 << 16)
    } catch {
      reason = error.message
    }
  }

  /// Whether it has just ended.
  func isDone(now: Double) -> Bool {
    if let call {
      if now > deadline { call.child.kill(SIGKILL) }
      guard call.look() || now > deadline && call.child.reap() else { return false }
      reason = call.said
    }
    isOver = true
    return true
  }

  /// What came of it; nothing where the agent said nothing.
  var result: (ApprovalAnswer.Result?, reason: String?) {
    for line in call?.output.split(separator: 10) ?? [] {
      guard let record = try? Array(line).withUnsafeBytes({ try JSONValue.parse($0) }),
        record["type"]?.string == RecordType.approvalAnswer.rawValue,
        let result = record["result"]?.string.flatMap({ ApprovalAnswer.Result(rawValue: $0) })
      else { continue }
      return (result, record["reason"]?.string)
    }
    return (nil, reason.isEmpty ? "the agent could not be asked" : reason)
  }
}

/// A button under a question. Its label is a fixed word: what a stranger wrote could pass for
/// another button.
struct Button: Equatable {
  let label: String
  /// What is answered, in the words of agent-approve(1).
  let decision: String
  /// What is said when it counts.
  let outcome: String
  /// Whether it chooses, so that a choice named No denies nothing.
  var isChoice = false

  static let no = Button(label: "No", decision: "deny", outcome: "denied")
  /// A notice has no place for more.
  static let most = 3

  /// Those of an approval.
  ///
  /// - Parameter deniesOnly: whether nothing is to be allowed from there.
  static func all(of approval: ApprovalRecord, deniesOnly: Bool) -> [Button] {
    // What is only described by words about it cannot be allowed by who sees nothing else.
    guard !deniesOnly, let text = Asked(approval.request).text,
      let request = try? JSONValue.parse(approval.request),
      isWhole(text, of: request)
    else { return [no] }
    let questions = AskedQuestion.all(in: request)
    if approval.tool == AskedQuestion.tool || !questions.isEmpty {
      guard questions.count == 1, !questions[0].isSecret, !questions[0].takesSeveral else {
        return [no]
      }
      let labels = questions[0].choices.map(\.label)
      let isOdd = labels.contains { ["", "deny", "later"].contains($0.lowercased()) }
      guard (1...most).contains(labels.count), !isOdd,
        Set(labels.map { $0.lowercased() }).count == labels.count
      else { return [no] }
      let choices = labels.enumerated().map { index, label in
        Button(
          label: "\(index + 1)", decision: label, outcome: "answered with \(index + 1)",
          isChoice: true)
      }
      return choices + (choices.count < most ? [no] : [])
    }
    var buttons: [Button] = []
    if let word = ["allow", "allow-once", "approve"].first(where: approval.decisions.contains) {
      let decision = word == "allow-once" ? "approve" : word
      buttons.append(Button(label: "Yes", decision: decision, outcome: "allowed"))
    }
    if !buttons.isEmpty, let word = always(approval, request) {
      buttons.append(Button(label: "Always", decision: word, outcome: "always allowed"))
    }
    return buttons + [no]
  }

  /// What a notice has room for, bytes and lines.
  private static let (longest, mostLines) = (3300, 12)
  /// What a tool is given beside a command that changes nothing of what it does.
  private static let aside = ["command", "description", "run_in_background", "timeout"]

  /// Whether a notice shows all that is asked: nobody allows what could not be seen.
  private static func isWhole(_ text: String, of request: JSONValue) -> Bool {
    guard text.utf8.count <= longest, text.split(separator: "\n").count <= mostLines else {
      return false
    }
    // Of a call with a command, that alone is shown.
    guard let input = request["tool_input"], input["command"]?.string == text else { return true }
    return input.members.allSatisfy { aside.contains($0.name) }
  }

  private static func always(_ approval: ApprovalRecord, _ request: JSONValue) -> String? {
    if approval.decisions.contains("allow-always") { return "allow-always" }
    // What it allows from then on must be said: what a program offers, and one thing alone.
    let offers = ClaudeAsk.suggestions(request)
    return offers.count == 1 && approval.decisions.contains("always") ? "always" : nil
  }
}

/// An approval that a person is asked for, and the codes that answer it.
final class Ask {
  enum State: Equatable {
    case open
    /// An answer was taken, the first one, and is given to the agent.
    case answering(Button)
    /// What came of it, in words for people.
    case ended(String)
  }

  let profile: String
  let approval: ApprovalRecord
  /// What is asked, a line for what is said of it later.
  private(set) var line = ""
  private(set) var buttons: [Button]
  /// For each button a code, which answers this and nothing else.
  private(set) var codes: [String]
  fileprivate(set) var state = State.open
  /// When it is too late, seconds of the monotonic clock.
  let deadline: Double
  /// What was told of it.
  private(set) var notice: Notice?
  /// The message that was sent, once one was.
  var delivery: Delivery?
  /// Whether it ended while an answer was on its way.
  fileprivate var isGone = false
  fileprivate(set) var answer: Button?
  fileprivate(set) var hasSaidLate = false

  init(_ approval: ApprovalRecord, of profile: String, deniesOnly: Bool, now: Double) {
    (self.profile, self.approval) = (profile, approval)
    buttons = Button.all(of: approval, deniesOnly: deniesOnly)
    codes = buttons.map { _ in Ask.newCode() }
    // How long the agent's own clock gives it: that need not be ours.
    deadline = now + (Self.seconds(from: approval.time, to: approval.expires) ?? .infinity)
  }

  private static func seconds(from start: Timestamp?, to end: Timestamp?) -> Double? {
    guard let start, let end else { return nil }
    return Double(end.seconds - start.seconds)
  }

  var key: String { Self.key(approval.origin.profile, approval.id) }

  static func key(_ profile: String?, _ id: String) -> String { "\(profile ?? "")\0\(id)" }

  /// That of the approval that is told; nil for all else.
  static func key(_ notice: Notice) -> String? {
    guard let about = notice.about, about.type == "approval" else { return nil }
    return key(notice.profile, about.id)
  }

  /// What Always would allow from then on, where the agent says it.
  var always: String? {
    guard buttons.contains(where: { $0.decision == "always" }) else { return nil }
    let request = try? JSONValue.parse(approval.request)
    return request.map(ClaudeAsk.suggestions)?.first?.words
  }

  /// It is to be told.
  func tell(_ notice: Notice) {
    self.notice = notice
    let who = [notice.profile, notice.place].compactMap(\.self).joined(separator: " ")
    let text = notice.text?.split(whereSeparator: \.isNewline).first.map(String.init)
    line = [who, text ?? notice.title ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
  }

  /// 128 random bits, 22 letters.
  static func newCode() -> String { Base64.random(bytes: 16) }

  /// Whether a message may be a code.
  static func isCode(_ text: String) -> Bool {
    text.utf8.count == 22 && text.utf8.allSatisfy(\.isOfName)
  }
}
