import Core
import Records
import Turns

/// The answer to `chat.history` (Agent/OpenClaw/CONTRACT.md 6).
struct GatewayHistory {
  struct Row {
    let role: MessageRecord.Role
    let text: String
    let pictures: Int
    let time: Timestamp?
    let id: String?

    init?(_ row: JSONValue) {
      guard let role = row["role"]?.string else { return nil }
      self.role = MessageRecord.Role(rawValue: role) ?? .tool
      let blocks = row["content"]?.elements ?? []
      pictures = blocks.filter { $0["type"]?.string == "image" }.count
      text = OpenClawMessage.text(of: row) ?? ""
      guard !text.isEmpty || pictures > 0 else { return nil }
      time = row["timestamp"]?.instant
      id = row[either: "id", "messageId"]?.text
    }
  }

  let key: String
  /// Oldest first.
  let rows: [Row]
  let running: (id: String, text: String)?
  /// The runs that are under way; nil where the gateway does not say.
  let active: [String]?

  init(_ payload: JSONValue?, key: String) {
    self.key = payload?["sessionKey"]?.string ?? key
    rows = (payload?["messages"]?.elements ?? []).compactMap(Row.init)
    let run = payload?["inFlightRun"]
    running = run?["runId"]?.string.map { ($0, run?["text"]?.string ?? "") }
    let info = payload?["sessionInfo"]
    if let ids = info?["activeRunIds"]?.elements.compactMap(\.string) {
      active = ids
    } else {
      active = info?["hasActiveRun"]?.bool == false ? [] : nil
    }
  }

  func records(_ origin: RecordOrigin) -> [MessageRecord] {
    rows.enumerated().map { index, row in
      var record = MessageRecord(
        origin, id: row.id ?? "\(key)/\(row.time?.rfc3339 ?? "")/\(index)", thread: key,
        role: row.role, text: row.text, state: .final, time: row.time)
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
    case answered(String)
  }

  /// Looks for what was said and its answer in rows since then, milliseconds since 1970.
  func trace(of text: String, since: Int64) -> Trace {
    let wanted = text.trimmed
    let index = rows.lastIndex { row in
      row.role == .user && row.text.trimmed == wanted
        && row.time.map { $0 >= Timestamp(milliseconds: since) } ?? true
    }
    guard let index else { return .absent }
    let behind = rows[(index + 1)...].prefix { $0.role != .user }
    guard let answer = behind.last(where: { $0.role == .assistant }) else { return .said }
    return .answered(answer.text)
  }
}

extension Timestamp {
  /// Since 1970.
  var milliseconds: Int64 { seconds * 1000 + Int64(nanoseconds / 1_000_000) }

  init(milliseconds: Int64) {
    let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
    self.init(
      seconds: seconds, nanoseconds: Int32((milliseconds - seconds * 1000) * 1_000_000))
  }
}
