/// Puts the pages of a collection into one list in the order that is asked for, whatever the
/// server's is: each record once, none left out (Agent/PDS/CONTRACT.md 5).
struct RecordPages {
  /// `path` is `NSID/KEY`: a server may call the repository by either of its names.
  typealias Row = (path: String, bytes: [UInt8])

  private enum State {
    /// Fewer than two records came: nothing tells the order.
    case unknown
    /// They come as they are wanted.
    case passing
    /// They come the other way round, and wait for the end.
    case turning
  }

  private let isRising: Bool
  private let count: Int
  /// The most that is read, and the most that is turned round in memory, bytes.
  private let (most, mostHeld): (Int, Int)
  private var state = State.unknown
  private var seen: Set<String> = []
  private var held: [Row] = []
  private var given = 0
  private var heldBytes = 0
  private var readBytes = 0

  /// Keeps `count` rows; `most`: bytes of answers that are read, `mostHeld`: held to be reversed.
  init(isRising: Bool, count: Int, most: Int = .max, mostHeld: Int = 256 << 20) {
    (self.isRising, self.count, self.most, self.mostHeld) = (isRising, count, most, mostHeld)
  }

  var isFull: Bool { state == .passing && given >= count || count == 0 }

  /// Why it must end here, in a line; nil where it need not.
  var excess: String? {
    if readBytes > most { return "a list of more than \(most) bytes" }
    if heldBytes <= mostHeld { return nil }
    return "more than \(mostHeld) bytes in the other order; see --reverse"
  }

  /// The rows that can be written now, and whether any had not come before.
  mutating func receive(_ page: [Row], bytes: Int) -> (rows: [Row], isNews: Bool) {
    readBytes += bytes
    let fresh = page.filter { seen.insert($0.path).inserted }
    if state == .passing { return (pass(fresh), !fresh.isEmpty) }
    for row in fresh { heldBytes += row.bytes.count }
    held += fresh
    if state == .unknown, let first = held.first, let last = held.last, held.count > 1 {
      if Self.isBelow(first.path, last.path) == isRising {
        state = .passing
        return (pass(drain()), true)
      }
      state = .turning
    }
    // Of those that come in the wrong order the last are wanted.
    if state == .turning, held.count >= 2 * max(count.clamped, 512) {
      for row in held.dropLast(count.clamped) { heldBytes -= row.bytes.count }
      held = Array(held.suffix(count.clamped))
    }
    return ([], !fresh.isEmpty)
  }

  mutating func finish() -> [Row] { pass(drain().reversed()) }

  private mutating func drain() -> [Row] {
    defer { (held, heldBytes) = ([], 0) }
    return held
  }

  private mutating func pass(_ rows: [Row]) -> [Row] {
    let passed = rows.prefix(count - given)
    given += passed.count
    return Array(passed)
  }

  private static func isBelow(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension Int {
  fileprivate var clamped: Int { Swift.min(self, 1 << 40) }
}
