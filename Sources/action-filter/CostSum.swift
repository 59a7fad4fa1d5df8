import CLibc

/// A sum of many small amounts that does not drift: Neumaier's compensated
/// summation, shown with 15 significant digits, so that 0.1 + 0.2 is 0.3.
struct CostSum {
  private var sum = 0.0
  private var lost = 0.0

  /// Adds an amount.
  mutating func add(_ amount: Double) {
    let total = sum + amount
    lost += abs(sum) >= abs(amount) ? (sum - total) + amount : (amount - total) + sum
    sum = total
  }

  /// The sum as a JSON number without an exponent where that is short; null
  /// beyond what a double holds.
  var text: String {
    let value = sum + lost
    guard value.isFinite else { return "null" }
    // 15 digits are what every double keeps of a decimal number.
    var digits = [CChar](repeating: 0, count: 40)
    _ = withVaList([value]) { vsnprintf(&digits, digits.count, "%.14e", $0) }
    let text = String(
      decoding: digits.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let parts = text.split(separator: "e")
    guard parts.count == 2, let exponent = Int(parts[1]) else { return "0" }
    let sign = text.hasPrefix("-") ? "-" : ""
    var mantissa = parts[0].filter { $0.isNumber }
    while mantissa.count > 1 && mantissa.hasSuffix("0") { mantissa.removeLast() }
    if mantissa == "0" { return "0" }
    if exponent > 20 || exponent < -20 {
      let rest = mantissa.dropFirst()
      return sign + mantissa.prefix(1) + (rest.isEmpty ? "" : "." + rest) + "e\(exponent)"
    }
    if exponent < 0 { return sign + "0." + String(repeating: "0", count: -exponent - 1) + mantissa }
    if mantissa.count <= exponent + 1 {
      return sign + mantissa + String(repeating: "0", count: exponent + 1 - mantissa.count)
    }
    return sign + mantissa.prefix(exponent + 1) + "." + mantissa.dropFirst(exponent + 1)
  }
}
