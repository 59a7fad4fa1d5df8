/// Numbers as a row of small bars, one cell each.
public enum Spark {
  private static let bars = Array("▁▂▃▄▅▆▇█")

  /// A bar a value, scaled so that the largest fills its cell. Values that are
  /// not above zero, or are no number, are a lowest bar.
  ///
  /// - Parameter values: from left to right.
  public static func line(_ values: [Double]) -> String {
    let largest = values.filter(\.isFinite).max() ?? 0
    return String(
      values.map { value in
        guard value.isFinite, value > 0, largest > 0 else { return bars[0] }
        return bars[min(Int(value / largest * 7 + 0.5), 7)]
      })
  }
}
