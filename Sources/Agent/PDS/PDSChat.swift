import Core
import Records
import Web

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
