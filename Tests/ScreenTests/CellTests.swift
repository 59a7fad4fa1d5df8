import Core
import Testing

@testable import Screen

/// Members of records as cells.
@Suite struct CellTests {
  @Test func cellsOfAnyTypeAreCells() throws {
    for json in ["null", "7", "\"a\\nb\"", "[1]", "{\"a\":{}}", "true", "1e400"] {
      let value = try JSONValue.parse(text: json)
      for cell in [
        Cell.text(value), Cell.time(value), Cell.milliseconds(value), Cell.money(value),
        Cell.state(value, yes: "y", no: "n"), Cell.status(value), Cell.span(value, value),
      ] {
        #expect(!cell.text.contains("\n"))
      }
    }
  }
}
