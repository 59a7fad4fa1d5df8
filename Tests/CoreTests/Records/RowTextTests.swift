import Testing

@testable import Core
@testable import Records

/// Records as lines, fields and leaves.
@Suite struct RowTextTests {
  private func tsv(_ row: String, _ fields: String...) -> String {
    RowText.tsv(Array(row.utf8), fields: fields)
  }

  @Test func linesKeepTheirBytes() {
    func line(_ text: String) -> String {
      String(decoding: RowText.line(Array(text.utf8)), as: UTF8.self)
    }
    #expect(
      line("{\"a\": 1.10,\r\n  \"b\":\"\\u00e9\"}\n") == "{\"a\": 1.10,    \"b\":\"\\u00e9\"}")
    #expect(line(" \t7 ") == "7")
    #expect(line(" ") == "")
    let broken = RowText.line([0x22, 0xff, 0x22])
    #expect(String(decoding: broken, as: UTF8.self) == "\"\u{fffd}\"")
  }

  @Test func fieldsAreInOrderAndEscaped() {
    let row = #"{"b":"x\ty\nz\\","a":1.10,"n":null,"o":{"k":["\u001b"]},"t":true,"h":"\u001b[31m"}"#
    #expect(tsv(row, "a", "b", "none", "n", "t") == "1.10\tx\\ty\\nz\\\\\t\t\ttrue")
    #expect(tsv(row, "o", "h") == #"{"k":["\\u001b"]}"# + "\t\\e[31m")
    #expect(tsv(#"{"a":1,"a":2}"#, "a") == "2")
    #expect(tsv(#"{"a":5}"#, "a") == "5")
    #expect(tsv(#"{"a":12345678901234567890123}"#, "a") == "12345678901234567890123")
    #expect(tsv("[1,2]", "a") == "[1,2]")
    #expect(tsv("\"x\\ty\"", "a") == "x\\ty")
    #expect(tsv("null", "a", "b") == "")
  }

  @Test func leavesHavePlaces() {
    let record = #"{"a":{"b":{"c":1.50},"d":[1,{"x":2}]},"e":"t","f":null,"g":{}}"#
    let leaves = Leaves.of(Array(record.utf8))
    #expect(leaves.map(\.name) == ["a.b.c", "a.d", "e", "f"])
    #expect(leaves.map(\.text) == ["1.50", #"[1,{"x":2}]"#, "t", ""])
    #expect(Leaves.of(Array("true".utf8)).map(\.text) == ["true"])
    let deep =
      String(repeating: "{\"a\":", count: 100_000) + "1" + String(repeating: "}", count: 100_000)
    let found = Leaves.of(Array(deep.utf8))
    #expect(found.count == 1)
    #expect(found[0].name.count < 100)
  }
}
