import Core
import Records
import Web

/// Keeps an activity stream whole over reconnects: holds it while the rows
/// that a new snapshot does not reach are fetched, then lets go in order.
final class ActivityFollower: Continuity {
  /// The tries to fetch rows before the gap is reported.
  private static let mostTries = 3

  private let client: WebClient
  private let request: Request
  private let base: WebAddress
  private var ledger: ActivityLedger
  private var held: [HeldEvent] = []
  private var backfill: ActivityBackfill?
  private var failures = 0

  /// Told what is to be printed.
  weak var handler: (any ContinuityHandler)?

  /// - Parameters:
  ///   - client: of the stream.
  ///   - request: a request to the dashboard, for its method and headers.
  ///   - base: the dashboard's address.
  ///   - newest: the newest action of an earlier run.
  init(_ client: WebClient, _ request: Request, base: WebAddress, resumingAt newest: String?) {
    self.client = client
    self.request = request
    self.base = base
    ledger = ActivityLedger(resumingAt: newest)
  }

  /// The `created_at` of the newest action printed.
  var newest: String? { ledger.newestText }

  /// Whether events wait.
  var isHolding: Bool { !held.isEmpty }

  /// Takes an event that the stream dispatched.
  func take(_ event: StreamEventView) -> Bool {
    if isHolding {
      held.append(HeldEvent(event))
      return false
    }
    let data = event.data
    if event.isPartial { return true }
    if event.type.elementsEqual("activity_snapshot".utf8) {
      if !ledger.isReached(by: data) {
        held.append(HeldEvent(event))
        startBackfill()
        return false
      }
      ledger.note(snapshot: data)
    } else if event.type.elementsEqual("action_event".utf8) {
      ledger.note(live: data)
    }
    return true
  }

  /// The connection is gone, and what was held is forgotten.
  ///
  /// - Returns: whether anything was held, so that the resume point is to go back.
  func connectionLost() -> Bool {
    backfill?.cancel()
    backfill = nil
    defer { held = [] }
    return isHolding
  }

  /// Notices a fetch that is silent.
  func tick(now: Double) -> Double { backfill?.tick(now: now) ?? .infinity }

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
      release(found.rows)
    case .found(let found):
      if !found.unreached.isEmpty { report(found.unreached) }
      release(found.rows)
    }
  }

  private func report(_ unreached: [ActionPages.Unreached]) {
    handler?.report(held[0].data.withUnsafeBytes { ledger.gap(unreached, before: $0) }.told)
  }

  private func release(_ rows: [[UInt8]]) {
    failures = 0
    let missed = held[0].data.withUnsafeBytes { ledger.missed(in: rows, snapshot: $0) }
    // Oldest first, each newest first in itself, as a snapshot.
    var end = missed.count
    while end > 0 {
      let start = max(0, end - ActionPages.mostRows)
      handler?.printExtra(Self.backfill(missed[start..<end]))
      end = start
    }
    release()
  }

  private func release() {
    let events = held
    held = []
    for event in events {
      // Noted behind the output: a state that is saved now must not be ahead of it.
      if handler?.printHeld(event) != true { return }
      event.data.withUnsafeBytes { data in
        if event.type.elementsEqual("activity_snapshot".utf8) {
          ledger.note(snapshot: data)
        } else if event.type.elementsEqual("action_event".utf8) {
          ledger.note(live: data)
        }
      }
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
