import Core

/// The bars of a picture: a row for each time, or each group without one, and a column for each
/// other group of its time.
struct PlotTable {
  private(set) var value = PlotOptions.Value.count
  private var rows: [String] = []
  private var columns: [String] = []
  private var hasTimes = false
  private var cells: [[Int: Double]] = []
  private var sums: [Double] = []

  /// - Parameter lines: what `action-format -o tsv` prints of counts.
  init(_ lines: [String], _ wanted: PlotOptions.Value?) throws(Failure) {
    let heading = Self.cells(lines[0])
    let place = heading.count - (heading.last == "usd_cost" ? 2 : 4)
    guard place >= 0, heading[place] == "count" else { throw Failure("no counts by any key") }
    let hasTokens = heading.count == place + 4
    let times = ["minute", "hour", "day", "week", "month"]
    let time = heading[..<place].lastIndex { times.contains($0) }
    hasTimes = time != nil
    value = wanted ?? (hasTokens ? .cost : .count)
    if value == .tokens, !hasTokens {
      throw Failure("no tokens are counted: action-filter --usage counts them")
    }
    // By their bytes: two that only look the same are two.
    var (rowPlaces, columnPlaces): ([[UInt8]: Int], [[UInt8]: Int]) = ([:], [:])
    for line in lines.dropFirst() {
      let cells = Self.cells(line)
      guard cells.count == heading.count, cells[place] != "count" else {
        throw Failure("the counts are not all by the same keys")
      }
      let others = cells[..<place].indices.filter { $0 != time }.map {
        cells[$0].isEmpty ? "(none)" : cells[$0]
      }.joined(separator: " · ")
      let row = Self.place(of: time.map { cells[$0] } ?? others, &rows, &rowPlaces)
      if row == self.cells.count { self.cells.append([:]) }
      // Of a time without any action the other keys say nothing.
      if hasTimes, Double(cells[place]) == 0 { continue }
      let column = Self.place(of: hasTimes && place > 1 ? others : "all", &columns, &columnPlaces)
      if column == sums.count { sums.append(0) }
      let numbers = cells[place...].map { Double($0) ?? 0 }
      let amount =
        switch value {
        case .count: numbers[0]
        case .cost: numbers[1]
        case .tokens: numbers[2] + numbers[3]
        }
      self.cells[row][column, default: 0] += amount
      sums[column] += amount
    }
    if rows.isEmpty { throw Failure("no counts by any key") }
    if columns.isEmpty { (columns, sums) = (["all"], [0]) }
  }

  private static func cells(_ line: String) -> [String] {
    line.utf8.split(separator: 9, omittingEmptySubsequences: false).map { String(Substring($0)) }
  }

  private static func place(
    of name: String, _ names: inout [String], _ places: inout [[UInt8]: Int]
  ) -> Int {
    let bytes = Array(name.utf8)
    if let place = places[bytes] { return place }
    places[bytes] = names.count
    names.append(name)
    return names.count - 1
  }

  /// How many columns are drawn: the eight largest groups of a time have a colour of their own.
  var columnCount: Int { min(columns.count, 9) }

  /// The day that all times are of; it is said once.
  var day: String {
    guard hasTimes, let first = rows.first, let last = rows.last, first.utf8.count > 10 else {
      return ""
    }
    let day = first.prefix(10)
    // It becomes a part of a command.
    let isDate = day.utf8.allSatisfy { (48...57).contains($0) || $0 == 45 } && day.first != "-"
    return isDate && last.prefix(10) == day ? String(day) : ""
  }

  /// What gnuplot reads.
  var data: String {
    var headings = columns
    var shown = Array(columns.indices)
    if columns.count > 9 {
      let largest = columns.indices.sorted {
        sums[$0] != sums[$1] ? sums[$0] > sums[$1] : $0 < $1
      }.prefix(8)
      shown = columns.map { _ in 8 }
      for (place, column) in largest.enumerated() { shown[column] = place }
      headings = largest.map { columns[$0] } + ["\(columns.count - 8) others"]
    }
    var text = (["label"] + headings.map(Self.label)).joined(separator: "\t") + "\n"
    // Times keep their order; of other groups there is room for thirty.
    let isCut = !hasTimes && rows.count > 30
    let count = isCut ? 30 : rows.count
    let step = hasTimes ? (rows.count + 23) / 24 : 1
    let day = day
    for row in 0..<count {
      let isLast = row == count - 1
      var name = isCut && isLast ? "\(rows.count - 29) others" : rows[row]
      if !day.isEmpty, !name.isEmpty { name = String(name.dropFirst(11)) }
      var totals = [Double](repeating: 0, count: columnCount)
      for cells in cells[row...(isLast ? rows.count - 1 : row)] {
        for (column, amount) in cells { totals[shown[column]] += amount }
      }
      let label = row % step == 0 ? Self.label(name) : ""
      text += ([label] + totals.map { "\($0)" }).joined(separator: "\t") + "\n"
    }
    return text
  }

  /// Data, never a part of a command; gnuplot reads quotes and backslashes in data.
  private static func label(_ text: String) -> String {
    if text.isEmpty { return "(none)" }
    var text = text
    if text.utf8.count > 48 {
      var length = 0
      text = String(
        text.unicodeScalars.prefix {
          length += String($0).utf8.count
          return length <= 48
        })
      text += "…"
    }
    return text.exchanging("\"", for: "”").exchanging("\\", for: "\\\\")
  }
}
