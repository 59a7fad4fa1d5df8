import Core

/// An exact sum of amounts of money.
///
/// Amounts of few digits are summed as integers of 128 bits that count
/// 10^-27 dollars; all others, and what is too much for that, as a
/// `DecimalSum`.
struct CostSum {
  /// Two's complement.
  private var high: Int64 = 0
  private var low: UInt64 = 0
  private var rest: DecimalSum?

  /// Adds a cost; what is no number adds nothing.
  @inline(__always)
  mutating func add(_ cost: ScanValue) {
    guard cost.isNumber else { return }
    if !addShort(cost.bytes) { addLong(cost) }
  }

  /// Adds a number when it is a multiple of 10^-27 that is not too large.
  private mutating func addShort(_ token: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    var digits: UInt64 = 0
    var shift = DecimalSum.decimals
    var pointed = 0
    let isNegative = token[0] == UInt8(ascii: "-")
    if isNegative { index = 1 }
    while index < token.count {
      let digit = token[index] &- 0x30
      if digit < 10 {
        guard digits < 1_000_000_000_000_000_000 else { return false }
        digits = digits &* 10 &+ UInt64(digit)
        shift -= pointed
      } else if token[index] == UInt8(ascii: ".") {
        pointed = 1
      } else {
        guard let exponent = Self.exponent(token, from: index + 1) else { return false }
        shift += exponent
        break
      }
      index += 1
    }
    guard digits > 0 else { return true }
    guard Self.powers.indices.contains(shift) else { return false }
    let power = Self.powers[shift]
    let product = digits.multipliedFullWidth(by: power.low)
    let (upper, isLarge) = digits.multipliedReportingOverflow(by: power.high)
    let (top, hasCarry) = product.high.addingReportingOverflow(upper)
    guard !isLarge, !hasCarry, top < 1 << 62 else { return false }
    if !change(by: Int64(top), product.low, isNegative) {
      settle()
      _ = change(by: Int64(top), product.low, isNegative)
    }
    return true
  }

  /// - Returns: false, and nothing is changed, when the sum would be too large.
  private mutating func change(by upper: Int64, _ lower: UInt64, _ isNegative: Bool) -> Bool {
    let (sum, carries) =
      isNegative ? low.subtractingReportingOverflow(lower) : low.addingReportingOverflow(lower)
    let step = upper + (carries ? 1 : 0)
    let (top, overflows) =
      isNegative ? high.subtractingReportingOverflow(step) : high.addingReportingOverflow(step)
    if overflows { return false }
    (high, low) = (top, sum)
    return true
  }

  /// The exponent of a few digits, nil for a longer one.
  private static func exponent(_ token: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var index = start
    guard index < token.count else { return nil }
    let isBelow = token[index] == UInt8(ascii: "-")
    if isBelow || token[index] == UInt8(ascii: "+") { index += 1 }
    guard token.count - index <= 3 else { return nil }
    let value = token[index...].reduce(0) { $0 * 10 + Int($1 &- 0x30) }
    return isBelow ? -value : value
  }

  private mutating func addLong(_ cost: ScanValue) {
    guard let number = ScanNumber(cost) else { return }
    var sum = rest ?? DecimalSum()
    rest = nil
    sum.add(number)
    rest = sum
  }

  /// Moves the integer to the other sum.
  private mutating func settle() {
    var sum = rest ?? DecimalSum()
    rest = nil
    let isNegative = high < 0
    sum.add(
      high: isNegative ? UInt64(bitPattern: ~high) &+ (low == 0 ? 1 : 0) : UInt64(high),
      low: isNegative ? 0 &- low : low, isNegative: isNegative)
    (high, low) = (0, 0)
    rest = sum
  }

  /// The sum as a JSON number.
  var text: String {
    var sum = self
    sum.settle()
    return sum.rest?.text ?? "0"
  }

  /// 10^0 to 10^38, upper and lower half.
  private static let powers: [(high: UInt64, low: UInt64)] = {
    var powers: [(high: UInt64, low: UInt64)] = [(0, 1)]
    while powers.count <= 38 {
      let last = powers[powers.count - 1]
      let product = last.low.multipliedFullWidth(by: 10)
      powers.append((last.high * 10 + product.high, product.low))
    }
    return powers
  }()
}
