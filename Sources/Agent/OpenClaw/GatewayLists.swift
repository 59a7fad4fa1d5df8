import Core
import Records
import Turns

enum GatewayLists {
  static func request(
    _ list: ChatList, _ hello: GatewayHello, isWhole: Bool, hasTitles: Bool
  ) -> (method: String, params: RecordText, key: String) {
    switch list {
    case .agents: return ("agents.list", RecordText(), "")
    case .threads:
      return (
        "sessions.list", sessions.bool("includeDerivedTitles", hasTitles ? true : nil), ""
      )
    case .history(let thread, let agent, let count):
      let key = hello.sessionKey(thread: thread, agent: agent)
      return ("chat.history", history(key, count: count, isWhole: isWhole), key)
    case .ending(let thread, let agent):
      let key = hello.sessionKey(thread: thread, agent: agent)
      return ("chat.abort", RecordText().string("sessionKey", key), key)
    }
  }

  /// What asks for the conversations: unasked, a gateway gives a hundred.
  static let sessions = RecordText().number("limit", 1000)

  /// What is wrong with a list that has a beginning alone; nil for a whole one.
  static func shortfall(_ payload: JSONValue?) -> String? {
    guard payload?["hasMore"]?.bool == true else { return nil }
    return "there are more than these: the gateway gives no more at a time"
  }

  /// - Parameter isWhole: whether its texts are wanted whole.
  static func history(_ key: String, count: Int, isWhole: Bool) -> RecordText {
    RecordText().string("sessionKey", key).number("limit", min(max(count, 1), 1000))
      .number("maxChars", isWhole ? GatewayHistory.longestText : nil)
  }

  /// The longest session key that a gateway takes, UTF-16 units.
  private static let longestKey = 512

  static func fault(key: String) -> String? {
    guard key.utf16.count > longestKey else { return nil }
    return "the thread's name is too long: its session key would have \(key.utf16.count)"
      + " characters, \(longestKey) at most"
  }

  static func fault(thread: String?, agent: String?) -> String? {
    guard let agent, let thread, let owner = GatewayKey(thread)?.agent,
      owner != GatewayKey.agent(agent)
    else {
      return nil
    }
    return "the thread \(thread) is of the agent \(owner), not of \(agent)"
  }

  static func rows(
    _ list: ChatList, _ payload: ScanValue, _ reply: GatewayReply, key: String,
    _ origin: RecordOrigin
  ) -> [[UInt8]] {
    switch list {
    case .agents: return elements("agents", in: payload)
    case .threads: return threads(reply.object, origin).map(\.bytes)
    case .history: return []
    case .ending:
      let runs = reply.object?["runIds"]?.elements.compactMap(\.string) ?? []
      return runs.map {
        TurnRecord(origin, id: $0, thread: key, state: .aborted, time: .now()).bytes
      }
    }
  }

  static func elements(_ name: String, in payload: ScanValue) -> [[UInt8]] {
    var list = payload
    if payload.isObject {
      list = (try? ScanMembers.value(of: name, in: payload.bytes)) ?? .absent
    }
    // White space of an object that was written over several lines.
    return (Answer.elements(Array(list.bytes)) ?? []).map { row in
      row.map { $0 == 10 || $0 == 13 ? 32 : $0 }
    }
  }

  static func threads(_ payload: JSONValue?, _ origin: RecordOrigin) -> [ThreadRecord] {
    let rows = payload?["sessions"]?.elements ?? payload?.elements ?? []
    return rows.compactMap { row in
      guard let key = row[either: "key", "sessionKey"]?.string else { return nil }
      let time = row[either: "updatedAt", "lastActivityAt"]?.instant
      var thread = ThreadRecord(origin, id: key, time: time)
      thread.title = row[either: "displayName", "label", "derivedTitle", "title", "subject"]?.string
      thread.agent = row["agentId"]?.string ?? GatewayKey(key)?.agent
      thread.messages = row["messageCount"]?.integer.map(Int.init(clamping:))
      thread.last = time
      if let archived = row["archived"]?.bool { thread.state = archived ? .archived : .active }
      return thread
    }
  }
}
