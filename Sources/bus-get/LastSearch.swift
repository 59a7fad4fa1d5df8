/// The search for the newest records of some subjects, of which the server only tells how many
/// there are from a number on: further back by leaps, and then closer by halves.
struct LastSearch {
  private let wanted: Int
  private let end: Int
  private(set) var start: Int
  /// The lowest number from which there are too few, and the highest from which there are enough.
  private var few: Int
  private var enough = 0

  private static let leap = 4
  /// More than are wanted are read and thrown away, up to so many: that is sooner done than asked.
  private static let slack = 1000

  init(_ wanted: Int, end: Int) {
    (self.wanted, self.end) = (wanted, end)
    start = max(1, end - wanted + 1)
    few = end + 1
  }

  /// Takes an answer. Returns how many of the first of these are not wanted; nil when `start` is to
  /// be asked about again.
  mutating func receive(_ count: Int) -> Int? {
    if count < wanted {
      if start <= 1 { return 0 }
      few = start
    } else {
      enough = start
      if count - wanted <= max(wanted, Self.slack) || few - start <= 1 { return count - wanted }
    }
    let back = end - few + 1
    if enough > 0 {
      start = (enough + few) / 2
    } else {
      start = back > end / Self.leap ? 1 : max(1, end - back * Self.leap)
    }
    return nil
  }
}
