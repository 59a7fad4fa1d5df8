import Core
import Records
import Turns

struct NoticeSources {
  private var clanky: ClankyNotices
  private var decoders = TurnDecoders()
  private var events: [TurnEvent] = []
  /// The turns that wait, which are told of once each time that they do.
  private var waiting: Set<String> = []

  private static let mostWaiting = 4096

  init(_ options: RouteOptions) { clanky = ClankyNotices(others: options.actions) }

  mutating func read(_ line: TurnLine) throws(RecordFields.Fault) -> [Notice] {
    var found: [Notice] = []
    let isOfActions = clanky.read(line) { record, isPast in
      var notice = Notice(record)
      notice.isPast = isPast
      found.append(notice)
    }
    if isOfActions { return found }
    if line.shape == .own, let own = try own(line) { return own }
    events.removeAll(keepingCapacity: true)
    return decoders.decode(line, into: &events) ? events.compactMap { notice($0) } : []
  }

  private mutating func own(_ line: TurnLine) throws(RecordFields.Fault) -> [Notice]? {
    switch line.type {
    case "approval", "turn":
      do throws(RecordFields.Fault) {
        switch try ConversationRecord(reading: line.bytes) {
        case .approval(let approval): return [Self.notice(approval)].compactMap { $0 }
        case .turn(let turn): return [notice(turn)].compactMap { $0 }
        default: return nil
        }
      } catch {
        if error.isNews { return [] }
        throw error
      }
    case "gap", "end", "health", "session", "session_change", "task":
      return line.value.map { [Self.state($0, line.type)].compactMap { $0 } }
    default: return nil
    }
  }

  private mutating func notice(_ event: TurnEvent) -> Notice? {
    switch event.change {
    case .setApproval(let approval), .proposed(let approval): return Self.notice(approval)
    case .setTurn(let turn, _): return notice(turn)
    case .failed(let code, let reason):
      var turn = TurnRecord(
        event.origin, id: event.turn, thread: event.thread, state: .failed, time: event.time)
      turn.reason = [code, reason].filter { !$0.isEmpty }.joined(separator: ": ")
      return notice(turn)
    default: return nil
    }
  }

  /// An agent waits for a person: how it is told does not decide anything.
  private static func notice(_ approval: ApprovalRecord) -> Notice? {
    guard approval.state == .pending else { return nil }
    let asked = Asked(approval.request)
    let isQuestion = approval.tool == AskedQuestion.tool
    let record = NotificationRecord(
      approval.origin, id: "approval/\(approval.id)", urgency: .urgent, category: "approval",
      title: isQuestion ? "\(asked.agent ?? "agent") asks" : "\(approval.tool) waits",
      time: approval.time)
    var notice = notice(
      record, asked.text ?? approval.summary, about: approval.id, in: approval.thread)
    notice.place = asked.place ?? (isQuestion ? approval.thread : nil)
    return notice
  }

  private mutating func notice(_ turn: TurnRecord) -> Notice? {
    let id = "turn/\(turn.thread)/\(turn.id)"
    let key = [turn.origin.backend.rawValue, turn.origin.profile ?? "", id].joined(separator: "\0")
    // Where no reason is given, an approval says what it waits for.
    guard turn.state == .paused, turn.reason != nil else {
      waiting.remove(key)
      guard turn.state == .failed else { return nil }
      let record = NotificationRecord(
        turn.origin, id: id, urgency: .attention, category: "turn", title: "turn failed",
        time: turn.time)
      return Self.notice(record, turn.reason, about: turn.id, in: turn.thread)
    }
    if waiting.count >= Self.mostWaiting { waiting = [] }
    guard waiting.insert(key).inserted else { return nil }
    // It may wait more than once.
    let record = NotificationRecord(
      turn.origin, id: "\(id)/\(turn.time?.rfc3339 ?? "")", urgency: .urgent, category: "approval",
      title: "turn waits for a person", time: turn.time)
    return Self.notice(record, turn.reason, about: turn.id, type: "turn", in: turn.thread)
  }

  private static func notice(
    _ record: NotificationRecord, _ text: String?, about id: String, type: String? = nil,
    in thread: String?
  ) -> Notice {
    var record = record
    record.text = text
    record.about = .init(type: type ?? record.category, id: id)
    record.thread = thread
    return Notice(record)
  }

  private static func state(_ record: JSONValue, _ type: String) -> Notice? {
    var notice = Notice()
    notice.backend = record["backend"]?.string
    notice.profile = record["profile"]?.string
    notice.time = record["time"]?.string.flatMap { Timestamp(rfc3339: $0) }
    notice.category = "system"
    notice.urgency = NotificationRecord.Urgency.attention.rawValue
    notice.text = record["reason"]?.string
    switch type {
    case "gap": notice.title = "events were lost"
    case "end": notice.title = "the stream has ended"
    case "health":
      guard record["ok"]?.bool == false else { return nil }
      notice.urgency = NotificationRecord.Urgency.urgent.rawValue
      notice.title = "the agent is not well"
    case "task":
      guard record["state"]?.string == "failed", let id = record["id"]?.string else { return nil }
      notice.id = "task/\(id)/\(record["last"]?.string ?? record["time"]?.string ?? "")"
      notice.category = "task"
      notice.title = "failed: \(record["title"]?.string ?? id)"
      notice.text = record["notes"]?.string
      notice.about = .init(type: type, id: id)
    default:
      let hasFailed =
        record["state"]?.string == "idle" && record["reason"]?.string?.hasPrefix("failed") == true
      guard record["state"]?.string == "waiting" || hasFailed, let name = record["name"]?.string
      else { return nil }
      // Since when tells one time that it waits from the next.
      if let since = record["since"]?.string { notice.id = "session/\(name)/\(since)" }
      notice.category = "session"
      notice.title = "\(name) \(hasFailed ? "failed" : "waits")"
      let folder = record["directory"]?.string?.split(separator: "/").last.map(String.init)
      if folder != name { notice.place = folder }
      notice.about = .init(type: "session", id: name)
    }
    return notice
  }
}
