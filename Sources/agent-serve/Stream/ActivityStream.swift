import Core

/// The body of one activity stream: first the snapshot or the missed actions,
/// straight from the store and as fast as the client reads, then the live ones.
///
/// The step from the store to the live events is exact: a subscriber becomes
/// live only when the store has nothing that the hub gave to others.
final class ActivityStream {
  private enum Phase {
    case opening
    case catchingUp
    case live
  }

  private let store: ActionStore
  private let stats: StatsKeeper
  private let hub: Hub
  private let subscriber: Subscriber
  private let resumeAfter: Int64?
  private var phase = Phase.opening
  private var cursor: Int64 = 0

  /// - Parameters:
  ///   - backend: the store, the stats and the hub.
  ///   - subscriber: added to the hub already.
  ///   - resumeAfter: the last event id of the client; nil for a snapshot.
  init(_ backend: Backend, subscriber: Subscriber, resumeAfter: Int64?) {
    store = backend.store
    stats = backend.stats
    hub = backend.hub
    self.subscriber = subscriber
    self.resumeAfter = resumeAfter
  }

  /// The next bytes; one caller at a time. Nil at the end.
  func next() async throws -> [UInt8]? {
    if phase == .opening {
      phase = .catchingUp
      if let resumeAfter {
        cursor = resumeAfter
      } else {
        let (actions, newest) = try await store.snapshot(limit: 220)
        cursor = newest
        try subscriber.beginSending()
        return Frame.snapshot(actions, newestID: newest, stats: stats.json(now: .now())).bytes
      }
    }
    while phase == .catchingUp {
      let actions = try await store.actions(after: cursor, limit: 500, bytes: 256 * 1024)
      try subscriber.beginSending()
      if let last = actions.last {
        cursor = last.id
        if subscriber.isEnding { return nil }
        return actions.reduce(into: []) { $0 += Frame.action($1).bytes }
      }
      if hub.goLive(subscriber, cursor: cursor) { phase = .live }
    }
    return try await subscriber.next()
  }
}
