import Core
import Records

struct ReplyTurn {
  /// The turn, without what its parts add.
  var record: TurnRecord
  var triggers: Set<String>
  /// What the `source` of its parts says; empty where the server does not tell.
  var source: String
  /// What it is: an answer, or something said unasked. Parts say so in their source.
  var family = Family.reply
  var user: String?
  var person: String?
  var start: Timestamp?
  var answer: MessageRecord?
  var total = TurnTotal()
  var hasParts = false

  enum Family: String {
    case reply, initiative, automation
  }

  /// How much earlier than its own account says a turn may have begun.
  private static let slack = Duration.seconds(2)
  /// How long a turn takes that does not say it.
  private static let usual = Duration.seconds(60)

  init(_ record: TurnRecord, triggers: Set<String>, source: String) {
    (self.record, self.triggers, self.source) = (record, triggers, source)
  }

  init(_ action: ClankyAction) {
    let metadata = action.metadata
    let isSkipped = action.kind == "reply_skipped"
    let trigger = metadata.text(.triggerMessageId)
    let named = metadata[.triggerMessageIds].elements.map(\.string) + [trigger]
    var record = TurnRecord(
      action.origin, id: trigger ?? action.message ?? action.id, thread: action.place,
      state: .completed, time: action.time)
    let llm = ScanFields<ClankyField>(metadata[.llm].bytes)
    record.usage = llm.usage(.usage)
    record.cost = ScanNumber(llm[.costUsd]).flatMap { $0.isZero ? nil : $0.double }
    record.reason = isSkipped ? action.content : nil
    record.ended = action.time
    self.init(record, triggers: Set(named.compactMap(\.self)), source: metadata.text(.source) ?? "")
    user = action.user
    let took = ScanFields<ClankyField>(metadata[.performance].bytes).count(.totalMs)
    start = action.time?.adding(took.map { .milliseconds(-$0) } ?? .zero - Self.usual)
    self.record.started = took == nil ? nil : start
    family = Family(rawValue: String(action.kind.prefix { $0 != "_" })) ?? .reply
    if isSkipped { return }
    let answer = MessageRecord(
      action.origin, id: action.message ?? action.id, thread: action.place, turn: record.id,
      role: .assistant,
      text: action.content ?? "", state: .final, time: action.time)
    self.record.message = answer.id
    self.answer = answer
  }

  var isTurn: Bool { !triggers.isEmpty || hasParts || record.usage != nil || answer == nil }

  func isNamed(by part: ChainPart) -> Bool { part.message.map(triggers.contains) ?? false }

  /// Whether a part that names no message fits by place, time, purpose and person.
  func fits(_ part: ChainPart) -> Bool {
    guard let time = part.time, let start, part.message == nil else { return false }
    if let end = record.ended, time > end { return false }
    return time >= start.adding(.zero - Self.slack) && part.place == record.thread
      && Self.family(of: part.source, or: family, isSame: part.source == source) == family
      && isUser(part.user)
  }

  /// Whether a part was done for the agent itself, or for the person who is answered.
  private func isUser(_ other: String?) -> Bool {
    other == nil || other == user || person == nil || other == person
  }

  /// What a source speaks of; nil for what is never a part of something said in a channel.
  private static func family(of source: String, or usual: Family, isSame: Bool) -> Family? {
    if source.isEmpty || isSame { return usual }
    for family in [Family.initiative, .automation] where source.hasPrefix(family.rawValue) {
      return family
    }
    for other in ["voice", "memory", "reflection", "discovery"] where source.hasPrefix(other) {
      return nil
    }
    return .reply
  }

  static func mayBegin(_ part: ChainPart) -> Bool {
    family(of: part.source, or: .reply, isSame: false) == .reply
  }

  mutating func add(_ part: ChainPart) {
    hasParts = true
    total.add(part.usage, part.cost)
    if person == nil, let other = part.user, other != user { person = other }
    if let time = part.started {
      record.started = record.started.map { min($0, time) } ?? time
    }
  }

  /// The turn as it is now. What its parts cost is what it cost; the answer's own account
  /// counts where no part is known.
  var now: TurnRecord {
    var now = record
    now.usage = total.usage ?? now.usage
    now.cost = total.cost ?? now.cost
    return now
  }
}
