import Core

/// The one writer: stores what requests bring, many at once in one transaction,
/// and hands it on to the streams in the order of the ids.
///
/// A caller gets its answer when its actions are on the disk. While one
/// transaction is written, the next one collects.
actor ActionLog {
  private let store: ActionStore
  private let stats: StatsKeeper
  private let streams: Streams
  private let feed: BusFeed?
  private var waiting:
    [(actions: [LoggedAction], answer: CheckedContinuation<[Int64], any Error>)] = []
  private var removals: [(ids: [Int64], answer: CheckedContinuation<Void, any Error>)] = []
  private var isWriting = false

  init(store: ActionStore, stats: StatsKeeper, streams: Streams, feed: BusFeed?) {
    (self.store, self.stats, self.streams, self.feed) = (store, stats, streams, feed)
  }

  func append(_ actions: [LoggedAction]) async throws -> [Int64] {
    if actions.isEmpty { return [] }
    return try await withCheckedThrowingContinuation { continuation in
      waiting.append((actions, continuation))
      work()
    }
  }

  /// Deletes actions, of kinds that the stats do not count by their kind.
  func remove(_ ids: [Int64]) async throws {
    if ids.isEmpty { return }
    try await withCheckedThrowingContinuation { continuation in
      removals.append((ids, continuation))
      work()
    }
  }

  private func work() {
    if isWriting { return }
    isWriting = true
    Task { await write() }
  }

  private func write() async {
    while !waiting.isEmpty || !removals.isEmpty {
      await removeWaiting()
      let entries = waiting
      waiting = []
      if entries.isEmpty { continue }
      let actions = entries.flatMap(\.actions)
      do {
        let ids = try await store.insert(actions)
        let stored = zip(ids, actions).map { StoredAction(id: $0, action: $1) }
        stats.add(actions)
        streams.publish(stored)
        feed?.wake()
        var rest = ids[...]
        for entry in entries {
          entry.answer.resume(returning: Array(rest.prefix(entry.actions.count)))
          rest = rest.dropFirst(entry.actions.count)
        }
      } catch {
        for entry in entries { entry.answer.resume(throwing: error) }
      }
    }
    isWriting = false
  }

  /// Nothing is counted beside it, so that the stats are of what is left.
  private func removeWaiting() async {
    let removals = removals
    self.removals = []
    for removal in removals {
      do {
        stats.subtract(try await store.write { try StatsBook.delete(removal.ids, $0) })
        removal.answer.resume()
      } catch {
        removal.answer.resume(throwing: error)
      }
    }
  }
}
