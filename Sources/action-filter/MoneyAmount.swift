import Core

/// An amount of money as a person wrote it, compared by its exact decimal
/// value.
struct MoneyAmount {
  private let token: [UInt8]

  /// - Parameter text: a JSON number, or one that begins with a point or `+`.
  init?(_ text: String) {
    var token = Array(text.utf8)
    if token.first == UInt8(ascii: "+") { token.removeFirst() }
    if token.first == UInt8(ascii: ".") { token.insert(0x30, at: 0) }
    guard token.withUnsafeBytes({ ScanNumber($0) != nil }) else { return nil }
    self.token = token
  }

  /// How a cost stands to this amount: below zero when it is less. An unknown
  /// cost (null, absent) is 0 as in the rows; nil for what is no number.
  func order(of cost: ScanValue) -> Int? {
    token.withUnsafeBytes { bytes -> Int? in
      guard let amount = ScanNumber(bytes) else { return nil }
      if let number = ScanNumber(cost) { return number.compare(amount) }
      guard cost.isNull else { return nil }
      return amount.isNegative ? 1 : amount.isZero ? 0 : -1
    }
  }
}
