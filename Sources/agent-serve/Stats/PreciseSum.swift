/// A sum of many small amounts that does not drift (Neumaier's form of Kahan's
/// summation): 0.0752 + 0.0021 stays 0.0773 whatever came between.
struct PreciseSum: Sendable, Equatable {
  private var sum = 0.0
  private var lost = 0.0

  /// Adds an amount.
  mutating func add(_ value: Double) {
    let total = sum + value
    lost += abs(sum) >= abs(value) ? (sum - total) + value : (value - total) + sum
    sum = total
  }

  /// The sum.
  var value: Double { sum + lost }
}
