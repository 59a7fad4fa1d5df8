/// Keeps the events of a thread whole, once each and in order, by their numbers
/// (Agent/Pincer/CONTRACT.md 4.2). They have no holes where they are stored; a hole in what
/// comes is a loss on the way, which another connection mends.
struct WatchLedger {
  enum Verdict: Equatable {
    case take
    case drop
    case refetch
    /// These are not to be had, and it is the next one behind them.
    case takeBehind(ClosedRange<Int64>)
  }

  /// The number up to which everything came.
  private(set) var last: Int64
  /// The number up to which the server has events, as far as is known.
  private(set) var known: Int64 = 0
  /// How often in a row connections brought nothing new though there was something.
  private var fruitless = 0
  private(set) var hasGrown = false
  private(set) var brought = 0
  /// How many messages were passed over since the last event: each leaves a hole.
  private var passedOver: Int64 = 0
  /// Up to where it is settled that what is known does not come.
  private var given: Int64 = 0

  static let mostTries = 2
  /// How many stored events a server sends at most on one connection.
  static let backlog = 2000

  static let largest = Int64.max - 1

  init(last: Int64) { self.last = min(last, Self.largest) }

  mutating func connect() {
    hasGrown = false
    brought = 0
    passedOver = 0
  }

  /// `sequence`: at most `largest`.
  mutating func receive(_ sequence: Int64) -> Verdict {
    known = max(known, sequence)
    if sequence <= last { return .drop }
    // Where a message was too large to be kept, asking again brings it again.
    let isSettled = fruitless >= Self.mostTries || sequence - last - 1 <= passedOver
    if sequence > last + 1, !isSettled { return .refetch }
    defer {
      last = sequence
      brought += 1
      hasGrown = true
      fruitless = 0
      passedOver = 0
    }
    return sequence == last + 1 ? .take : .takeBehind(last + 1...sequence - 1)
  }

  mutating func passOver() { passedOver += 1 }

  mutating func learn(_ sequence: Int64) { known = max(known, sequence) }

  /// Whether the server has events that did not come, and may come yet.
  var isBehind: Bool { known > max(last, given) }

  /// Whether what is missing is surely not on its way on this connection.
  var isCut: Bool { isBehind && brought >= Self.backlog }

  /// False when a new connection for what is missing was tried often enough.
  mutating func retry() -> Bool {
    if hasGrown { return true }
    fruitless += 1
    if fruitless < Self.mostTries { return true }
    given = known
    return false
  }
}
