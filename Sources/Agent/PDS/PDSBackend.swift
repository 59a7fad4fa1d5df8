import Core
import Records
import Web

/// A personal data server (Agent/PDS/CONTRACT.md).
struct PDSBackend: AgentBackend {
  let name = "a personal data server"
  let has: Set<AgentCapability> = [.follow, .chat, .records]
  let carriesToken = false

  func chat(with agent: AgentAccess, _ wishes: ChatWishes) throws(Failure) -> any ChatLine {
    PDSChat(try PDSAccess(agent), agent.origin(.joelclaw), wishes)
  }

  /// What changes in the repository of the profile's identifier; of a thread, which is a
  /// collection here, that alone.
  func events(of agent: AgentAccess, _ wishes: FollowWishes) throws(Failure) -> FollowedStream {
    let collections = try wishes.thread.map { name throws(Failure) in
      guard let collection = NSID(name) else {
        throw Failure(name, "not the name of a collection")
      }
      return [collection]
    }
    // Others are to be followed, too.
    return try PDSAccess(agent).stream(
      of: nil, collections ?? [], from: wishes.from, state: wishes.state,
      PDSLimits(timeout: 10, maxRetries: 0), Diagnostics(program: agent.client.agent))
  }
}

/// The conversations on a personal data server: they can be read, and nobody answers there.
final class PDSChat: ChatLine {
  let place: String
  var knowsKeys: Bool { false }
  var silence: String? { Self.silence }
  private static let silence = "a personal data server only keeps records"
  private let records: PDSRecords
  private let reader: PDSConversations
  private let patience: Double?

  /// The most that is read for a list, bytes.
  private static let most = 64 << 20

  init(_ access: PDSAccess, _ origin: RecordOrigin, _ wishes: ChatWishes) {
    place = access.server.base.display
    let limits = PDSLimits(timeout: wishes.patience, maxRetries: wishes.policy.maxRetries)
    records = PDSRecords(
      access, repository: nil, limits, Diagnostics(program: access.client.agent))
    reader = PDSConversations(origin)
    patience = wishes.patience
  }

  func ask(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd {
    .refused(Failure(Self.silence, .failure))
  }

  func list(_ list: ChatList, _ waiter: ChatWaiter) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    do {
      return .success(try rows(list, waiter))
    } catch {
      let failure = error as? Failure
      return .failure(failure ?? Failure(place, "\(error)", .failure))
    }
  }

  private func rows(_ list: ChatList, _ waiter: ChatWaiter) throws -> [[UInt8]] {
    switch list {
    case .agents: throw Failure(place, "a personal data server has no agents", .failure)
    case .ending:
      throw Failure(place, Self.silence, .failure)
    case .threads:
      return try read(PDSConversations.threads, "not a conversation", waiter, reader.thread).map(
        \.bytes)
    case .history(let thread, let agent, let count):
      if agent != nil { throw Failure(place, "a personal data server has no agents", .failure) }
      let key = try thread.map { name in
        guard let key = PDSConversations.key(of: name) else {
          throw Failure(place, "not the name of a conversation: \(name)", .failure)
        }
        return key
      }
      var wanted = key
      let said = try read(PDSConversations.messages, "of no conversation", waiter, reader.message) {
        said in
        wanted = wanted ?? said.thread
        return said.thread == wanted
      }
      // The server calls its own by the DID.
      if let name = thread, let other = ATURI(name)?.repository, !records.isOwn(other),
        let first = said.first, ATURI(first.message.id)?.repository != other
      {
        throw Failure(place, "a conversation of another repository: \(name)", .failure)
      }
      return PDSConversations.history(said, of: key, count: count).map(\.bytes)
    }
  }

  /// The newest first; that there are others is told once.
  private func read<Record>(
    _ name: String, _ fault: String, _ waiter: ChatWaiter, _ record: ([UInt8]) -> Record?,
    where isWanted: (Record) -> Bool = { _ in true }
  ) throws -> [Record] {
    guard let collection = NSID(name) else { return [] }
    var found: [Record] = []
    var bad = 0
    try records.list(
      collection, isReversed: false, count: .max, most: Self.most,
      end: patience.map { Clock.monotonic + $0 } ?? .infinity, fault: { _ in bad += 1 },
      row: { row in
        guard let made = record(row) else {
          bad += 1
          return
        }
        if isWanted(made) { found.append(made) }
      })
    if bad > 0 {
      let words = bad == 1 ? "1 record is \(fault)" : "\(bad) records are \(fault)"
      waiter.link(.fault("\(collection): \(words)"))
    }
    return found
  }
}

/// What an agent keeps on a personal data server (Agent/PDS/CONTRACT.md 7). No network, no clock.
struct PDSConversations {
  static let (threads, messages) = ("dev.joelclaw.agent.thread", "dev.joelclaw.agent.message")

  private let origin: RecordOrigin

  init(_ origin: RecordOrigin) { self.origin = origin }

  func thread(_ row: [UInt8]) -> ThreadRecord? {
    guard let (uri, value) = Self.parts(row) else { return nil }
    let last = value["lastMessageAt"]?.time
    var record = ThreadRecord(
      origin, id: uri.description,
      time: value["updatedAt"]?.time ?? value["createdAt"]?.time)
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
      text: value["text"]?.string ?? "", state: .final, time: value["createdAt"]?.time)
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

  private static func parts(_ row: [UInt8]) -> (ATURI, JSONValue)? {
    guard let row = JSONValue(row),
      let uri = row["uri"]?.string.flatMap({ ATURI($0) }), uri.key != nil,
      let value = row["value"], value.isObject
    else { return nil }
    return (uri, value)
  }
}
