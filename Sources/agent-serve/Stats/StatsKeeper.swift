import Core
import Foundation

/// The running stats over all actions, shared by requests and streams.
final class StatsKeeper: @unchecked Sendable {
  private let lock = NSLock()
  private let documents: Documents
  private var book: StatsBook
  private var version = 0
  private var cached: (version: Int, documents: Int, at: Timestamp, json: String)?

  /// - Parameters:
  ///   - book: what the store held at the start.
  ///   - documents: the agent's voice state, guilds and tunnel.
  init(_ book: StatsBook, documents: Documents) {
    self.book = book
    self.documents = documents
  }

  /// Counts stored actions.
  func add(_ actions: [LoggedAction]) {
    lock.withLock {
      for action in actions { book.add(action) }
      version += 1
    }
  }

  /// Takes what the store holds now, after actions were deleted.
  func replace(_ book: StatsBook) {
    lock.withLock {
      self.book = book
      version += 1
    }
  }

  /// The payload; made anew after an action or a document, or when its second is over, since
  /// the windows move.
  func json(now: Timestamp) -> String {
    lock.withLock {
      let told = documents.version
      if let cached, cached.version == version, cached.documents == told,
        cached.at.seconds == now.seconds
      {
        return cached.json
      }
      book.prune(since: now.before(hours: 24).rfc3339)
      let json = StatsEncoder.json(book, runtime: runtime, now: now)
      cached = (version, told, now, json)
      return json
    }
  }

  /// The payload whose `stats` are of one guild.
  func json(guild: StatsBook, now: Timestamp) -> String {
    StatsEncoder.json(guild, runtime: lock.withLock { runtime }, now: now)
  }

  private var runtime: StatsEncoder.Runtime {
    let guilds = documents.has(.guilds) ? Guilds(documents.bytes(.guilds)).all.count : nil
    return StatsEncoder.Runtime(
      guildCount: guilds ?? book.guilds.count, lastBotMessageAt: book.lastBotMessageAt,
      lastActionAt: book.lastActionAt, voice: documents.line(.voiceState),
      publicHTTPS: documents.line(.publicHTTPS))
  }
}
