import Web

/// Keeps a stream whole over reconnects where the ids of its events do not: holds
/// it while what was missed is fetched, then lets go in order.
public protocol Continuity: AnyObject {
  /// Told what is to be printed; set before the stream begins.
  var handler: ContinuityHandler? { get set }
  /// What a later run resumes at; nil before anything was printed.
  var newest: String? { get }
  /// Whether events wait.
  var isHolding: Bool { get }
  /// Takes an event that the stream dispatched.
  ///
  /// - Returns: whether it is to be printed now; else it is held until the
  ///   handler is told to release the stream.
  func take(_ event: StreamEventView) -> Bool
  /// The connection is gone, and what was held is forgotten.
  ///
  /// - Returns: whether anything was held, so that the resume point is to go back.
  func connectionLost() -> Bool
  /// Notices a fetch that is silent.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double
}

/// Whoever prints a stream that a `Continuity` keeps whole.
public protocol ContinuityHandler: AnyObject {
  /// Prints an event that the stream itself never had.
  func printExtra(_ event: HeldEvent)
  /// Prints an event that was held; false when nothing more is to be printed.
  func printHeld(_ event: HeldEvent) -> Bool
  /// Reports a gap.
  func report(_ gap: StreamGap)
  /// The connection cannot be trusted any more; one line.
  func dropStream(_ reason: String)
  /// Lets the stream go on.
  func releaseStream()
}

/// A time of which something may be missing.
public struct StreamGap: Equatable {
  /// What was not to be had, where that is known.
  public struct Part: Equatable {
    /// For people: `llm_call in guild 1`; empty when it may be anything.
    public var words: String
    /// One JSON object.
    public var record: String
  }

  /// The time of the newest thing printed before it, nil if there was none.
  public var after: String?
  /// The time of the oldest thing known behind it.
  public var before: String?
  /// What could not be had, where that is known.
  public var parts: [Part] = []
}
