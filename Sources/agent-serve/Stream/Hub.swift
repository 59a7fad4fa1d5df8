/// Delivers events to all subscribers.
///
/// Each event's bytes are made once. Actions of a few milliseconds are joined
/// into one block, the longer the more subscribers there are, so that a burst
/// wakes a client once and not once an action.
@Poller
final class Hub {
  /// The dashboard's intervals (Agent/Clanky/CONTRACT.md 2.1 and 2.2).
  private static let heartbeatInterval = Duration.seconds(15)
  private static let updateInterval = Duration.seconds(3)
  /// The rest of a burst is waited for, and then the last ones are to be a second old.
  private static let updateDelay = Duration.milliseconds(100)
  private static let updatePause = Duration.seconds(1)
  private static let blockSize = 64 * 1024
  private static let heartbeat = Block(Frame.heartbeat.bytes)

  private let updatesAfterActions: Bool
  private var subscribers: [Subscriber] = []
  nonisolated private let followers = Guarded(0)
  private var isEnding = false
  /// The newest action that was offered to the live subscribers.
  private var published: Int64
  private var pending: [Frame] = []
  private var isFlushPlanned = false
  private var lastFlush = ContinuousClock.now
  private var dirtySince: ContinuousClock.Instant?
  private var lastUpdate = ContinuousClock.now - .seconds(60)

  init(published: Int64, updatesAfterActions: Bool = true) {
    (self.published, self.updatesAfterActions) = (published, updatesAfterActions)
  }

  var count: Int { subscribers.count }
  nonisolated var isFollowed: Bool { followers.withLock { $0 > 0 } }

  /// Takes a subscriber that is being brought up to date. Returns false when the server is about to
  /// stop.
  func add(_ subscriber: Subscriber) -> Bool {
    if isEnding { return false }
    let now = ContinuousClock.now
    subscriber.place = subscribers.count
    subscriber.heartbeatDue = now + Self.heartbeatInterval
    subscriber.updateDue = now + Self.updateInterval
    subscribers.append(subscriber)
    followers.withLock { $0 = subscribers.count }
    return true
  }

  func remove(_ subscriber: Subscriber) {
    guard let place = subscriber.place, let last = subscribers.popLast() else { return }
    if last !== subscriber {
      subscribers[place] = last
      last.place = place
    }
    subscriber.place = nil
    followers.withLock { $0 = subscribers.count }
  }

  /// Makes a subscriber live when it has every action that was offered so far;
  /// from then on it gets those after `cursor`, each once. Returns false when the store has more
  /// that was offered to others.
  func goLive(_ subscriber: Subscriber, cursor: Int64) -> Bool {
    guard cursor >= published else { return false }
    (subscriber.cursor, subscriber.isLive) = (cursor, true)
    return true
  }

  /// Delivers stored actions; they come in the order of their ids.
  func publish(_ frames: [Frame], newest: Int64) {
    if subscribers.isEmpty {
      // Whoever comes from now on finds them in the store.
      (pending, published) = ([], newest)
      return
    }
    pending += frames
    if updatesAfterActions && dirtySince == nil { dirtySince = .now }
    guard !isFlushPlanned else { return }
    let interval = Duration.microseconds(20 * subscribers.count)
    let wait = interval - (.now - lastFlush)
    if wait <= .zero { return flush() }
    isFlushPlanned = true
    Poller.after(wait) { self.flush() }
  }

  /// Delivers what is due: heartbeats, updates. Called some ten times a second.
  func beat(at now: ContinuousClock.Instant = .now, update: () -> Frame) {
    let block = isUpdateDue(at: now) ? Block(update().bytes) : nil
    let isBurstOver = isBurstOver(at: now)
    if isBurstOver { (dirtySince, lastUpdate) = (nil, now) }
    for subscriber in subscribers where subscriber.isLive {
      var blocks: [Block] = []
      if let block, isBurstOver || subscriber.updateDue <= now { blocks.append(block) }
      if subscriber.updateDue <= now { subscriber.updateDue = now + Self.updateInterval }
      if subscriber.heartbeatDue <= now {
        blocks.append(Self.heartbeat)
        subscriber.heartbeatDue = now + Self.heartbeatInterval
      }
      if !blocks.isEmpty { subscriber.offer(blocks) }
    }
  }

  func isUpdateDue(at now: ContinuousClock.Instant) -> Bool {
    isBurstOver(at: now) || subscribers.contains { $0.isLive && $0.updateDue <= now }
  }

  private func isBurstOver(at now: ContinuousClock.Instant) -> Bool {
    dirtySince.map { now - $0 >= Self.updateDelay && now - lastUpdate >= Self.updatePause }
      ?? false
  }

  /// Ends all streams; what was published is delivered first.
  func end() {
    isEnding = true
    flush()
    for subscriber in subscribers { subscriber.end(.finished) }
  }

  private func flush() {
    isFlushPlanned = false
    lastFlush = .now
    guard let first = pending.first, let last = pending.last else { return }
    let frames = pending
    pending = []
    published = last.id
    let blocks = Self.join(frames[...])
    for subscriber in subscribers where subscriber.isLive && subscriber.cursor < last.id {
      let isBehind = subscriber.cursor < first.id
      subscriber.offer(
        isBehind ? blocks : Self.join(frames.drop { $0.id <= subscriber.cursor }))
    }
  }

  private static func join(_ frames: ArraySlice<Frame>) -> [Block] {
    var blocks: [Block] = []
    var rest = frames
    while let first = rest.first {
      var size = first.bytes.count
      let more = rest.dropFirst().prefix { frame in
        size += frame.bytes.count
        return size <= blockSize
      }
      blocks.append(Block(rest[..<more.endIndex].map(\.bytes)))
      rest = rest[more.endIndex...]
    }
    return blocks
  }
}
