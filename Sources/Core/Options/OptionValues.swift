/// What the arguments of many options are: one reading for all commands.
extension ParsedOptions.Item {
  /// The argument as a whole number, in digits alone.
  ///
  /// - Parameter range: what makes sense.
  /// - Throws: `UsageError` for anything else.
  public func wholeNumber(in range: ClosedRange<Int> = 0...Int.max) throws(UsageError) -> Int {
    if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }),
      let number = Int(value), range.contains(number)
    {
      return number
    }
    let bounds =
      range.upperBound < Int.max
      ? " from \(range.lowerBound) to \(range.upperBound)"
      : range.lowerBound == 0 ? "" : " above \(range.lowerBound - 1)"
    throw UsageError("--\(name) \(value): not a whole number\(bounds)")
  }

  /// The argument as a time, see `DurationText`.
  ///
  /// - Returns: seconds, not below 0.
  /// - Throws: `UsageError` for anything else.
  public func seconds() throws(UsageError) -> Double {
    guard let duration = DurationText.parse(value), duration >= .zero else {
      throw UsageError("--\(name) \(value): not a time: seconds, or 90s 15m 2h 3d")
    }
    return duration / .seconds(1)
  }
}
