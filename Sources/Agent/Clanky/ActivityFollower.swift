import Core
import Records
import Web

/// Keeps a dashboard's stream whole over reconnects: holds it while the rows are
/// fetched that a new snapshot does not reach, or that the voice stream, which has no
/// snapshot, does not have; then lets go in order.
final class ActivityFollower: Continuity {
  /// The tries to fetch rows before the gap is reported.
  private static let mostTries = 3
  /// How many of the newest rows tell where a voice stream begins.
  private static let rowsOfStart = 20

  private let stream: DashboardStream

  private let client: WebClient
  private let request: Request
  private let base: WebAddress
  private var ledger: ActivityLedger
  private var held: [HeldEvent] = []
  private var backfill: ActivityBackfill?
  /// The fetch that finds out where the voice stream begins.
  private var start: Fetch?
  private var failures = 0
  /// Whether the connection has told no voice state yet.
  private var isNew = true
  /// Whether events of an earlier connection were printed.
  private var isUnderWay = false
  /// The last event id, where the server sends any.
  private var lastID: [UInt8] = []

  /// The last id as a number, and whether the connection has brought none yet.
  private var number: Int64?
  private var isFresh = true

  /// Told what is to be printed.
  weak var handler: (any ContinuityHandler)?

  /// - Parameters:
  ///   - stream: which of the two.
  ///   - client: of the stream.
  ///   - request: a request to the dashboard, for its method and headers.
  ///   - base: the dashboard's address.
  ///   - state: where an earlier run ended; nil without one.
  init(
    _ stream: DashboardStream, _ client: WebClient, _ request: Request, base: WebAddress,
    resumingAt state: FollowState?
  ) {
    self.stream = stream
    lastID = Array((state?.lastEventID ?? "").utf8)
    number = Int64(state?.lastEventID ?? "")
    self.client = client
    self.request = request
    self.base = base
    ledger = ActivityLedger(
      resumingAt: state?.newest, prefix: stream == .voice ? ClankyPath.voiceKinds : nil)
  }

  /// The `created_at` of the newest action printed.
  var newest: String? { ledger.newestText }

  /// Whether events wait.
  var isHolding: Bool { !held.isEmpty }

  /// Takes an event that the stream dispatched.
  func take(_ event: StreamEventView) -> Bool {
    watch(event.id)
    if isHolding {
      held.append(HeldEvent(event))
      return false
    }
    let data = event.data
    if event.isPartial { return true }
    if stream == .activity, event.type.elementsEqual("activity_snapshot".utf8),
      !ledger.isReached(by: data)
    {
      held.append(HeldEvent(event))
      startBackfill()
      return false
    }
    if stream == .voice, event.type.elementsEqual("voice_state".utf8), isNew, !resumes(event) {
      held.append(HeldEvent(event))
      if ledger.hasPlace {
        startBackfill()
      } else {
        if isUnderWay { report([]) }
        findStart()
      }
      return false
    }
    note(event.type, data)
    if stream == .voice { keepID(event.id) }
    isUnderWay = true
    return true
  }

  /// Notices that the ids of a dashboard began again.
  private func watch(_ id: UnsafeRawBufferPointer) {
    // An event without an id of its own has the last one's.
    guard let found = Int64(String(decoding: id, as: UTF8.self)), found != number else { return }
    if isFresh, let number, found < number {
      handler?.say("the ids of the actions began again: \(found) comes behind \(number)")
    }
    (number, isFresh) = (found, false)
  }

  private func keepID(_ id: UnsafeRawBufferPointer) {
    if !lastID.elementsEqual(id) { lastID = Array(id) }
  }

  private func note(_ type: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer) {
    if type.elementsEqual("activity_snapshot".utf8) {
      ledger.note(snapshot: data)
    } else if type.elementsEqual("action_event".utf8) {
      ledger.note(live: data)
    } else if type.elementsEqual("voice_event".utf8) {
      ledger.note(live: data, source: .voiceEvent)
    }
  }

  /// Whether the server knows by the last event id what was missed.
  private func resumes(_ event: StreamEventView) -> Bool {
    isNew = false
    // Of its own it has one only where a client begins anew.
    return !event.id.isEmpty && (lastID.isEmpty || lastID.elementsEqual(event.id))
  }

  /// The connection is gone, and what was held is forgotten.
  ///
  /// - Returns: whether anything was held, so that the resume point is to go back.
  func connectionLost() -> Bool {
    backfill?.cancel()
    backfill = nil
    start?.cancel()
    start = nil
    isNew = true
    isFresh = true
    defer { held = [] }
    return isHolding
  }

  /// Notices a fetch that is silent.
  func tick(now: Double) -> Double {
    min(backfill?.tick(now: now) ?? .infinity, start?.tick(now: now) ?? .infinity)
  }

  /// Where a voice stream begins: at the newest row.
  private func findStart() {
    var request = request
    let path = ClankyPath.actions(
      guild: nil, kinds: nil, sinceHours: nil, limit: Self.rowsOfStart)
    guard let address = try? base.appending(path) else { return release() }
    request.address = address
    start = Fetch(client, request, now: Clock.monotonic) { [unowned self] in begin($0) }
  }

  private func begin(_ end: FetchEnd) {
    let done = start
    start = nil
    defer { withExtendedLifetime(done) {} }
    let reason: String
    switch end {
    case .response(let head, _) where head.isTransient: reason = head.summary
    case .response(let head, let body):
      if head.status == 200, let rows = Answer.elements(body) {
        let snapshot = RecordText().list("actions", rows).bytes
        snapshot.withUnsafeBytes { ledger.note(snapshot: $0) }
      }
      return release()
    case .failed(let text), .unusable(let text): reason = text
    }
    failures += 1
    if failures < Self.mostTries {
      handler?.dropStream("the newest action: \(reason)")
    } else {
      release()
    }
  }

  private func startBackfill() {
    backfill = ActivityBackfill(
      client, request, base: base, ledger: ledger, now: Clock.monotonic
    ) { [unowned self] in finish($0) }
  }

  /// A passing failure costs the connection, so that the next one asks again;
  /// what does not pass, or fails for the third time, leaves a gap.
  private func finish(_ end: ActivityBackfill.End) {
    let done = backfill
    backfill = nil
    defer { withExtendedLifetime(done) {} }
    switch end {
    case .failed(let reason, isTransient: true, _) where failures + 1 < Self.mostTries:
      failures += 1
      handler?.dropStream("missed actions: \(reason)")
    case .failed(_, _, let found):
      report(found.unreached)
      release(found)
    case .found(let found):
      if !found.unreached.isEmpty { report(found.unreached) }
      release(found)
    }
  }

  private func report(_ unreached: [ActionPages.Unreached]) {
    handler?.report(held[0].data.withUnsafeBytes { ledger.gap(unreached, before: $0) }.told)
  }

  private func release(_ found: ActivityBackfill.Found) {
    let missed = held[0].data.withUnsafeBytes { ledger.missed(in: found.rows, snapshot: $0) }
    // Oldest first, each newest first in itself, as a snapshot.
    var end = missed.count
    while end > 0 {
      let start = max(0, end - ActionPages.mostRows)
      handler?.printExtra(Self.backfill(missed[start..<end]))
      end = start
    }
    if stream == .voice { ledger.pass(found.first) }
    release()
  }

  private func release() {
    failures = 0
    isUnderWay = true
    let events = held
    held = []
    for event in events {
      // Noted behind the output: a state that is saved now must not be ahead of it.
      if handler?.printHeld(event) != true { return }
      event.id.withUnsafeBytes(keepID)
      event.type.withUnsafeBytes { type in event.data.withUnsafeBytes { note(type, $0) } }
    }
    handler?.releaseStream()
  }

  /// Missed rows as one event.
  ///
  /// - Parameter rows: as they came, newest first.
  private static func backfill(_ rows: ArraySlice<[UInt8]>) -> HeldEvent {
    let data = RecordText().list("actions", Array(rows)).bytes
    return HeldEvent(type: Array("actions_backfill".utf8), data: data)
  }
}

extension ActivityLedger.Gap {
  /// As it is reported.
  fileprivate var told: StreamGap {
    StreamGap(
      after: after, before: before,
      parts: unreached.map { StreamGap.Part(words: $0.words, record: $0.record) })
  }
}

extension ActionPages.Unreached {
  /// `llm_call in guild 1`; empty when it may be anything.
  fileprivate var words: String {
    guard let kind else { return "" }
    return kind + (guild.map { $0.isEmpty ? " in no guild" : " in guild \($0)" } ?? "")
  }

  /// `{"kind":"llm_call","guild_id":"1","before":"..."}`; what is not known is
  /// left out.
  fileprivate var record: String {
    RecordText().string("kind", kind)
      .json("guild_id", guild.map { $0.isEmpty ? "null" : JSONQuote.string($0) })
      .time(before, as: "before").text
  }
}
