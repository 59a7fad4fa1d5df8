import Core

/// A way to tell a person something. None of them waits: what takes time goes on in `work`.
protocol Way: AnyObject {
  /// For messages.
  var name: String { get }
  /// Whether there is nothing more to do.
  var isIdle: Bool { get }
  /// Whether somebody can be told in this way now; nil while that is found out, in `work`.
  func isThere(now: Double) -> Bool?
  /// Why nobody can be told.
  var unsupportedReason: String { get }
  /// Tells it, or puts it behind what is being told.
  func post(_ telling: Telling) throws(WriteFailure)
  /// Goes on. Returns when to be called again at the latest.
  func work(now: Double) -> Double
  /// Ends what goes on: nobody is there any more to wait for it.
  func stop()
  /// What came to its end, and was not taken yet.
  var ended: [WayEnd] { get set }
}

extension Way {
  var isIdle: Bool { true }
  func isThere(now: Double) -> Bool? { true }
  var unsupportedReason: String { "" }
  func work(now: Double) -> Double { .infinity }
  func stop() {}
}

/// How a way came to an end with what it was to tell.
struct WayEnd {
  let tellings: [Telling]
  /// Why nobody was told; nil when somebody was.
  let failure: WayFailure?
}

/// Why a way could not tell.
struct WayFailure {
  let reason: String
  var status = ExitStatus.temporary
  /// Whether another try with the same would fail as well.
  var isFinal = false
}

/// One thing that is told, by all ways at once.
final class Telling {
  let delivery: Delivery
  /// What it tells, and whether that was kept for later before.
  let bundles: [Bundle]
  let wasKept: Bool
  /// The channels that are to tell it, by their numbers, and those that could not.
  var open: Set<Int>
  var failed: Set<Int> = []
  var isPosted = false
  /// Whether somebody was told by one of them.
  var wasTold = false

  init(_ delivery: Delivery, of bundles: [Bundle], wasKept: Bool, by channels: Set<Int>) {
    (self.delivery, self.bundles, self.wasKept) = (delivery, bundles, wasKept)
    open = channels
  }
}

/// A way, and those that stand in for it where it fails.
struct Channel {
  private let ways: [any Way]
  private var current = 0
  private var until = Double.infinity

  /// The first is tried again after so long, seconds.
  private static let rest = 300.0

  init(_ ways: [any Way]) { self.ways = ways }

  /// The one that tells now.
  var way: any Way { ways[current] }
  var isIdle: Bool { ways.allSatisfy(\.isIdle) }

  func isThere(now: Double) -> Bool? { way.isThere(now: now) }
  func stop() { for way in ways { way.stop() } }

  /// Goes on. Returns when to be called again at the latest.
  mutating func work(now: Double) -> Double {
    if now >= until { (current, until) = (0, .infinity) }
    return ways.map { $0.work(now: now) }.min() ?? .infinity
  }

  /// What came to its end, with the way.
  func ended() -> [(way: any Way, end: WayEnd)] {
    ways.flatMap { way in
      defer { way.ended = [] }
      return way.ended.map { (way, $0) }
    }
  }

  /// Whether another way stands in from now on.
  mutating func passes(_ way: any Way, now: Double) -> Bool {
    guard let place = ways.firstIndex(where: { $0 === way }), place + 1 < ways.count else {
      return false
    }
    if current == place { (current, until) = (place + 1, now + Self.rest) }
    return true
  }
}

/// How it went, for the end.
final class Outcome {
  private let diagnostics: Diagnostics
  /// The worst so far.
  private(set) var status = ExitStatus.success

  init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  /// Something may still be told.
  func note(_ way: String, _ reason: String) { diagnostics.error(way, reason) }

  /// Something was not told, and why.
  func fail(_ way: String, _ reason: String, _ failure: ExitStatus = .temporary) {
    diagnostics.error(way, reason)
    if status != .denied { status = failure }
  }

  /// What was not told at first was told after all.
  func mend() {
    if status == .temporary { status = .success }
  }
}

/// What waits for a way that takes time. A way that never comes to an end must not fill the
/// memory: what is too much is told in one.
struct WayQueue {
  private var waiting: [Telling] = []
  /// What has no place.
  private var rest: [Telling] = []
  private static let most = 16

  mutating func add(_ telling: Telling) {
    if rest.isEmpty, waiting.count < Self.most { return waiting.append(telling) }
    rest.append(telling)
  }

  mutating func next(summed: (Int) -> Void) -> (Delivery, of: [Telling])? {
    if !waiting.isEmpty {
      let first = waiting.removeFirst()
      return (first.delivery, [first])
    }
    guard let first = rest.first else { return nil }
    defer { rest = [] }
    if rest.count == 1 { return (first.delivery, rest) }
    var sum = Summary()
    for each in rest { sum.add(each.delivery) }
    summed(sum.count)
    return (sum.delivery, rest)
  }

  var isEmpty: Bool { waiting.isEmpty && rest.isEmpty }
}

extension Outcome {
  /// Says that a way could not keep up.
  func noteSum(_ way: String, _ count: Int) {
    note(way, "too slow: \(count) notifications are told in one")
  }
}
