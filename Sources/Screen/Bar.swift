/// Amounts as horizontal bars, to an eighth of a cell.
public enum Bar {
  private static let eighths = Array("▏▎▍▌▋▊▉█")

  /// A bar of at most `cells` cells, without blanks after it. An amount above
  /// zero shows at least as a sliver; more than `most` fills the room.
  ///
  /// - Parameters:
  ///   - value: what is shown; nil, NaN, zero and less give an empty text.
  ///   - most: the amount that fills all cells.
  public static func text(_ value: Double?, of most: Double, cells: Int) -> String {
    guard let value, value > 0, most > 0, cells > 0 else { return "" }
    let units = value >= most ? cells * 8 : max(1, Int(value / most * Double(cells * 8) + 0.5))
    let rest = units % 8
    return String(repeating: "█", count: units / 8) + (rest == 0 ? "" : String(eighths[rest - 1]))
  }

  /// A gauge of exactly `cells` cells: the amount and a dim rest.
  public static func gauge(
    _ value: Double?, of most: Double, cells: Int, _ style: Style = .plain
  ) -> Line {
    guard cells > 0 else { return Line() }
    var full = 0
    if let value, value > 0, most > 0 {
      full = value >= most ? cells : min(max(1, Int(value / most * Double(cells) + 0.5)), cells)
    }
    var line = Line()
    line.add(String(repeating: "━", count: full), style)
    line.add(String(repeating: "─", count: cells - full), .dim)
    return line
  }
}

/// Numbers as a row of small bars, one cell each.
public enum Spark {
  private static let bars = Array("▁▂▃▄▅▆▇█")

  /// A bar a value, scaled so that the largest fills its cell. Values that are
  /// not above zero, or are not finite, are the lowest bar.
  public static func line(_ values: [Double]) -> String {
    let largest = values.filter(\.isFinite).max() ?? 0
    return String(
      values.map { value in
        guard value.isFinite, value > 0, largest > 0 else { return bars[0] }
        return bars[min(Int(value / largest * 7 + 0.5), 7)]
      })
  }
}
