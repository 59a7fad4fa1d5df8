import Core
import Records

/// The conversations that an agent keeps on a personal data server, and what was said in them
/// (Agent/PDS/CONTRACT.md 7). No network, no clock.
struct PDSConversations {
  /// Where they are.
  static let (threads, messages) = ("dev.joelclaw.agent.thread", "dev.joelclaw.agent.message")

  private let origin: RecordOrigin

  init(_ origin: RecordOrigin) { self.origin = origin }

  /// A conversation, as far as its record tells.
  ///
  /// - Returns: nil without an address or a record.
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

  /// What was said, with the place that it has in its conversation.
  struct Said {
    let message: MessageRecord
    /// The key of the conversation's record.
    let thread: String
    fileprivate let place: (seq: Double, key: String)
  }

  /// Something that was said, as far as its record tells.
  ///
  /// - Returns: nil without an address, a record or a conversation.
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

  /// The messages of one conversation, oldest first.
  ///
  /// - Parameters:
  ///   - said: those of any, the newest first.
  ///   - thread: the key of the conversation; nil for that of the newest message.
  ///   - count: how many of the last are wanted.
  static func history(_ said: [Said], of thread: String?, count: Int) -> [MessageRecord] {
    guard let thread = thread ?? said.first?.thread else { return [] }
    return said.filter { $0.thread == thread }.sorted { $0.place < $1.place }.suffix(count)
      .map(\.message)
  }

  /// The key of a conversation: as people give it, alone or in an address.
  ///
  /// - Returns: nil for a name that no conversation can have.
  static func key(of thread: String) -> String? {
    guard thread.hasPrefix("at:") else { return RecordKey(thread)?.description }
    guard let uri = ATURI(thread), uri.collection?.description == threads else { return nil }
    return uri.key?.description
  }

  private static func time(_ value: JSONValue?) -> Timestamp? {
    value?.string.flatMap { Timestamp(rfc3339: $0) }
  }

  private static func parts(_ row: [UInt8]) -> (ATURI, JSONValue)? {
    guard let row = try? row.withUnsafeBytes({ try JSONValue.parse($0) }),
      let uri = row["uri"]?.string.flatMap({ ATURI($0) }), uri.key != nil,
      let value = row["value"], value.isObject
    else { return nil }
    return (uri, value)
  }
}
