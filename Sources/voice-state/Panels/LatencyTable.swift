import Screen

/// The rows of the latency panel: an age, and for each stage a bar and a number
/// that stand below those of the other rows.
struct LatencyTable {
  /// Narrower than this, the bars would say nothing.
  static let leastWidth = 60

  private static let leadCells = 7
  private static let numberCells = 5

  private let width: Int
  private let most: Double
  private let mostTotal: Double
  private let widths: [Int]
  /// Whether a mark was set that wants to be explained.
  private(set) var hasMarks = false

  /// - Parameters:
  ///   - width: the cells of a row.
  ///   - most: the stage that fills its bar, in milliseconds.
  ///   - mostTotal: the total that does.
  init(width: Int, most: Double, mostTotal: Double) {
    self.width = width
    self.most = most
    self.mostTotal = mostTotal
    // A blank before each stage and the cell of a mark after it.
    widths = Columns.widths(5, width: width - Self.leadCells - 10, gap: 0)
  }

  /// The names of the stages, above the ends of their numbers.
  func header(_ names: [String]) -> Line {
    var line = Line(Fit.spaces(Self.leadCells))
    for (name, cells) in zip(names, widths) {
      line.add(" " + Fit.padStart(Fit.truncate(name, to: cells), to: cells) + " ", .dim)
    }
    return line.cut(to: width)
  }

  /// - Parameters:
  ///   - lead: an age or a name.
  ///   - style: of the numbers that have no grade.
  ///   - values: milliseconds and how good they are, nil where they are not known.
  mutating func row(
    _ lead: String, _ style: Style, _ values: [(Double, LatencyPanel.Grade?)?]
  ) -> Line {
    var line = Line(Fit.padStart(lead, to: Self.leadCells), .dim)
    for (stage, (value, cells)) in zip(values, widths).enumerated() {
      line.add(" ")
      guard let (milliseconds, grade) = value else {
        line.add(Fit.padStart("-", to: cells) + " ", .dim)
        continue
      }
      let number = Fit.truncate(Amount.duration(milliseconds), to: cells)
      let numberCells = max(Self.numberCells, CellWidth.of(number))
      let look = grade?.style ?? style
      let bar = Bar.text(
        milliseconds, of: stage == 4 ? mostTotal : most, cells: cells - numberCells - 1)
      line.add(bar, look)
      line.add(Fit.spaces(cells - CellWidth.of(bar) - CellWidth.of(number)))
      line.add(number, look)
      line.add(grade?.mark ?? " ", look)
      if grade == .ok || grade == .bad { hasMarks = true }
    }
    return line.cut(to: width)
  }
}
