import CLibc

/// A JSON number, compared by its exact decimal value: `1e-2` equals `0.01`,
/// and 2^53 + 1 differs from 2^53. A slice, valid as long as its bytes are.
public struct ScanNumber {
  private let token: UnsafeRawBufferPointer
  private let digits: Range<Int>
  /// Whether the value is below zero; false for -0.
  public let isNegative: Bool
  /// The power of ten of the first digit that counts: 0 for `5`, -2 for `0.05`.
  public let power: Int
  /// Whether the value is 0 or -0.
  public let isZero: Bool

  /// - Parameter token: one number of RFC 8259, section 6, and nothing else;
  ///   anything else is nil.
  public init?(_ token: UnsafeRawBufferPointer) {
    self.token = token
    var at = 0
    let end = token.count
    func digitRun() -> Int {
      let start = at
      while at < end, token[at] &- 0x30 < 10 { at += 1 }
      return at - start
    }
    let minus = at < end && token[at] == UInt8(ascii: "-")
    if minus { at += 1 }
    let start = at
    let whole = digitRun()
    guard whole == 1 || whole > 1 && token[start] != 0x30 else { return nil }
    if at < end && token[at] == UInt8(ascii: ".") {
      at += 1
      guard digitRun() > 0 else { return nil }
    }
    digits = start..<at
    var exponent = 0
    if at < end && token[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      let isBelow = at < end && token[at] == UInt8(ascii: "-")
      if isBelow || at < end && token[at] == UInt8(ascii: "+") { at += 1 }
      let first = at
      guard digitRun() > 0 else { return nil }
      for index in first..<at where exponent < 1 << 50 {
        exponent = exponent * 10 + Int(token[index] - 0x30)
      }
      if isBelow { exponent = -exponent }
    }
    guard at == end else { return nil }
    // The first digit above zero, counted from the point.
    var index = digits.lowerBound
    var power = whole - 1 + exponent
    while index < digits.upperBound, token[index] == 0x30 || token[index] == 0x2e {
      if token[index] == 0x30 { power -= 1 }
      index += 1
    }
    isZero = index == digits.upperBound
    self.power = isZero ? 0 : power
    isNegative = minus && !isZero
    leading = index
  }

  private let leading: Int

  /// - Parameter value: any value; nil unless it is a number.
  public init?(_ value: ScanValue) {
    guard value.isNumber else { return nil }
    self.init(value.bytes)
  }

  /// Below zero, zero or above: how this number stands to the other.
  public func compare(_ other: ScanNumber) -> Int {
    if isZero || other.isZero {
      if isZero && other.isZero { return 0 }
      return isZero ? (other.isNegative ? 1 : -1) : (isNegative ? -1 : 1)
    }
    if isNegative != other.isNegative { return isNegative ? -1 : 1 }
    let sign = isNegative ? -1 : 1
    if power != other.power { return power < other.power ? -sign : sign }
    var mine = leading
    var theirs = other.leading
    while true {
      let a = digit(&mine)
      let b = other.digit(&theirs)
      if a == nil && b == nil { return 0 }
      // Past its last digit a number goes on with zeros.
      let (x, y) = (a ?? 0x30, b ?? 0x30)
      if x != y { return x < y ? -sign : sign }
    }
  }

  /// Gives the digits from the first that counts to the last, until told to end.
  ///
  /// - Parameter receive: takes a digit and its power of ten; returns false when
  ///   it has enough.
  public func forEachDigit(_ receive: (_ digit: UInt8, _ power: Int) -> Bool) {
    var index = leading
    var place = power
    while let next = digit(&index), receive(next - 0x30, place) { place -= 1 }
  }

  private func digit(_ index: inout Int) -> UInt8? {
    if index < digits.upperBound, token[index] == 0x2e { index += 1 }
    guard index < digits.upperBound else { return nil }
    defer { index += 1 }
    return token[index]
  }

  /// The nearest double; infinite beyond its range.
  public var double: Double {
    if isZero { return 0 }
    // Both the digits and the power of ten are exact: one rounding.
    var mantissa: UInt64 = 0
    var decimals = 0
    var index = leading
    var lastPower = power + 1
    while mantissa < 100_000_000_000_000, let next = digit(&index) {
      mantissa = mantissa * 10 + UInt64(next - 0x30)
      lastPower -= 1
    }
    decimals = lastPower
    if index >= digits.upperBound && abs(decimals) <= 22 {
      let value = Self.scaled(Double(mantissa), decimals)
      return isNegative ? -value : value
    }
    return strtod(String(decoding: token, as: UTF8.self), nil)
  }

  @inline(__always)
  fileprivate static func scaled(_ value: Double, _ power: Int) -> Double {
    power < 0 ? value / powers[-power] : value * powers[power]
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
    1e18, 1e19, 1e20, 1e21, 1e22,
  ]
}

extension ScanValue {
  /// The nearest double of a number that a walk crossed; nil for anything else.
  public var double: Double? {
    guard isNumber else { return nil }
    return Self.short(start, count) ?? ScanNumber(self)?.double
  }

  /// The same, of a number with few digits: its digits as an integer and a power
  /// of ten are both exact, so that one operation rounds as it should.
  @inline(__always)
  private static func short(_ token: UnsafePointer<UInt8>, _ count: Int) -> Double? {
    var index = 0
    var digits: UInt64 = 0
    var power = 0
    var pointed = 0
    if token[0] == UInt8(ascii: "-") { index = 1 }
    guard count - index <= 18 else { return nil }
    while index < count {
      let digit = token[index] &- 0x30
      if digit < 10 {
        digits = digits &* 10 &+ UInt64(digit)
        power -= pointed
      } else if token[index] == UInt8(ascii: ".") {
        pointed = 1
      } else {
        break
      }
      index += 1
    }
    if index < count {
      guard token[index] | 0x20 == UInt8(ascii: "e"), count - index <= 4 else { return nil }
      index += 1
      let isBelow = token[index] == UInt8(ascii: "-")
      if isBelow || token[index] == UInt8(ascii: "+") { index += 1 }
      var exponent = 0
      while index < count {
        exponent = exponent * 10 + Int(token[index] &- 0x30)
        index += 1
      }
      power += isBelow ? -exponent : exponent
    }
    guard digits <= 1 << 53, abs(power) <= 22 else { return nil }
    let value = ScanNumber.scaled(Double(digits), power)
    return token[0] == UInt8(ascii: "-") ? -value : value
  }
}
