import Core
import Records

/// What an agent keeps on a personal data server (Agent/PDS/CONTRACT.md 7). No network, no clock.
struct PDSConversations {
  static let (threads, messages) = ("dev.joelclaw.agent.thread", "dev.joelclaw.agent.message")

  private let origin: RecordOrigin

  init(_ origin: RecordOrigin) { self.origin = origin }

  func thread(_ row: [UInt8]) -> ThreadRecord? {
    guard let (uri, value) = Self.parts(row) else { return nil }
    let last = Self.time(value["lastMessageAt"])
    var record = ThreadRecord(
      origin, id: uri.description,
      time: Self.time(value["updatedAt"]) ?? Self.time(value["createdAt"]))
    record.title = value["title"]?.string
    record.state = value["status"]?.string.flatMap { ThreadRecord.State(rawValue: $0) }
    record.participants = value["participants"]?.elements.compactMap(\.string)
    record.last = last
    return record
  }

  struct Said {
    let message: MessageRecord
    let thread: String
    fileprivate let place: (seq: Double, key: String)
  }

  func message(_ row: [UInt8]) -> Said? {
    guard let (uri, value) = Self.parts(row), let key = uri.key,
      let thread = value["threadId"]?.string, let threads = NSID(Self.threads),
      let threadKey = RecordKey(thread)
    else { return nil }
    let word = value["role"]?.string
    let role = word.flatMap { MessageRecord.Role(rawValue: $0) }
    var message = MessageRecord(
      origin, id: uri.description,
      thread: ATURI(uri.repository, threads, threadKey).description, role: role ?? .system,
      text: value["text"]?.string ?? "", state: .final, time: Self.time(value["createdAt"]))
    if role == nil { message.author = word }
    // What has no number of its own comes behind those that have one, in the order of its key.
    let seq = value["seq"]?.number ?? .infinity
    return Said(message: message, thread: thread, place: (seq, key.description))
  }

  /// Oldest first, `count` at most; a nil `thread` stands for that of the newest message.
  static func history(_ said: [Said], of thread: String?, count: Int) -> [MessageRecord] {
    guard let thread = thread ?? said.first?.thread else { return [] }
    return said.filter { $0.thread == thread }.sorted { $0.place < $1.place }.suffix(count)
      .map(\.message)
  }

  static func key(of thread: String) -> String? {
    guard thread.hasPrefix("at:") else { return RecordKey(thread)?.description }
    guard let uri = ATURI(thread), uri.collection?.description == threads else { return nil }
    return uri.key?.description
  }

  private static func time(_ value: JSONValue?) -> Timestamp? {
    value?.string.flatMap { Timestamp(rfc3339: $0) }
  }

  private static func parts(_ row: [UInt8]) -> (ATURI, JSONValue)? {
    guard let row = JSONValue(row),
      let uri = row["uri"]?.string.flatMap({ ATURI($0) }), uri.key != nil,
      let value = row["value"], value.isObject
    else { return nil }
    return (uri, value)
  }
}
