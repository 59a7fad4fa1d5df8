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
  /// None or one: most groups have none, and there may be many of them.
  private var rest: [DecimalSum] = []

  @inline(__always)
  mutating func add(_ cost: ScanValue) {
    guard cost.isNumber else { return }
    if !addShort(cost.bytes) { addLong(cost) }
  }

  mutating func add(_ other: CostSum) {
    var other = other
    // The highest number has no room for a carry.
    if other.rest.isEmpty, other.high < .max, change(by: other.high, other.low, false) { return }
    other.settle()
    if let theirs = other.rest.first { change { $0.add(theirs) } }
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

  /// False, and nothing is changed, when the sum would be too large.
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
    change { $0.add(number) }
  }

  private mutating func change(_ change: (inout DecimalSum) -> Void) {
    if rest.isEmpty { rest.append(DecimalSum()) }
    change(&rest[0])
  }

  private mutating func settle() {
    let isNegative = high < 0
    let upper = isNegative ? UInt64(bitPattern: ~high) &+ (low == 0 ? 1 : 0) : UInt64(high)
    let lower = isNegative ? 0 &- low : low
    change { $0.add(high: upper, low: lower, isNegative: isNegative) }
    (high, low) = (0, 0)
  }

  var text: String {
    var sum = self
    sum.settle()
    return sum.rest.first?.text ?? "0"
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

/// An exact sum of decimal numbers of any size in which the digits of 10^308
/// down to 10^-400 count.
struct DecimalSum {
  /// What the first powers of ten of a `high, low` count.
  static let decimals = 27
  private static let base: Int64 = 1_000_000_000

  /// Nine digits each, below zero or above, without the carries between them.
  private var limbs: [Int64] = []
  /// The power of 10^9 of the first of them.
  private var lowest = 0
  private var additions = 0

  /// What is 10^309 or more is beyond every double, and no amount of money: it adds nothing.
  mutating func add(_ number: ScanNumber) {
    guard !number.isZero, number.power <= 308 else { return }
    count()
    number.forEachDigit { digit, power in
      if power < -400 { return false }
      let limb = power >= 0 ? power / 9 : (power - 8) / 9
      var amount = Int64(digit)
      for _ in 0..<power - limb * 9 { amount *= 10 }
      add(number.isNegative ? -amount : amount, at: limb)
      return true
    }
  }

  /// Adds an integer of 128 bits, in units of 10^-27.
  mutating func add(high: UInt64, low: UInt64, isNegative: Bool) {
    count()
    var (high, low) = (high, low)
    var limb = -Self.decimals / 9
    while high > 0 || low > 0 {
      let upper = high.quotientAndRemainder(dividingBy: UInt64(Self.base))
      let lower = UInt64(Self.base).dividingFullWidth((upper.remainder, low))
      (high, low) = (upper.quotient, lower.quotient)
      add(isNegative ? -Int64(lower.remainder) : Int64(lower.remainder), at: limb)
      limb += 1
    }
  }

  mutating func add(_ other: DecimalSum) {
    for (index, amount) in other.limbs.enumerated() { add(amount, at: other.lowest + index) }
    // Half of what a limb has room for, twice.
    count(other.additions)
  }

  private mutating func add(_ amount: Int64, at limb: Int) {
    if limbs.isEmpty { lowest = limb }
    if limb < lowest {
      limbs.insert(contentsOf: repeatElement(0, count: lowest - limb), at: 0)
      lowest = limb
    }
    while limb - lowest >= limbs.count { limbs.append(0) }
    limbs[limb - lowest] += amount
  }

  /// Each number adds less than 10^9 to a limb, which has room for as many.
  private mutating func count(_ more: Int = 1) {
    additions += more
    guard additions >= 1 << 32 else { return }
    additions = 0
    let (carried, isNegative) = carried
    limbs = isNegative ? carried.map { -$0 } : carried
  }

  /// The limbs of the sum without its sign, each 0 to 10^9 - 1.
  private var carried: (limbs: [Int64], isNegative: Bool) {
    func carry(_ sign: Int64) -> [Int64]? {
      var rest: Int64 = 0
      var carried = limbs
      for index in carried.indices {
        let total = sign * carried[index] + rest
        rest = total >= 0 ? total / Self.base : (total - Self.base + 1) / Self.base
        carried[index] = total - rest * Self.base
      }
      while rest > 0 {
        carried.append(rest % Self.base)
        rest /= Self.base
      }
      return rest < 0 ? nil : carried
    }
    if let above = carry(1) { return (above, false) }
    return (carry(-1) ?? [], true)
  }

  /// Without an exponent where the first digit stands for 10^20 to 10^-20.
  var text: String {
    let (limbs, isNegative) = carried
    var digits = ""
    for limb in limbs.reversed() { digits += String(limb + Self.base).dropFirst() }
    let leading = digits.prefix { $0 == "0" }.utf8.count
    let exponent = (lowest + limbs.count) * 9 - 1 - leading
    var mantissa = digits.dropFirst(leading)
    while mantissa.last == "0" { mantissa.removeLast() }
    if mantissa.isEmpty { return "0" }
    return (isNegative ? "-" : "") + Self.spelled(mantissa, exponent)
  }

  private static func spelled(_ digits: Substring, _ exponent: Int) -> String {
    let count = digits.utf8.count
    func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
    if abs(exponent) > 20 {
      return digits.prefix(1) + (count > 1 ? "." + digits.dropFirst() : "") + "e\(exponent)"
    }
    if exponent < 0 { return "0." + zeros(-exponent - 1) + digits }
    if count <= exponent + 1 { return digits + zeros(exponent + 1 - count) }
    return digits.prefix(exponent + 1) + "." + digits.dropFirst(exponent + 1)
  }
}
