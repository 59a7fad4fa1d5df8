import Core

struct Streams: Sendable {
  /// What the kinds of the voice stream begin with (Agent/Clanky/CONTRACT.md 2.2).
  static let voiceKinds = "voice_"

  /// Every action; the stats after them.
  let activity: Hub
  /// Those of voice sessions; the voice state, every three seconds alone.
  let voice: Hub

  @Poller
  init(published: Int64) {
    activity = Hub(published: published)
    voice = Hub(published: published, updatesAfterActions: false)
  }

  /// Delivers stored actions; they come in the order of their ids.
  func publish(_ stored: [StoredAction]) {
    guard let newest = stored.last?.id else { return }
    let isFollowed = activity.isFollowed || voice.isFollowed
    let frames = isFollowed ? framed(stored) : ([], [])
    // Those of one caller come in the order of its calls.
    Poller.start {
      let isFollowed = activity.isFollowed || voice.isFollowed
      // Somebody may have come meanwhile.
      let frames = isFollowed && frames.0.isEmpty ? framed(stored) : frames
      activity.publish(frames.0, newest: newest)
      if let last = stored.last(where: isVoiced) { voice.publish(frames.1, newest: last.id) }
    }
  }

  private func isVoiced(_ stored: StoredAction) -> Bool {
    stored.action.kind.hasPrefix(Self.voiceKinds)
  }

  private func framed(_ stored: [StoredAction]) -> (all: [Frame], voice: [Frame]) {
    (stored.map(Frame.action), stored.filter(isVoiced).map(Frame.voice))
  }

  @Poller var count: Int { activity.count + voice.count }

  @Poller
  func end() {
    activity.end()
    voice.end()
  }
}

struct ServedFeed: EventSource {
  /// What a client gets first, in pieces, and the newest action that it then has.
  typealias Opening =
    @Sendable (_ resumeAfter: Int64?) async throws -> (pieces: [SharedPiece], cursor: Int64)

  let hub: Hub
  let store: ActionStore
  let kinds: String
  let frame: @Sendable (StoredAction) -> Frame
  let opening: Opening
  /// One at a time is made, so that those who come at once get the same.
  @Poller private static let openings = Gate(1)

  /// Sends a client what it needs at the start, straight from the store and as fast as it
  /// reads, then the live events.
  ///
  /// The step from the store to the live events is exact: a subscriber becomes live only when
  /// the store has nothing that the hub gave to others (Agent/Clanky/CONTRACT.md 9.2).
  @Poller
  func send(to client: EventSink) async throws {
    try await client.begin()
    // The server stops: a stream that is whole, without an event.
    guard let subscriber = join(client) else { return }
    defer { hub.remove(subscriber) }
    await Self.openings.enter()
    catchUp(subscriber, client)
    while let blocks = try await subscriber.next() { try await client.send(blocks) }
  }

  @Poller @inline(never)
  private func join(_ client: EventSink) -> Subscriber? {
    let subscriber = Subscriber(client, limit: client.backlogLimit)
    guard hub.add(subscriber) else { return nil }
    client.whenLeft { subscriber.end(.finished) }
    return subscriber
  }

  @Poller @inline(never)
  private func catchUp(_ subscriber: Subscriber, _ client: EventSink) {
    subscriber.catchUp { try await self.bring(subscriber, client) }
  }

  @Poller
  private func bring(_ subscriber: Subscriber, _ client: EventSink) async throws {
    var cursor = try await open(client)
    while subscriber.ending == nil {
      let (block, last) = try await Poller.elsewhere { [cursor] in
        let (actions, newest) = try await self.store.actions(
          after: cursor, limit: 500, bytes: 256 * 1024, kinds: self.kinds)
        let block = actions.isEmpty ? nil : Block(actions.map { self.frame($0).bytes })
        return (block, actions.last?.id ?? newest)
      }
      if let block {
        cursor = last
        try await client.send([block])
      } else {
        // What the hub gave to others may be of another kind, or deleted since.
        cursor = max(cursor, last)
        if hub.goLive(subscriber, cursor: cursor) { return }
      }
    }
  }

  /// Sends the beginning: the newest action that the client then has.
  @Poller
  private func open(_ client: EventSink) async throws -> Int64 {
    do {
      let (pieces, cursor) = try await makeOpening(client.lastEventID, client.lastEventTime)
      for piece in pieces {
        try await client.send([piece.block])
        withExtendedLifetime(piece) {}
      }
      return cursor
    } catch let failure as Failure {
      client.abort(failure.reason)
      throw failure
    }
  }

  @Poller
  private func makeOpening(
    _ lastEventID: String?, _ time: String?
  ) async throws -> (pieces: [SharedPiece], cursor: Int64) {
    defer { Self.openings.leave() }
    return try await Poller.elsewhere {
      try await self.opening(self.resumePoint(lastEventID, time))
    }
  }

  /// The action after which a client wants to go on; nil when it names none, or
  /// one that this store never gave out: then it needs a snapshot. Where the id is that of an
  /// action that is newer than all that the client has, it was another store's: the client goes
  /// on at the first action that is newer.
  func resumePoint(_ text: String?, _ time: String? = nil) async throws -> Int64? {
    guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
      let id = Int64(text), id <= (try await store.newestID())
    else { return nil }
    if let newest = time.flatMap({ Timestamp(rfc3339: $0) }),
      let created = try await store.time(of: id), created > newest
    {
      return try await store.firstID(after: newest).map { $0 - 1 }
    }
    return id
  }
}

/// A piece of what clients get first: made once for all that need the same, and gone when the
/// last of them has it.
final class SharedPiece: Sendable {
  /// What all that are alive may take, bytes: clients that do not read keep theirs for a while.
  private static let budget = Budget(limit: 256 << 20)

  let block: Block
  private let share = budget.share()

  init(_ bytes: [UInt8]) throws(Failure) {
    guard share.take(bytes.count) else {
      throw Failure("what others must be sent first fills the memory")
    }
    block = Block(bytes)
  }
}

final class SharedSnapshot: Sendable {
  private struct Kept {
    var newest: Int64 = 0
    var version = 0
    weak var piece: SharedPiece?
  }

  private let kept = Guarded(Kept())

  func piece(_ store: ActionStore, version: Int) async throws -> (SharedPiece, newest: Int64) {
    let newest = try await store.newestID()
    let known = kept.withLock { kept in
      kept.newest == newest && kept.version == version ? kept.piece : nil
    }
    if let known { return (known, newest) }
    let (actions, newestID) = try await store.snapshot(limit: 220)
    let piece = try SharedPiece(Frame.snapshotHead(actions, newestID: newestID))
    kept.withLock { $0 = Kept(newest: newestID, version: version, piece: piece) }
    return (piece, newestID)
  }
}

/// One event of a stream as its bytes on the wire (WHATWG HTML, 9.2.5), made
/// once and shared by all subscribers.
struct Frame: Sendable, Equatable {
  /// The action's id, 0 for an event that is not an action.
  let id: Int64
  /// The bytes, up to and with the blank line.
  let bytes: [UInt8]

  static func action(_ stored: StoredAction) -> Frame { live(stored, as: "action_event") }

  /// The same action on the voice stream, with the same data to the byte.
  static func voice(_ stored: StoredAction) -> Frame { live(stored, as: "voice_event") }

  private static func live(_ stored: StoredAction, as event: String) -> Frame {
    var bytes = Array("event: \(event)\nid: \(stored.id)\ndata: ".utf8)
    ActionEncoder.appendLive(stored, to: &bytes)
    bytes += "\n\n".utf8
    return Frame(id: stored.id, bytes: bytes)
  }

  /// The beginning of the snapshot. It has an id too, so that a client that lost the connection
  /// before the first action also resumes exactly.
  static func snapshotHead(_ actions: [StoredAction], newestID: Int64) -> [UInt8] {
    Array("event: activity_snapshot\nid: \(newestID)\ndata: {\"actions\":".utf8)
      + ActionEncoder.rows(actions)
  }

  static func snapshotTail(stats: String) -> [UInt8] { Array(",\"stats\":\(stats)}\n\n".utf8) }

  static func stats(_ json: String) -> Frame {
    Frame(id: 0, bytes: Array("event: stats_update\ndata: \(json)\n\n".utf8))
  }

  static func voiceState(_ json: String, newestID: Int64? = nil) -> Frame {
    let id = newestID.map { "id: \($0)\n" } ?? ""
    return Frame(id: 0, bytes: Array("event: voice_state\n\(id)data: \(json)\n\n".utf8))
  }

  static let heartbeat = Frame(id: 0, bytes: Array(": heartbeat\n\n".utf8))
}
