import CLibc
import Core

/// Has gnuplot draw a table, and puts the picture where it belongs.
func draw(
  _ table: PlotTable, _ picture: PlotOptions.Picture, _ size: (width: Int, height: Int),
  _ scratch: ScratchFolder
) throws(Failure) {
  let place = { Folders.join(scratch.path, $0) }
  try write(Array(table.data.utf8), to: place("data"))
  try write(
    Array(program(table, picture.form, "\(size.width),\(size.height)").utf8),
    to: place("program"))
  // In its folder, so that no name of a folder is a part of a command. Nor does it hear what
  // somebody wants of gnuplot elsewhere.
  let call = try ProgramCall(
    ["sh", "-c", "cd -- \"$1\" && exec gnuplot -d program >picture", "sh", scratch.path],
    environment: ["GNUTERM": nil, "CDPATH": nil])
  ProgramCall.wait(for: [call]) { scratch.remove() }
  var bytes = try BoundedFile.given(place("picture"), limit: .max)
  if call.status != 0 || bytes.isEmpty { throw Failure("gnuplot", call.faults.last ?? "") }
  if picture.form == .svg {
    let drawing = String(decoding: bytes, as: UTF8.self)
    // gnuplot leaves the > of ]]> as it is, which XML does not, unless it makes text of its own
    // kind.
    if !drawing.holds("<![CDATA[") {
      bytes = Array(drawing.exchanging(text: "]]>", for: "]]&gt;").utf8)
    }
  }
  try put(bytes, picture.file)
}

private func program(
  _ table: PlotTable, _ form: PlotOptions.Picture.Form, _ size: String
) -> String {
  let terminal =
    switch form {
    case .png:
      """
      set terminal png size \(size) noenhanced
      if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) \\
        set terminal pngcairo size \(size) noenhanced font 'sans,10'
      """
    case .svg: "set terminal svg size \(size) noenhanced font 'sans,11' background 'white'"
    }
  let title =
    switch table.value {
    case .count: "actions"
    case .cost: "US dollars"
    case .tokens: "tokens"
    }
  let hasKey = table.columnCount > 1
  return """
    \(terminal)
    set datafile separator "\\t"
    set datafile commentschars ''
    set style data histograms
    set style histogram rowstacked
    set style fill solid 0.85 noborder
    set boxwidth 0.8
    set xtics noenhanced rotate by -40 nomirror
    set ytics nomirror
    set grid ytics
    set linetype 9 linecolor rgb '#999999'
    set border 3
    set yrange [0:*]
    set ylabel '\(title)'
    set xlabel '\(table.day)'
    \(hasKey ? "set key outside right top noenhanced autotitle columnhead" : "unset key")
    plot for [i=2:\(table.columnCount + 1)] 'data' using i:xtic(stringcolumn(1)) \\
      title columnheader(i)

    """
}

/// A pipe or a device stays one; a file is replaced when all of the picture is there.
private func put(_ bytes: [UInt8], _ file: String) throws(Failure) {
  let fault = Failure(file, "cannot be written")
  if let status = stat(following: file), !status.isRegular {
    guard write(bytes, to: clibc_open(file, O_WRONLY)) else { throw fault }
    return
  }
  // Nobody else can have put something there.
  let (descriptor, name) = temporaryFile(beside: file)
  guard descriptor >= 0 else { throw fault }
  let mask = umask(0)
  umask(mask)
  fchmod(descriptor, 0o666 & ~mask)
  guard write(bytes, to: descriptor), rename(name, file) == 0 else {
    unlink(name)
    throw fault
  }
}

/// Writes a new file of the scratch folder.
func write(_ bytes: [UInt8], to path: String) throws(Failure) {
  guard write(bytes, to: clibc_create(path)) else { throw Failure(code: systemError, place: path) }
}

/// Writes all, and closes the file.
private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  return (try? RecordWriter.write(bytes, to: descriptor, of: "")) != nil
}

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
