import Screen

/// The rows of the latency panel: an age, and for each stage a bar and a number
/// that stand below those of the other rows.
struct LatencyTable {
  /// Narrower than this, the bars would say nothing.
  static let leastWidth = 60

  private static let numberCells = 5

  private let width: Int
  private let leadCells: Int
  private let most: Double
  private let mostTotal: Double
  private let widths: [Int]
  /// Whether a mark was set that wants to be explained.
  private(set) var hasMarks = false

  /// - Parameters:
  ///   - width: the cells of a row.
  ///   - leadCells: the cells of the ages and names.
  ///   - most: the stage that fills its bar, in milliseconds.
  ///   - mostTotal: the total that does.
  init(width: Int, leadCells: Int, most: Double, mostTotal: Double) {
    self.width = width
    self.leadCells = leadCells
    self.most = most
    self.mostTotal = mostTotal
    // A blank before each stage and the cell of a mark after it.
    widths = Columns.widths(5, width: width - leadCells - 10, gap: 0)
  }

  /// The names of the stages, above the ends of their numbers.
  func header(_ names: [String]) -> Line {
    var line = Line(Fit.spaces(leadCells))
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
    var line = Line(Fit.padStart(lead, to: leadCells), .dim)
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

/// The rows of the latency panel on a narrow screen: a stage each, its bar
/// beginning where the bar of the stage before ended.
struct LatencyWaterfall {
  private static let labelCells = 9
  /// Narrower than this, age and stage share a column.
  private static let tightWidth = 32

  private let width: Int
  private let leadCells: Int
  private let most: Double
  private(set) var lines: [Line] = []
  /// Whether a mark was set that wants to be explained.
  private(set) var hasMarks = false

  /// - Parameters:
  ///   - width: the cells of a row.
  ///   - leadCells: the cells of the ages and names.
  ///   - most: what fills a bar, in milliseconds.
  init(width: Int, leadCells: Int, most: Double) {
    self.width = width
    self.leadCells = leadCells
    self.most = most
  }

  /// Adds the rows of one answer.
  ///
  /// - Parameters:
  ///   - lead: an age or a name, before the first row.
  ///   - labels: the names of the stages; the last is the total.
  ///   - values: milliseconds, as many; nil where they are not known.
  ///   - grades: how good they are; may be empty.
  mutating func add(
    _ lead: String, _ labels: some Collection<String>, _ values: some Collection<Double?>,
    _ grades: some Collection<LatencyPanel.Grade?>
  ) {
    var start = 0.0
    var grades = grades.makeIterator()
    for (index, (label, value)) in zip(labels, values).enumerated() {
      let isTotal = index == labels.count - 1
      let isTight = width < Self.tightWidth
      // In a shared column the age stands at the total, where it is looked for.
      let hasLead = isTight ? isTotal : index == 0
      var line = Line()
      if !isTight { line.add(Fit.padEnd(hasLead ? lead + " " : "", to: leadCells + 1), .dim) }
      line.add(Fit.padEnd(isTight && hasLead ? lead + " " : label, to: Self.labelCells), .dim)
      let grade = grades.next() ?? nil
      let style = grade?.style ?? .plain
      line.add(
        Fit.padStart(value.map { Amount.duration($0) } ?? "-", to: 6), value == nil ? .dim : style)
      line.add((grade?.mark ?? " ") + " ", style)
      if grade == .ok || grade == .bad { hasMarks = true }
      add(value, from: isTotal ? 0 : start, grade?.style ?? .dim, to: &line)
      start += max(value ?? 0, 0)
      lines.append(line.cut(to: width))
    }
  }

  private func add(_ value: Double?, from start: Double, _ style: Style, to line: inout Line) {
    let room = width - line.cells
    guard room > 0, most > 0, let value, value > 0 else { return }
    // The last cell is kept for a bar that begins at the end.
    let skipped = min(Int(min(start / most, 1) * Double(room)), room - 1)
    line.add(Fit.spaces(skipped))
    line.add(String(Bar.text(value, of: most, cells: room).prefix(room - skipped)), style)
  }
}
