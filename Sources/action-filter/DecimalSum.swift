import Core

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

  /// Adds a number. One of 10^309 or more is beyond every double, and no
  /// amount of money: it adds nothing.
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
  private mutating func count() {
    additions += 1
    guard additions == 1 << 32 else { return }
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

  /// The sum as a JSON number, without an exponent where its first digit stands
  /// for 10^20 to 10^-20.
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
