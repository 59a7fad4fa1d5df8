import Agent
import Core
import Web

/// Keeps an activity stream whole over reconnects: holds it while the rows
/// that a new snapshot does not reach are fetched, then lets go in order.
final class ActivityFollower {
  /// An event that waits for missing rows.
  struct HeldEvent {
    var type: [UInt8]
    var id: [UInt8]
    var data: [UInt8]
    var isPartial: Bool
  }

  /// What becomes of an event.
  enum Step {
    /// Print it now.
    case print
    /// It was taken; more will come from `onRelease`.
    case held
  }

  /// The tries to fetch rows before the gap is reported.
  private static let mostTries = 3

  private let client: WebClient
  private let request: Request
  private let base: WebAddress
  private var ledger: ActivityLedger
  private var held: [HeldEvent] = []
  private var backfill: ActivityBackfill?
  private var failures = 0

  /// Prints an `actions_backfill` with these rows, newest first.
  var onBackfill: ([[UInt8]]) -> Void = { _ in }
  /// Reports a gap.
  var onGap: (ActivityLedger.Gap) -> Void = { _ in }
  /// The connection cannot be trusted any more; one line.
  var onDrop: (String) -> Void = { _ in }
  /// Prints an event that was held; false when nothing more is to be printed.
  var onPrint: (HeldEvent) -> Bool = { _ in true }
  /// Lets the stream go on.
  var onRelease: () -> Void = {}

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
  func take(_ event: StreamEventView) -> Step {
    if isHolding {
      held.append(HeldEvent(event))
      return .held
    }
    let data = UnsafeRawBufferPointer(event.data)
    if event.isPartial { return .print }
    if event.type.elementsEqual("activity_snapshot".utf8) {
      if !ledger.isReached(by: data) {
        held.append(HeldEvent(event))
        startBackfill()
        return .held
      }
      ledger.note(snapshot: data)
    } else if event.type.elementsEqual("action_event".utf8) {
      ledger.note(live: data)
    }
    return .print
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
      onDrop("missed actions: \(reason)")
    case .failed(_, _, let found):
      report(found.unreached)
      release(found.rows)
    case .found(let found):
      if !found.unreached.isEmpty { report(found.unreached) }
      release(found.rows)
    }
  }

  private func report(_ unreached: [ActionPages.Unreached]) {
    onGap(held[0].data.withUnsafeBytes { ledger.gap(unreached, before: $0) })
  }

  private func release(_ rows: [[UInt8]]) {
    failures = 0
    let missed = held[0].data.withUnsafeBytes { ledger.missed(in: rows, snapshot: $0) }
    // Oldest first, each newest first in itself, as a snapshot.
    var end = missed.count
    while end > 0 {
      let start = max(0, end - ActionPages.mostRows)
      onBackfill(Array(missed[start..<end]))
      end = start
    }
    release()
  }

  private func release() {
    let events = held
    held = []
    for event in events {
      // Noted behind the output: a state that is saved now must not be ahead of it.
      if !onPrint(event) { return }
      event.data.withUnsafeBytes { data in
        if event.type.elementsEqual("activity_snapshot".utf8) {
          ledger.note(snapshot: data)
        } else if event.type.elementsEqual("action_event".utf8) {
          ledger.note(live: data)
        }
      }
    }
    onRelease()
  }
}

extension ActivityFollower.HeldEvent {
  init(_ event: StreamEventView) {
    self.init(
      type: Array(event.type), id: Array(event.id), data: Array(event.data),
      isPartial: event.isPartial)
  }

  /// Hands the event to a function as if the stream had just dispatched it.
  func withView(_ body: (StreamEventView) -> Void) {
    var data = data
    type.withUnsafeBytes { type in
      id.withUnsafeBytes { id in
        data.withUnsafeMutableBytes { data in
          body(StreamEventView(type: type, id: id, data: data, isPartial: isPartial))
        }
      }
    }
  }
}
