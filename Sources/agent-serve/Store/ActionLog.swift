import Core

/// The one writer: stores what requests bring, many at once in one transaction,
/// and hands it on to the streams in the order of the ids.
///
/// A caller gets its answer when its actions are on the disk. While one
/// transaction is written, the next one collects.
actor ActionLog {
  private struct Entry {
    let actions: [LoggedAction]
    let answer: CheckedContinuation<[Int64], any Error>
  }

  private let store: ActionStore
  private let stats: StatsKeeper
  private let streams: Streams
  private var waiting: [Entry] = []
  private var isWriting = false

  /// - Parameters:
  ///   - store: written by nobody else.
  ///   - stats: counts the actions.
  ///   - streams: deliver them.
  init(store: ActionStore, stats: StatsKeeper, streams: Streams) {
    self.store = store
    self.stats = stats
    self.streams = streams
  }

  /// Stores actions.
  ///
  /// - Returns: their ids, ascending, when they are durable.
  /// - Throws: what SQLite says; then none of them is stored.
  func append(_ actions: [LoggedAction]) async throws -> [Int64] {
    if actions.isEmpty { return [] }
    return try await withCheckedThrowingContinuation { continuation in
      waiting.append(Entry(actions: actions, answer: continuation))
      if !isWriting {
        isWriting = true
        Task { await write() }
      }
    }
  }

  private func write() async {
    while !waiting.isEmpty {
      let entries = waiting
      waiting = []
      let actions = entries.flatMap(\.actions)
      do {
        let ids = try await store.insert(actions)
        let stored = zip(ids, actions).map { StoredAction(id: $0, action: $1) }
        stats.add(actions)
        streams.publish(stored)
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
}
