import NIOConcurrencyHelpers
import NIOCore

/// Delivers events to all subscribers.
///
/// Each event's bytes are made once. Actions of a few milliseconds are joined
/// into one block, the longer the more subscribers there are, so that a burst
/// wakes a client once and not once an action.
final class Hub: @unchecked Sendable {
  private struct Entry {
    let subscriber: Subscriber
    /// Whether actions come from here, and no longer from the store.
    var isLive = false
    /// The newest action that the subscriber has.
    var cursor: Int64 = 0
    var heartbeatDue: ContinuousClock.Instant
    var updateDue: ContinuousClock.Instant
  }

  /// The dashboard's intervals (Agent/Clanky/CONTRACT.md 2.1 and 2.2).
  private static let heartbeatInterval = Duration.seconds(15)
  private static let updateInterval = Duration.seconds(3)
  /// After an action the update waits for the rest of its burst, and then for the
  /// last ones to be a second old.
  private static let updateDelay = Duration.milliseconds(100)
  private static let updatePause = Duration.seconds(1)
  private static let blockSize = 64 * 1024
  private static let heartbeat = ByteBuffer(bytes: Frame.heartbeat.bytes)

  private let updatesAfterActions: Bool
  private let lock = NIOLock()
  private var entries: [ObjectIdentifier: Entry] = [:]
  private var isEnding = false
  /// The newest action that was offered to the live subscribers.
  private var published: Int64
  private var pending: [Frame] = []
  private var isFlushPlanned = false
  private var lastFlush = ContinuousClock.now
  private var dirtySince: ContinuousClock.Instant?
  private var lastUpdate = ContinuousClock.now - .seconds(60)

  /// - Parameters:
  ///   - published: the newest id in the store.
  ///   - updatesAfterActions: whether an action changes what `beat` is asked to
  ///     make, so that it is sent soon after one.
  init(published: Int64, updatesAfterActions: Bool = true) {
    self.published = published
    self.updatesAfterActions = updatesAfterActions
  }

  /// How many subscribers there are.
  var count: Int { lock.withLock { entries.count } }

  /// Takes a subscriber that is being brought up to date.
  ///
  /// - Returns: false when the server is about to stop.
  func add(_ subscriber: Subscriber) -> Bool {
    lock.withLock {
      guard !isEnding else { return false }
      let now = ContinuousClock.now
      entries[ObjectIdentifier(subscriber)] = Entry(
        subscriber: subscriber, heartbeatDue: now + Self.heartbeatInterval,
        updateDue: now + Self.updateInterval)
      return true
    }
  }

  /// Forgets a subscriber.
  func remove(_ subscriber: Subscriber) {
    lock.withLock { entries[ObjectIdentifier(subscriber)] = nil }
  }

  /// Makes a subscriber live when it has every action that was offered so far;
  /// from then on it gets those after `cursor`, each once.
  ///
  /// - Returns: false when the store has more that was offered to others.
  func goLive(_ subscriber: Subscriber, cursor: Int64) -> Bool {
    lock.withLock {
      guard cursor >= published else { return false }
      entries[ObjectIdentifier(subscriber)]?.cursor = cursor
      entries[ObjectIdentifier(subscriber)]?.isLive = true
      return true
    }
  }

  /// Delivers stored actions; they come in the order of their ids.
  func publish(_ frames: [Frame]) {
    lock.withLock {
      pending += frames
      if updatesAfterActions && dirtySince == nil { dirtySince = .now }
      guard !isFlushPlanned else { return }
      let interval = Duration.microseconds(50 * entries.count)
      let wait = interval - (.now - lastFlush)
      if wait <= .zero { return flush() }
      isFlushPlanned = true
      Task {
        try? await Task.sleep(for: wait)
        self.lock.withLock { self.flush() }
      }
    }
  }

  /// Delivers what is due: heartbeats, updates. Called some ten times a second.
  ///
  /// - Parameters:
  ///   - now: the clock.
  ///   - update: makes the frame of the stats or the voice state, called at most
  ///     once.
  func beat(at now: ContinuousClock.Instant = .now, update: () -> Frame) {
    let (isBurstOver, isDue) = lock.withLock { () -> (Bool, Bool) in
      let isBurstOver =
        dirtySince.map { now - $0 >= Self.updateDelay && now - lastUpdate >= Self.updatePause }
        ?? false
      return (isBurstOver, entries.values.contains { $0.isLive && $0.updateDue <= now })
    }
    if isBurstOver { lock.withLock { (dirtySince, lastUpdate) = (nil, now) } }
    let frame = isBurstOver || isDue ? ByteBuffer(bytes: update().bytes) : nil
    lock.withLock { deliver(frame, toAll: isBurstOver, now) }
  }

  /// Ends all streams; what was published is delivered first.
  func end() {
    let subscribers = lock.withLock {
      isEnding = true
      flush()
      return entries.values.map(\.subscriber)
    }
    for subscriber in subscribers { subscriber.end(.finished) }
  }

  private func deliver(_ update: ByteBuffer?, toAll: Bool, _ now: ContinuousClock.Instant) {
    for (key, entry) in entries where entry.isLive {
      var blocks: [ByteBuffer] = []
      if let update, toAll || entry.updateDue <= now { blocks.append(update) }
      if entry.updateDue <= now { entries[key]?.updateDue = now + Self.updateInterval }
      if entry.heartbeatDue <= now {
        blocks.append(Self.heartbeat)
        entries[key]?.heartbeatDue = now + Self.heartbeatInterval
      }
      if !blocks.isEmpty { _ = entry.subscriber.offer(blocks) }
    }
  }

  private func flush() {
    isFlushPlanned = false
    lastFlush = .now
    guard let first = pending.first, let last = pending.last else { return }
    let frames = pending
    pending = []
    published = last.id
    let blocks = Self.join(frames[...])
    for entry in entries.values where entry.isLive && entry.cursor < last.id {
      let isBehind = entry.cursor < first.id
      _ = entry.subscriber.offer(
        isBehind ? blocks : Self.join(frames.drop { $0.id <= entry.cursor }))
    }
  }

  private static func join(_ frames: ArraySlice<Frame>) -> [ByteBuffer] {
    var blocks: [ByteBuffer] = []
    for frame in frames {
      if let last = blocks.last, last.readableBytes + frame.bytes.count <= blockSize {
        blocks[blocks.count - 1].writeBytes(frame.bytes)
      } else {
        blocks.append(ByteBuffer(bytes: frame.bytes))
      }
    }
    return blocks
  }
}
