import Core
import Records
import Turns

/// The answer to `chat.history` (Agent/OpenClaw/CONTRACT.md 6).
struct GatewayHistory {
  let key: String
  /// Oldest first.
  private(set) var rows: [OpenClawRow]
  let running: (id: String, text: String)?
  /// The runs that are under way; nil where the gateway does not say.
  let active: [String]?
  /// Whether any is, or waits to be.
  let isBusy: Bool
  /// The rows that are no part of an answer.
  private let asides: Set<String>
  /// The longest text that a gateway gives of a row, where it is asked for more than it gives
  /// unasked.
  static let longestText = 500_000

  init(_ payload: JSONValue?, key: String) {
    self.key = payload?["sessionKey"]?.string ?? key
    let all = (payload?["messages"]?.elements ?? []).compactMap(OpenClawRow.init)
    (rows, asides) = (all.filter(\.isHeard), OpenClawRow.asides(all))
    let run = payload?["inFlightRun"]
    running = run?["runId"]?.string.map { ($0, run?["text"]?.string ?? "") }
    let info = payload?["sessionInfo"]
    let isActive = info?["hasActiveRun"]?.bool
    active = info?["activeRunIds"]?.elements.compactMap(\.string) ?? (isActive == false ? [] : nil)
    isBusy =
      isActive == true || running != nil || active?.isEmpty == false
      || payload?["pendingInputs"]?["total"]?.integer ?? 0 > 0
  }

  /// The rows whose texts are not whole, of the last so many; an id is empty where there is none.
  func cut(last count: Int) -> [String] {
    rows.suffix(count).filter(\.isCut).map { $0.id ?? "" }
  }

  /// Takes the whole of a row.
  mutating func receive(_ whole: JSONValue, of id: String) {
    guard let row = OpenClawRow(whole), !row.isCut else { return }
    for index in rows.indices where rows[index].id == id && rows[index].isCut {
      (rows[index].text, rows[index].isCut) = (row.text, false)
    }
  }

  func records(_ origin: RecordOrigin) -> [MessageRecord] {
    rows.enumerated().map { index, row in
      var record = MessageRecord(
        origin, id: row.id ?? "\(key)/\(row.time?.rfc3339 ?? "")/\(index)", thread: key,
        role: row.role, text: row.text, state: .final, time: row.time)
      record.turn = row.run
      if row.pictures > 0 {
        record.attachments = Array(
          repeating: MessageRecord.Attachment(mediaType: "image"), count: row.pictures)
      }
      return record
    }
  }

  enum Trace: Equatable {
    case absent
    case said
    /// What the agent said to it, and the rows of that whose texts are not whole, as of `cut`.
    case answered(String, cut: [String])
  }

  /// Looks for what was said under a key, or where rows have none, in these words since then,
  /// milliseconds since 1970, and for its answer: what the agent says behind it, which is whole
  /// once none of the runs that say it is under way.
  func trace(of turn: GatewayTurn) -> Trace { trace(of: turn.question, since: turn.since) }

  func trace(of question: ChatQuestion, since: Int64) -> Trace {
    let wanted = question.text.trimmed
    let index =
      rows.lastIndex { $0.role == .user && $0.key == question.key }
      ?? rows.lastIndex { row in
        row.role == .user && (row.key == nil ? row.text.trimmed == wanted : row.collects(wanted))
          && row.time.map { $0.milliseconds >= since } ?? true
      }
    guard let index else { return .absent }
    // What went into one run together is answered together.
    let target = rows[index].steered
    let said = rows[(index + 1)...].filter { !$0.isOwn }
      .drop { $0.role == .user && target != nil && $0.steered == target }
      .prefix { $0.role != .user }
      .filter { row in row.role == .assistant && !(row.id.map(asides.contains) ?? false) }
    let isGoingOn = said.contains { row in
      guard let run = row.run, let active else { return isBusy }
      return active.contains(run) || running?.id == run
    }
    if said.isEmpty || isGoingOn { return .said }
    return .answered(
      said.map(\.text).joined(separator: "\n\n"), cut: said.filter(\.isCut).map { $0.id ?? "" })
  }
}

extension OpenClawRow {
  /// Whether it holds these words among others that were said while the agent was at work: their
  /// own keys are gone (CONTRACT.md 6).
  fileprivate func collects(_ words: String) -> Bool {
    guard key?.hasPrefix("followup-collect:") == true else { return false }
    let whole = text.trimmed
    return whole.hasSuffix("\n\(words)") || whole.holds("\n\(words)\n\n---\nQueued #")
  }
}

extension Timestamp {
  /// Since 1970.
  var milliseconds: Int64 { seconds * 1000 + Int64(nanoseconds / 1_000_000) }
}
