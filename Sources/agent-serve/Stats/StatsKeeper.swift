import Core
import Foundation

/// The running stats over all actions, shared by requests and streams.
final class StatsKeeper: @unchecked Sendable {
  private let lock = NSLock()
  private var book: StatsBook
  private var version = 0
  private var cached: (version: Int, at: Timestamp, json: String)?

  /// - Parameter book: what the store held at the start.
  init(_ book: StatsBook) { self.book = book }

  /// Counts stored actions.
  func add(_ actions: [LoggedAction]) {
    lock.withLock {
      for action in actions { book.add(action) }
      version += 1
    }
  }

  /// The payload; made anew after an action, or when its second is over, since
  /// the windows move.
  func json(now: Timestamp) -> String {
    lock.withLock {
      if let cached, cached.version == version, cached.at.seconds == now.seconds {
        return cached.json
      }
      book.prune(since: now.before(hours: 24).rfc3339)
      let json = StatsEncoder.json(book, runtime: runtime, now: now)
      cached = (version, now, json)
      return json
    }
  }

  /// The payload whose `stats` are of one guild.
  func json(guild: StatsBook, now: Timestamp) -> String {
    StatsEncoder.json(guild, runtime: lock.withLock { runtime }, now: now)
  }

  private var runtime: StatsEncoder.Runtime {
    StatsEncoder.Runtime(
      guildCount: book.guilds.count, lastBotMessageAt: book.lastBotMessageAt,
      lastActionAt: book.lastActionAt)
  }
}
