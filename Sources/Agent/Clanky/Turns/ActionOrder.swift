import Core
import Records

/// The actions of one agent in the order in which they were done.
///
/// Histories come newest first, and files in any order. So actions are held back until it
/// shows that no earlier ones come: at the end, when nothing more is there to be read and the
/// last one came in order, or when so many came in order.
struct ActionOrder {
  /// With the row's number; those of one instant stand by it.
  private var held: [(time: Timestamp, id: Double?, number: Int, bytes: [UInt8])] = []
  private var size = 0
  private var newest: Timestamp?
  /// The time of the last one.
  private var last: Timestamp?
  private var isForward = false
  private var inOrder = 0

  /// So many that came in order show that the rest does, too.
  private static let window = 1024
  /// Bytes that are held at most.
  private static let most = 64 << 20
  /// What is written at once may be a little out of order.
  private static let slack = Duration.seconds(1)

  /// An action without a time stays with the one before it.
  mutating func add(_ time: Timestamp?, id: Double?, _ bytes: [UInt8]) {
    let time = time ?? last ?? Timestamp(seconds: 0)
    let isLate = newest.map { time.adding(Self.slack) < $0 } ?? false
    inOrder = isLate ? 0 : inOrder + 1
    // A time in the future does not hold up all that is done until then.
    isForward = !isLate || last.map { $0 < time } ?? true
    (last, newest) = (time, max(newest ?? time, time))
    held.append((time, id, held.count, bytes))
    size += bytes.count
  }

  var isFull: Bool { inOrder >= Self.window || size >= Self.most }

  /// What no earlier action can come for, as far as one can tell, oldest first.
  mutating func takeFull() -> [[UInt8]] {
    if size >= Self.most { return takeAll() }
    sort()
    let rest = held.count - Self.window / 2
    let taken = held.prefix(rest).map(\.bytes)
    held.removeFirst(rest)
    for index in held.indices { held[index].number = index }
    size = held.reduce(0) { $0 + $1.bytes.count }
    inOrder = held.count
    return taken
  }

  /// All that is held where the last one came in order, else nothing; oldest first.
  mutating func takeAtPause() -> [[UInt8]] { isForward ? takeAll() : [] }

  mutating func takeAll() -> [[UInt8]] {
    sort()
    defer {
      held.removeAll(keepingCapacity: true)
      (size, inOrder) = (0, 0)
    }
    return held.map(\.bytes)
  }

  private mutating func sort() {
    // Those of one instant without numbers come as the others do.
    let isBackwards = held.last.map { $0.time < held[0].time } ?? false
    held.sort { a, b in
      let (one, other) = isBackwards ? (b.number, a.number) : (a.number, b.number)
      return (a.time, a.id ?? .infinity, one) < (b.time, b.id ?? .infinity, other)
    }
  }
}
