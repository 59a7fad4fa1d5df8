import CLibc
public import Core
public import Records

/// Standard output of a command that lists: records as JSON, as a table or as TSV.
public final class RowOutput {
  /// How records are written.
  public enum Form: String, CaseIterable, Sendable {
    case json, table, tsv

    /// `--output`, nil when it is not given.
    public static let output = Option<Form?>(
      "o", "output", "FORM", "json, table or tsv (table on a terminal, else json)",
      .choice(of: Form.self)
    ) { $0 = $1 }
  }

  /// A line of a table of one record: a name and what is to be said of it; left out
  /// where that is nothing.
  public typealias Fact = (name: String, value: Cell)

  /// How records are written.
  public let form: Form
  /// A command that watches for signals is not kept by a reader that is slow.
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private let isTerminal: Bool
  private let isQuiet: Bool
  private let depth: ColourDepth
  /// The most cells of a line for a person; nil for no limit.
  public let width: Int?
  private var table: Table?
  private var wantsHeader: Bool

  /// - Parameters:
  ///   - form: nil for a table on a terminal and JSON elsewhere.
  ///   - isCut: whether lines for a person end where the terminal does.
  public init(form: Form?, look: LookOptions, isQuiet: Bool, isCut: Bool = true) {
    isTerminal = isatty(1) == 1
    self.isQuiet = isQuiet
    self.form = form ?? (isTerminal ? .table : .json)
    wantsHeader = look.hasHeader && self.form == .tsv
    depth = ColourDepth.detect(
      look.colour, isTerminal: isTerminal, environment: Process.environment)
    width = isCut ? look.width(on: 1, isTerminal: isTerminal) : nil
  }

  /// Writes records of a list; the next batch of the same list goes on below.
  public func list(_ rows: [[UInt8]], _ listing: Listing) throws(WriteFailure) {
    if isQuiet { return }
    try header(listing.fields)
    if rows.isEmpty { return }
    switch form {
    case .json: for row in rows { try json(row) }
    case .tsv: for row in rows { try line(RowText.tsv(row, fields: listing.fields)) }
    case .table:
      let columns = listing.columns
      var table =
        self.table
        ?? Table(
          columns.map { column in
            Table.Column(
              title: Plain.line(column.title, limit: 100), isRight: column.isRight,
              gives: column.gives)
          },
          width: width, depth: depth)
      for text in table.lines(rows.map { Self.cells($0, columns) }) { try line(text) }
      self.table = table
    }
  }

  /// Writes one record.
  ///
  /// - Parameter facts: what a table says of it; nil for a line a leaf.
  public func record(_ record: [UInt8], facts: [Fact]? = nil) throws(WriteFailure) {
    if isQuiet { return }
    try header(["name", "value"])
    switch form {
    case .json: try json(record)
    case .tsv:
      for leaf in Leaves.of(RowText.line(record)) {
        let value = RowText.escape(leaf.text)
        try line(leaf.name.isEmpty ? value : RowText.escape(leaf.name) + "\t" + value)
      }
    case .table:
      let given = facts?.map { ($0.name, $0.value.span) }.filter { !$0.1.text.isEmpty }
      let facts =
        given
        ?? Leaves.of(RowText.line(record)).map { ($0.name, Cell.words($0.text).span) }
      var table = Table(
        [Table.Column(title: ""), Table.Column(title: "", gives: true)], width: width, depth: depth)
      let rows = facts.map { [Line.Span(Plain.line($0.0, limit: 200), .dim), $0.1] }
      for text in table.lines(rows) { try line(text) }
    }
  }

  /// Writes records that have a form of their own for people and for scripts.
  ///
  /// - Parameters:
  ///   - tsv: the lines of a record, fields escaped.
  ///   - lines: what a person reads of them all, in so many cells (nil for no
  ///     limit).
  public func records(
    _ rows: [[UInt8]], fields: [String], tsv: ([UInt8]) -> [String],
    lines: ([[UInt8]], Int?) -> [Line]
  ) throws(WriteFailure) {
    if isQuiet { return }
    try header(fields)
    switch form {
    case .json: for row in rows { try json(row) }
    case .tsv: for row in rows { for text in tsv(row) { try line(text) } }
    case .table: try self.lines(lines(rows, width))
    }
  }

  /// Writes the names of TSV's columns once, where they are wanted.
  public func header(_ fields: [String]) throws(WriteFailure) {
    if isQuiet || !wantsHeader || fields.isEmpty { return }
    wantsHeader = false
    try line(fields.map(RowText.escape).joined(separator: "\t"))
  }

  /// Writes lines for a person.
  public func lines(_ lines: [Line]) throws(WriteFailure) {
    if isQuiet { return }
    for text in lines { try line(text.render(width: width, depth: depth)) }
  }

  /// Writes a text as it is, ended by a line feed.
  public func text(_ text: String) throws(WriteFailure) {
    if isQuiet { return }
    try writer.write(text)
    if text.utf8.last != 10 { try writer.newline() }
  }

  /// Writes what a person is to answer behind, at once.
  public func prompt(_ text: String) throws(WriteFailure) {
    try writer.write(text)
    try writer.flush()
  }

  /// Says at a terminal what a table that has no row would show, and what makes a row.
  public func tellEmpty(_ words: String, _ diagnostics: Diagnostics) {
    if form == .table && !isQuiet { diagnostics.tellPerson(words) }
  }

  /// Writes everything that waits.
  public func flush() throws(WriteFailure) { try writer.flush() }

  private func json(_ record: [UInt8]) throws(WriteFailure) {
    try writer.write(json: RowText.line(record), isTerminal: isTerminal)
  }

  private func line(_ text: String) throws(WriteFailure) {
    try writer.write(text)
    try writer.newline()
  }

  /// A row that is no object, or too deep, is shown as it is in the first column.
  private static func cells(_ row: [UInt8], _ columns: [Listing.Column]) -> [Line.Span] {
    let text = RowText.line(row)
    if let value = JSONValue(text), value.isObject {
      return columns.map { $0.cell(value).span }
    }
    let whole = Plain.line(String(decoding: text, as: UTF8.self), limit: Cell.longest)
    return columns.indices.map { Line.Span($0 == 0 ? whole : "") }
  }
}
