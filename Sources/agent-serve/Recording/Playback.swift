import Core

extension ServedBackend {
  /// Plays a recording into the log as if its actions happened now, so many times faster than it
  /// was recorded; 0 for as fast as possible.
  ///
  /// The time between two records is that between their `received_at`, or
  /// between the actions' own times where a record has none. Each action gets the
  /// present as its time; the times in a voice state move by as much as the
  /// record's. The rows of a snapshot tell what was before the recording and are
  /// not played, except for those that a later snapshot or backfill has and no
  /// event told.
  func play(_ file: RecordFile, speed: Double) async throws -> Int {
    var pace = ReplayPace(speed: speed)
    var count = 0
    var hasEvents = false
    while let items = try await file.next(count: speed == 0 ? 500 : 1) {
      var now: [LoggedAction] = []
      for item in items {
        switch item.content {
        case .action(var action):
          if item.isListed && !hasEvents { continue }
          hasEvents = true
          try await wait(&pace, item.receivedAt ?? Timestamp(rfc3339: action.createdAt))
          action.createdAt = Timestamp.now().rfc3339
          now.append(action)
        case .fact(let fact):
          try await wait(&pace, item.receivedAt)
          _ = try await memory.store([fact])
        case .document(let document, var bytes):
          try await wait(&pace, item.receivedAt)
          if document == .voiceState, let received = item.receivedAt {
            bytes = TimeShift(from: received, to: .now()).moved(bytes)
          }
          // What happened before it comes before it.
          count += try await log.append(now).count
          now = []
          try await documents.put(document, bytes)
        }
      }
      count += try await log.append(now).count
    }
    return count
  }

  private func wait(_ pace: inout ReplayPace, _ recorded: Timestamp?) async throws {
    guard let due = pace.due(recorded, at: Clock.monotonic) else { return }
    let wait = due - Clock.monotonic
    if wait > 0 { try await Poller.sleep(for: .seconds(wait)) }
  }
}

/// Moves the times inside a JSON text, as the dashboard writes them
/// (`"2026-03-01T12:00:00.000Z"`), by the same amount.
struct TimeShift {
  private let by: Duration

  init(from: Timestamp, to: Timestamp) {
    by =
      .seconds(to.seconds - from.seconds) + .nanoseconds(to.nanoseconds - from.nanoseconds)
  }

  private static let pattern = Array("\"0000-00-00T00:00:00.000Z\"".utf8)

  /// The text with all its times moved; it keeps its length.
  func moved(_ text: [UInt8]) -> [UInt8] {
    var text = text
    let width = Self.pattern.count
    var index = 0
    while let quote = text[index...].firstIndex(of: 0x22), quote + width <= text.count {
      index = quote + 1
      guard Self.isTime(text[quote..<quote + width]) else { continue }
      let inner = quote + 1..<quote + width - 1
      guard let time = Timestamp(rfc3339: String(decoding: text[inner], as: UTF8.self)) else {
        continue
      }
      let moved = Array(time.adding(by).rfc3339.utf8)
      if moved.count == inner.count { text.replaceSubrange(inner, with: moved) }
      index = quote + width
    }
    return text
  }

  private static func isTime(_ bytes: ArraySlice<UInt8>) -> Bool {
    zip(bytes, pattern).allSatisfy { byte, model in
      model == UInt8(ascii: "0") ? byte &- 0x30 < 10 : byte == model
    }
  }
}
