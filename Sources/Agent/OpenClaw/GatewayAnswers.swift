import Core
import Records

/// The answers to a gateway's approvals that are under way (Agent/OpenClaw/CONTRACT.md 8).
///
/// An answer is sent only for what is known to wait: a gateway of earlier versions takes a
/// part of an id for the whole. One whose reply was lost is sent again only if what it
/// answers still waits; else the gateway is asked what became of it.
final class GatewayAnswers {
  private struct Answer {
    let decision: ApprovalDecision
    /// In the gateway's words.
    let word: String
    /// The lists that had been asked for when it was made.
    let born: Int
    let then: (ApprovalAnswer) -> Void
    /// How often it was sent, and whether the gateway was asked what became of it.
    var tries = 0
    var hasLooked = false
    /// The gateway says that it is over: until when the event that tells more is waited
    /// for, seconds of `Clock.monotonic`.
    var goneUntil: Double?
  }

  /// The connection; nil while there is none.
  private let gateway: () -> Gateway?
  private let book: ApprovalBook
  private let origin: RecordOrigin
  /// Asks for a new list.
  private let list: () -> Void
  /// Told what has changed without an event.
  private let tell: (ApprovalRecord) -> Void
  private var waiting: [Answer] = []
  /// The approvals of which an answer is on its way: one at a time.
  private var busy: Set<String> = []

  /// How long the event is waited for that says who was faster, seconds.
  private static let patience = 1.0
  /// How often an answer is sent for which no reply comes.
  private static let mostTries = 3

  init(
    _ book: ApprovalBook, _ origin: RecordOrigin, gateway: @escaping () -> Gateway?,
    list: @escaping () -> Void, tell: @escaping (ApprovalRecord) -> Void
  ) {
    self.gateway = gateway
    self.book = book
    self.origin = origin
    self.list = list
    self.tell = tell
  }

  /// Takes an answer; `settle` sends it.
  func add(_ decision: ApprovalDecision, then: @escaping (ApprovalAnswer) -> Void) {
    waiting.append(
      Answer(
        decision: decision, word: Self.word(decision.decision), born: book.asked, then: then))
  }

  /// Does what can be done now that the list is complete.
  func settle() {
    let answers = waiting
    waiting = []
    for answer in answers { settle(answer) }
  }

  /// When `settle` is to be called at the latest, seconds of `Clock.monotonic`.
  var next: Double { waiting.reduce(.infinity) { min($0, $1.goneUntil ?? .infinity) } }

  /// Nothing more comes.
  func end(_ reason: String) {
    let answers = waiting
    waiting = []
    for answer in answers {
      if answer.tries == 0 {
        finish(answer, .refused, "it was not sent: \(reason)")
      } else {
        finish(answer, .unknown, reason)
      }
    }
  }

  // MARK: - One answer

  private func settle(_ answer: Answer) {
    let id = answer.decision.id
    if busy.contains(id) { return waiting.append(answer) }
    switch book.fate(of: id) {
    case .over(let decision?, _): finish(answer, decided: decision)
    case .over(nil, let reason) where answer.tries == 0: finish(answer, .late, reason)
    case .over(nil, _): look(answer)
    case .waits(let approval):
      if let until = answer.goneUntil {
        if until > Clock.monotonic { return waiting.append(answer) }
        let reason = "answered elsewhere, or expired"
        if let gone = book.expire(id, reason, now: .now()) { tell(gone) }
        return answer.tries > 1 ? look(answer) : finish(answer, .late, reason)
      }
      guard approval.decisions.contains(answer.word) else {
        let words =
          approval.decisions.isEmpty
          ? "no answer" : approval.decisions.joined(separator: ", ")
        return finish(answer, .refused, "the gateway takes: \(words)")
      }
      send(answer)
    case .unknown:
      if answer.tries > 0 { return look(answer) }
      if book.complete > answer.born { return finish(answer, .notFound, nil) }
      waiting.append(answer)
      if book.asked <= answer.born { list() }
    }
  }

  private func send(_ answer: Answer) {
    var answer = answer
    answer.tries += 1
    let id = answer.decision.id
    let kind = book.kind(of: id).rawValue
    var method = "\(kind).approval.resolve"
    var params = RecordText().string("id", id)
    // Where there is one for all kinds it also says who was faster.
    if gateway()?.hello.methods.contains("approval.resolve") == true {
      method = "approval.resolve"
      params = params.string("kind", kind)
    }
    busy.insert(id)
    call(method, params.string("decision", answer.word)) { [self] reply in
      busy.remove(id)
      switch reply {
      case .answer:
        took(answer, reply.object)
      case .refused(let error): refused(answer, error)
      case .late: look(answer)
      // The next greeting is followed by a list, and that by another look at it.
      case .lost: return waiting.append(answer)
      }
      if gateway() != nil, !waiting.isEmpty { settle() }
    }
  }

  private func call(
    _ method: String, _ params: RecordText, then: @escaping (GatewayReply) -> Void
  ) {
    if let gateway = gateway() { gateway.call(method, params, then: then) } else { then(.lost) }
  }

  /// Takes the reply to an answer: it may be of another approval, or say something else than
  /// what was decided.
  private func took(_ answer: Answer, _ reply: JSONValue?) {
    let id = answer.decision.id
    let approval = reply?["approval"]?.isObject == true ? reply?["approval"] : reply
    let named = [reply?["id"]?.text, approval?["id"]?.text].compactMap { $0 }
    if let other = named.first(where: { $0 != id }) {
      return finish(answer, .unknown, "the reply is about another approval: \(other)")
    }
    if reply?["ok"]?.bool == false || approval?["ok"]?.bool == false {
      let reason = reply?["reason"]?.string ?? "the gateway says that it is not done"
      return finish(answer, .refused, reason)
    }
    if reply?["applied"]?.bool == false { return told(answer, approval) }
    if let decision = approval?["decision"]?.string, decision != answer.word {
      return told(answer, approval)
    }
    let status = approval?["status"]?.string ?? ""
    let others = answer.word == "deny" ? ["allowed", "approved"] : ["denied", "rejected"]
    if status == "pending" { return look(answer) }
    if (others + ["expired", "cancelled"]).contains(status) {
      return finish(answer, decided: status)
    }
    book.decide(id, answer.word)
    finish(answer, .accepted, nil)
  }

  private func refused(_ answer: Answer, _ error: GatewayError) {
    let isGone =
      error.code == "APPROVAL_NOT_FOUND" || error.detail == "APPROVAL_NOT_FOUND"
      || error.message.lowercased().holds("unknown or expired")
    guard isGone else { return finish(answer, .refused, error.line) }
    // Somebody else was faster, or it was too late. The event that says which may be on
    // its way.
    var answer = answer
    answer.goneUntil = Clock.monotonic + Self.patience
    waiting.append(answer)
  }

  /// Asks what became of an answer whose reply was lost.
  private func look(_ answer: Answer) {
    let id = answer.decision.id
    let kind = book.kind(of: id).rawValue
    let methods = gateway()?.hello.methods ?? []
    let method = ["approval.get", "\(kind).approval.get"].first { methods.contains($0) }
    guard let method, !answer.hasLooked else {
      return finish(answer, .unknown, "no reply came, and it does not wait any more")
    }
    var answer = answer
    answer.hasLooked = true
    let params = RecordText().string("id", id)
    call(method, method == "approval.get" ? params.string("kind", kind) : params) {
      [self] reply in
      switch reply {
      case .answer:
        let payload = reply.object
        told(answer, payload?[either: "approval"] ?? payload)
      case .refused, .late: finish(answer, .unknown, "no reply came, and nothing is known of it")
      case .lost:
        answer.hasLooked = false
        waiting.append(answer)
      }
    }
  }

  /// Takes what the gateway says of an approval that was decided before.
  private func told(_ answer: Answer, _ approval: JSONValue?) {
    if let decision = approval?["decision"]?.string {
      book.decide(answer.decision.id, decision)
      return finish(answer, decided: decision)
    }
    if let status = approval?["status"]?.string, status != "pending" {
      return finish(answer, decided: status)
    }
    guard answer.hasLooked else { return finish(answer, .late, "it was over") }
    if case .waits = book.fate(of: answer.decision.id), answer.tries < Self.mostTries {
      return send(answer)
    }
    finish(answer, .unknown, "no reply came in time")
  }

  private func finish(_ answer: Answer, decided decision: String) {
    switch decision {
    case answer.word: finish(answer, .already, nil)
    // What a gateway says that keeps no decision, only how it ended.
    case "denied" where answer.word == "deny": finish(answer, .already, nil)
    case "allowed" where answer.word == "allow-once": finish(answer, .already, nil)
    case "expired", "cancelled": finish(answer, .late, "it is \(decision)")
    default: finish(answer, .late, "it was answered: \(decision)")
    }
  }

  private func finish(_ answer: Answer, _ result: ApprovalAnswer.Result, _ reason: String?) {
    var record = ApprovalAnswer(
      origin, id: answer.decision.id, decision: answer.word, result: result, time: .now())
    record.reason = reason
    if result == .accepted, answer.decision.reason?.isEmpty == false {
      record.reason = "a gateway takes no reason: yours was not sent"
    }
    answer.then(record)
  }

  /// The gateway's word for a decision.
  static func word(_ decision: String) -> String {
    switch decision {
    case "approve", "approved", "yes": "allow-once"
    case "reject", "rejected", "denied", "no": "deny"
    default: decision
    }
  }
}
