import Core
import Records

/// A way to tell a person something. None of them waits: what takes time goes on in `work`.
class Way {
  typealias End = (tellings: [Telling], failure: Failure?, isFinal: Bool)

  let name: String
  fileprivate(set) var ended: [End] = []

  init(_ name: String) { self.name = name }

  var isIdle: Bool { true }
  /// Whether it tells nothing more, whatever is tried.
  var isClosed: Bool { false }
  var unsupportedReason: String { "" }
  /// What to wait for beside.
  var descriptors: [Int32] { [] }

  /// Whether somebody can be told in this way now; nil while that is found out, in `work`.
  func isThere(now: Double) -> Bool? { true }

  func post(_ telling: Telling) throws(WriteFailure) {}

  /// Goes on. Returns when to be called again at the latest.
  func work(now: Double) -> Double { .infinity }

  /// Ends what goes on: nobody is there any more to wait for it.
  func stop() {}

  /// These were told; or, with a failure, not. A final one is of these alone: no later try betters it.
  final func end(_ tellings: [Telling], _ failure: Failure? = nil, isFinal: Bool = false) {
    ended.append((tellings, failure, isFinal))
  }
}

final class Telling {
  let delivery: Delivery
  let bundles: [Bundle]
  let wasKept: Bool
  var open: Set<Int>
  var failed: Set<Int> = []
  var isPosted = false
  var wasTold = false

  init(_ delivery: Delivery, of bundles: [Bundle], wasKept: Bool, by channels: Set<Int>) {
    (self.delivery, self.bundles, self.wasKept) = (delivery, bundles, wasKept)
    open = channels
  }
}

struct Channel {
  private let ways: [Way]
  private var current = 0
  private var until = Double.infinity

  /// The first is tried again after so long, seconds.
  private static let rest = 300.0

  init(_ ways: [Way]) { self.ways = ways }

  var way: Way { ways[current] }
  var isIdle: Bool { ways.allSatisfy(\.isIdle) }
  var isClosed: Bool { ways.allSatisfy(\.isClosed) }
  var descriptors: [Int32] { ways.flatMap(\.descriptors) }

  func isThere(now: Double) -> Bool? { way.isThere(now: now) }
  func stop() { for way in ways { way.stop() } }

  /// Goes on. Returns when to be called again at the latest.
  mutating func work(now: Double) -> Double {
    if now >= until { (current, until) = (0, .infinity) }
    return ways.map { $0.work(now: now) }.min() ?? .infinity
  }

  func ended() -> [(way: Way, end: Way.End)] {
    ways.flatMap { way in
      defer { way.ended = [] }
      return way.ended.map { (way, $0) }
    }
  }

  mutating func passes(_ way: Way, now: Double) -> Bool {
    guard let place = ways.firstIndex(where: { $0 === way }), place + 1 < ways.count else {
      return false
    }
    if current == place { (current, until) = (place + 1, now + Self.rest) }
    return true
  }
}

final class Outcome {
  private let diagnostics: Diagnostics
  private(set) var status = ExitStatus.success

  init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  func note(_ way: String, _ reason: String) { diagnostics.error(way, reason) }

  func fail(_ way: String, _ reason: String, _ failure: ExitStatus = .temporary) {
    diagnostics.error(way, reason)
    if status != .denied { status = failure }
  }

  func noteSum(_ way: String, _ count: Int) {
    note(way, "too slow: \(count) notifications are told in one")
  }

  func mend() {
    if status == .temporary { status = .success }
  }
}

/// What waits for a way that takes time, the most urgent first. Of what is not pressing no more
/// than a few are told each: what is too much is told in one.
struct WayQueue {
  private var pressing: [Telling] = []
  private var waiting: [Telling] = []
  private var rest: [Telling] = []
  private static let most = 16

  mutating func add(_ telling: Telling) {
    if telling.delivery.urgency.isPressing { return pressing.append(telling) }
    if rest.isEmpty, waiting.count < Self.most { return waiting.append(telling) }
    rest.append(telling)
  }

  /// All that waits, which is then no more in it.
  mutating func drain() -> [Telling] {
    defer { self = WayQueue() }
    return pressing + waiting + rest
  }

  mutating func next(summed: (Int) -> Void) -> (Delivery, of: [Telling])? {
    if !pressing.isEmpty {
      let first = pressing.firstIndex { $0.delivery.urgency == .emergency } ?? 0
      let telling = pressing.remove(at: first)
      return (telling.delivery, [telling])
    }
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

  var isEmpty: Bool { pressing.isEmpty && waiting.isEmpty && rest.isEmpty }
}
