import CLibc
import Core
import Notices
import Records
import Screen

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
  private var asks: Asks
  /// Those whose questions are told here alone.
  private var profiles: Set<String>
  private var waiting: [(ask: Ask, button: Button)] = []
  private var givings: [Giving] = []
  /// What is to be told because of answers.
  private var news: [Delivery] = []

  private static let mostGivings = 8

  init(_ options: NotifyOptions, _ topic: AnswerTopic?, isAtDesktop: Bool) {
    (self.topic, self.isAtDesktop) = (topic, isAtDesktop)
    asks = Asks(deniesOnly: options.deniesOnly)
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
    say(asks.changed(approval, of: profile, now: Clock.monotonic))
  }

  /// Whether a notice is of an approval that is asked here, whoever told of it: events of one
  /// profile do not name it.
  func isQuestion(_ notice: Notice) -> Bool {
    notice.category == "approval" && notice.about?.type == "approval"
      && notice.profile.map(profiles.contains) != false
  }

  /// Whether it is to be told now: once, when all is known of it.
  func tells(_ notice: Notice) -> Bool {
    guard let ask = asks[Asks.key(notice)], ask.notice == nil, ask.state == .open else {
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
    guard let ask = asks[delivery.question] else { return .plain }
    guard ask.state == .open else { return .gone }
    var delivery = delivery
    if let always = ask.always { delivery.body += "\nAlways: \(always)" }
    return .question(ask, delivery)
  }

  // MARK: - What is answered

  /// Goes on. Returns when to be called again at the latest.
  ///
  /// - Throws: what is wrong with the topic, while nobody was asked yet.
  func work(now: Double) throws(Failure) -> Double {
    for outcome in asks.expire(now: now) { say(outcome) }
    let due = try topic?.work(now: now) ?? .infinity
    for code in topic?.takeHeard() ?? [] { receive(code) }
    return min(due, give(now: now), asks.nextDeadline)
  }

  /// A code that came; one that comes again, as after a cut, stands for what it stood for, and that
  /// has ended.
  func receive(_ code: String) {
    switch asks.receive(code) {
    case .give(let ask, let button): waiting.append((ask, button))
    case .late(let outcome): say(outcome)
    case .nothing: break
    }
  }

  /// Gives answers to the agents. Returns when to be called again at the latest.
  private func give(now: Double) -> Double {
    for giving in givings where giving.isDone(now: now) {
      let (result, reason) = giving.result
      let ask = giving.ask
      say(asks.answered(ask, giving.button, result, reason: reason))
      let hasFailed = result == nil || result == .refused || result == .unknown
      if hasFailed, let next = asks.again(ask, now: now), let delivery = next.delivery {
        news.append(delivery)
      }
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

  private func say(_ outcome: Asks.Outcome?) {
    guard let outcome else { return }
    let line = NtfyMessage.cut(Plain.line(outcome.ask.line), 300)
    let text = [line, outcome.reason.map { Plain.line($0, limit: 300) }].compactMap(\.self)
    news.append(
      Delivery(
        title: outcome.title, body: text.joined(separator: "\n"), urgency: .info, hasSound: false,
        category: "answer", sequence: outcome.ask.delivery?.sequence ?? Bundle.newSequence(),
        record: []))
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
