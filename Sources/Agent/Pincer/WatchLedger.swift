/// Keeps the events of a thread whole, once each and in order, by their numbers
/// (Agent/Pincer/CONTRACT.md 4.2). They have no holes where they are stored; a hole in what
/// comes is a loss on the way, which another connection mends.
struct WatchLedger {
  /// What is to be done with an event.
  enum Verdict: Equatable {
    /// It is the next one.
    case take
    /// It came before.
    case drop
    /// Others are missing in front of it: it is to be asked for again, with them.
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
  /// Whether this connection brought something new.
  private(set) var hasGrown = false
  /// How many events this connection brought.
  private(set) var brought = 0
  /// How many messages were passed over since the last event: each leaves a hole.
  private var passedOver: Int64 = 0
  /// Up to where it is settled that what is known does not come.
  private var given: Int64 = 0

  /// How often a hole is asked for before it is told.
  static let mostTries = 2
  /// How many stored events a server sends at most on one connection.
  static let backlog = 2000

  /// The largest number that another may follow.
  static let largest = Int64.max - 1

  init(last: Int64) { self.last = min(last, Self.largest) }

  /// A connection is opened, with `last` as its beginning.
  mutating func connect() {
    hasGrown = false
    brought = 0
    passedOver = 0
  }

  /// Judges an event.
  ///
  /// - Parameter sequence: its number, at most `largest`.
  mutating func take(_ sequence: Int64) -> Verdict {
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

  /// A message was passed over.
  mutating func passOver() { passedOver += 1 }

  /// The server says up to where it has events.
  mutating func learn(_ sequence: Int64) { known = max(known, sequence) }

  /// Whether the server has events that did not come, and may come yet.
  var isBehind: Bool { known > max(last, given) }

  /// Whether what is missing is surely not on its way on this connection.
  var isCut: Bool { isBehind && brought >= Self.backlog }

  /// The connection is to be made again because something is missing.
  ///
  /// - Returns: false when that was tried often enough.
  mutating func retry() -> Bool {
    if hasGrown { return true }
    fruitless += 1
    if fruitless < Self.mostTries { return true }
    given = known
    return false
  }
}
