import Core
import Records
import Testing

@Suite struct RecordTextTests {
  @Test func membersStandInTheOrderTheyCame() {
    let record = RecordText(.gap).string("a", "x\"y").number("n", -3).bool("b", true)
      .stringOrNull("after", nil).stringOrNull("before", "z\n").json("list", "[1,2]")
      .time(Timestamp(seconds: 0))
    #expect(
      record.text
        == #"{"type":"gap","a":"x\"y","n":-3,"b":true,"after":null,"before":"z\n","list":[1,2],"#
        + #""time":"1970-01-01T00:00:00.000Z"}"#)
    #expect(record.line == record.bytes + [10])
  }

  @Test func whatIsNotThereIsLeftOut() {
    #expect(RecordText().text == "{}")
    #expect(
      RecordText().string("a", nil).json("b", nil).json("c", bytes: nil).time(nil).members([])
        .text == "{}")
    #expect(
      RecordText().members(Array(#""a":1"#.utf8)).bool("b", false).text == #"{"a":1,"b":false}"#)
  }

  @Test func listsNumbersAndRawValues() {
    let record = RecordText().strings("a", ["x", "\""]).strings("b", nil).list("c", [])
      .number("d", 1.5).number("e", Double.nan).number("f", nil as Int?).bool("g", nil)
      .json("h", bytes: Array("[1,\n2]".utf8))
    #expect(record.text == #"{"a":["x","\""],"c":[],"d":1.5,"h":[1, 2]}"#)
  }

  @Test func noMembersLeaveNoComma() {
    #expect(RecordText().number("a", 1).members([]).text == #"{"a":1}"#)
  }

  @Test func whatIsNeverShownIsEscaped() {
    #expect(RecordText(.end).string("reason", "a\u{1b}[0m").text.contains(#""a\u001b[0m""#))
  }
}
