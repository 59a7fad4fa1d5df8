import Core

/// A way to tell a person something. None of them waits: what takes time goes on in `work`.
protocol Way: AnyObject {
  /// For messages.
  var name: String { get }
  /// Whether there is nothing more to do.
  var isIdle: Bool { get }
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
/// memory: the oldest is given up.
struct WayQueue {
  private var waiting: [Delivery] = []
  private static let most = 16

  /// - Returns: whether one was given up for it.
  mutating func add(_ delivery: Delivery) -> Bool {
    waiting.append(delivery)
    guard waiting.count > Self.most else { return false }
    waiting.removeFirst()
    return true
  }

  mutating func next() -> Delivery? { waiting.isEmpty ? nil : waiting.removeFirst() }

  var isEmpty: Bool { waiting.isEmpty }
}
