import Core

/// A way to tell a person something. None of them waits: what takes time goes on in `work`.
protocol Way: AnyObject {
  /// For messages.
  var name: String { get }
  /// Whether there is nothing more to do.
  var isIdle: Bool { get }
  /// Whether somebody can be told in this way now; nil while that is found out, in `work`.
  ///
  /// - Parameter now: seconds of the monotonic clock.
  func isThere(now: Double) -> Bool?
  /// Why nobody can be told.
  var absence: String { get }
  /// Tells it, or puts it behind what is being told.
  func post(_ delivery: Delivery) throws(WriteFailure)
  /// Goes on.
  ///
  /// - Parameter now: seconds of the monotonic clock.
  /// - Returns: when to be called again at the latest.
  func work(now: Double) -> Double
  /// Ends what goes on: nobody is there any more to wait for it.
  func stop()
}

extension Way {
  var isIdle: Bool { true }
  func isThere(now: Double) -> Bool? { true }
  var absence: String { "" }
  func work(now: Double) -> Double { .infinity }
  func stop() {}
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
}

/// What waits for a way that takes time. A way that never comes to an end must not fill the
/// memory: what is too much is told in one.
struct WayQueue {
  private var waiting: [Delivery] = []
  /// What has no place, and the first of it.
  private var rest = Summary()
  private var first: Delivery?
  private static let most = 16

  mutating func add(_ delivery: Delivery) {
    if first == nil, waiting.count < Self.most { return waiting.append(delivery) }
    if first == nil { first = delivery }
    rest.add(delivery)
  }

  /// - Parameter summed: told how many notifications are one from here.
  mutating func next(summed: (Int) -> Void) -> Delivery? {
    if !waiting.isEmpty { return waiting.removeFirst() }
    guard let first else { return nil }
    defer { (self.first, rest) = (nil, Summary()) }
    if rest.count == first.count { return first }
    summed(rest.count)
    return rest.delivery
  }

  var isEmpty: Bool { waiting.isEmpty && first == nil }
}

extension Outcome {
  /// Says that a way could not keep up.
  func noteSum(_ way: String, _ count: Int) {
    note(way, "too slow: \(count) notifications are told in one")
  }
}
