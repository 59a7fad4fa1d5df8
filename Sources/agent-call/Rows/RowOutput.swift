import CLibc
import Core
import Screen

/// Standard output of agent-call: records as JSON, as a table or as TSV.
final class RowOutput {
  /// A line of a table of one record: a name and what is to be said of it.
  typealias Fact = (name: String, value: Line.Span)

  let form: CallOptions.Form
  private let writer = RecordWriter()
  private let isTerminal: Bool
  private let isQuiet: Bool
  private let depth: ColourDepth
  private let width: Int?
  private var table: Table?

  /// - Parameter options: form, width and colour.
  init(_ options: CallOptions) {
    isTerminal = isatty(1) == 1
    isQuiet = options.quiet
    form = options.form ?? (isTerminal ? .table : .json)
    depth = ColourDepth.detect(
      options.colour, isTerminal: isTerminal, environment: Process.environment)
    width = Self.width(options.width, isTerminal)
  }

  private static func width(_ given: Int?, _ isTerminal: Bool) -> Int? {
    if let given { return given == 0 ? nil : given }
    var columns: Int32 = 0
    var rows: Int32 = 0
    return isTerminal && clibc_window_size(1, &columns, &rows) ? Int(columns) : nil
  }

  /// Writes records of a list; the next batch of the same list goes on below.
  func list(_ rows: [[UInt8]], _ listing: Listing) throws(WriteFailure) {
    if isQuiet || rows.isEmpty { return }
    switch form {
    case .json: for row in rows { try json(row) }
    case .tsv: for row in rows { try line(RowText.tsv(row, fields: listing.fields)) }
    case .table:
      let columns = listing.columns
      var table =
        self.table
        ?? Table(
          columns.map { Table.Column(title: $0.title, isRight: $0.isRight, gives: $0.gives) },
          width: width, depth: depth)
      for text in table.lines(rows.map { Self.cells($0, columns) }) { try line(text) }
      self.table = table
    }
  }

  /// Writes one record.
  ///
  /// - Parameters:
  ///   - record: its bytes.
  ///   - facts: what a table says of it; nil for a line a leaf.
  func record(_ record: [UInt8], facts: [Fact]? = nil) throws(WriteFailure) {
    if isQuiet { return }
    switch form {
    case .json: try json(record)
    case .tsv:
      for leaf in Leaves.of(RowText.line(record)) {
        let value = RowText.escape(leaf.text)
        try line(leaf.name.isEmpty ? value : RowText.escape(leaf.name) + "\t" + value)
      }
    case .table:
      let facts =
        facts
        ?? Leaves.of(RowText.line(record)).map { leaf in
          (leaf.name, Line.Span(Plain.line(leaf.text, limit: Cell.longest)))
        }
      var table = Table(
        [Table.Column(title: ""), Table.Column(title: "", gives: true)], width: width, depth: depth)
      let rows = facts.map { [Line.Span(Plain.line($0.name, limit: 200), .dim), $0.value] }
      for text in table.lines(rows) { try line(text) }
    }
  }

  /// Writes everything that waits.
  func flush() throws(WriteFailure) { try writer.flush() }

  private func json(_ record: [UInt8]) throws(WriteFailure) {
    let text = RowText.line(record)
    if isTerminal {
      var shown = ByteBuffer()
      text.withUnsafeBytes { JSONQuote.appendVisible(json: $0, to: &shown) }
      try writer.writeLine(shown.bytes)
    } else {
      try writer.write(text)
      try writer.newline()
    }
  }

  private func line(_ text: String) throws(WriteFailure) {
    try writer.write(text)
    try writer.newline()
  }

  /// The cells of a row; one that is no object, or too deep to look into, is
  /// shown as it is in the first column.
  private static func cells(_ row: [UInt8], _ columns: [Listing.Column]) -> [Line.Span] {
    let text = RowText.line(row)
    if let value = try? text.withUnsafeBytes({ try JSONValue.parse($0) }), value.isObject {
      return columns.map { $0.cell(value) }
    }
    let whole = Plain.line(String(decoding: text, as: UTF8.self), limit: Cell.longest)
    return columns.indices.map { Line.Span($0 == 0 ? whole : "") }
  }
}
