import Core
import Records
import Testing

@testable import Screen

/// Columns that stand below each other, within a width.
@Suite struct TableTests {
  private static let columns = [
    Table.Column(title: "ID"), Table.Column(title: "N", isRight: true),
    Table.Column(title: "NAME", gives: true), Table.Column(title: "TEXT", gives: true),
  ]

  private func lines(_ rows: [[String]], width: Int?) -> [String] {
    var table = Table(Self.columns, width: width, depth: .none)
    return table.lines(rows.map { $0.map { Line.Span($0) } })
  }

  @Test func columnsAlign() {
    #expect(
      lines([["1", "10", "ada", "x"], ["22", "5", "be", "yy"]], width: nil) == [
        "ID   N  NAME  TEXT", "1   10  ada   x", "22   5  be    yy",
      ])
  }

  @Test func emptyColumnsAreLeftOut() {
    #expect(
      lines([["1", "", "a", ""], ["2", "", "", ""]], width: nil) == ["ID  NAME", "1   a", "2"])
    #expect(lines([], width: nil) == ["ID  N  NAME  TEXT"])
  }

  @Test(arguments: 1...60)
  func noRowIsTooWide(width: Int) {
    let rows = [
      ["12345", "7", "the name of a thing", "some words that go on and on"],
      ["1", "1234", "漢字漢字漢字漢字漢字漢字", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦"],
      ["x", "1", "e\u{301}\u{301}e\u{301}", "שלום عالم"],
    ]
    for line in lines(rows, width: width) { #expect(CellWidth.of(line) <= width) }
  }

  @Test func theWidestGivesFirst() {
    let rows = [["1", "2", "short", String(repeating: "x", count: 50)]]
    #expect(lines(rows, width: 30)[1] == "1   2  short  " + String(repeating: "x", count: 15) + "…")
  }

  @Test func laterBatchesGoOnBelow() {
    var table = Table(Self.columns, width: nil, depth: .none)
    let first = table.lines([["1", "2", "abc", "d"].map { Line.Span($0) }])
    let second = table.lines([["1", "2", "abcdef", "d"].map { Line.Span($0) }])
    #expect(first.count == 2)
    #expect(second == ["1   2  abcdef  d"])
  }

  @Test func coloursAreForTerminals() {
    var table = Table([Table.Column(title: "")], width: 3, depth: .basic)
    let lines = table.lines([[Line.Span("abcdef", Style(Palette.error))]])
    #expect(lines == ["\u{1b}[31mab…\u{1b}[0m"])
  }
}

/// Members of records as cells.
@Suite struct CellTests {
  @Test func cellsOfAnyTypeAreCells() throws {
    for json in ["null", "7", "\"a\\nb\"", "[1]", "{\"a\":{}}", "true", "1e400"] {
      let value = try JSONValue.parse(text: json)
      for cell in [
        Cell.text(value), Cell.time(value), Cell.milliseconds(value), Cell.money(value),
        Cell.state(value, yes: "y", no: "n"), Cell.status(value), Cell.span(value, value),
      ] {
        #expect(!cell.span.text.contains("\n"))
      }
    }
  }
}
