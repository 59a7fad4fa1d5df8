import Core

/// The body of one stream of events: first what a client needs at the start,
/// straight from the store and as fast as the client reads, then the live
/// events.
///
/// The step from the store to the live events is exact: a subscriber becomes
/// live only when the store has nothing that the hub gave to others (Agent/Clanky/CONTRACT.md 9.2).
final class StreamBody {
  private enum Phase {
    case opening
    case catchingUp
    case live
  }

  private let feed: ServedFeed
  private let subscriber: Subscriber
  private let resumeAfter: Int64?
  private var phase = Phase.opening
  private var cursor: Int64 = 0

  /// - Parameters:
  ///   - feed: what is streamed.
  ///   - subscriber: added to the feed's hub already.
  ///   - resumeAfter: the last event id of the client; nil for a fresh start.
  init(_ feed: ServedFeed, subscriber: Subscriber, resumeAfter: Int64?) {
    self.feed = feed
    self.subscriber = subscriber
    self.resumeAfter = resumeAfter
  }

  /// The next bytes; one caller at a time. Nil at the end.
  func next() async throws -> [UInt8]? {
    if phase == .opening {
      phase = .catchingUp
      let opening = try await feed.opening(resumeAfter)
      cursor = opening.cursor
      if let frame = opening.frame {
        try subscriber.beginSending()
        return frame.bytes
      }
    }
    while phase == .catchingUp {
      let actions = try await feed.store.actions(
        after: cursor, limit: 500, bytes: 256 * 1024, kinds: feed.kinds)
      try subscriber.beginSending()
      if let last = actions.last {
        cursor = last.id
        if subscriber.isEnding { return nil }
        return actions.reduce(into: []) { $0 += feed.frame($1).bytes }
      }
      if feed.hub.goLive(subscriber, cursor: cursor) { phase = .live }
    }
    return try await subscriber.next()
  }
}
