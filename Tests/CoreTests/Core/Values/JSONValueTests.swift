import Testing

@testable import Core

@Suite struct JSONValueTests {
  private func parse(_ text: String) throws -> JSONValue { try JSONValue.parse(text: text) }

  private func parse(_ bytes: [UInt8]) throws -> JSONValue {
    try bytes.withUnsafeBytes { try JSONValue.parse($0) }
  }

  @Test func scalarsHaveTheirKind() throws {
    #expect(try parse("null").isNull)
    #expect(try parse(" true ").bool == true)
    #expect(try parse("false").bool == false)
    #expect(try parse("-12").integer == -12)
    #expect(try parse("4e-7").number == 4e-7)
    #expect(try parse("4e-7").integer == nil)
    #expect(try parse(#""a\"b""#).string == "a\"b")
    #expect(try parse("1").bool == nil)
    #expect(try parse("[]").string == nil)
  }

  @Test func membersKeepTheirOrderAndOutliveTheRecord() throws {
    var record: JSONValue? = try parse(#"{"z":1,"a":{"deep":["x",{"y":"kept"}]},"m":null}"#)
    #expect(record?.members.map(\.name) == ["z", "a", "m"])
    #expect(record?["m"]?.isNull == true)
    #expect(record?["q"] == nil)
    let deep = record?["a"]?["deep"]?.elements.last?["y"]
    record = nil
    #expect(deep?.string == "kept")
  }

  @Test func eitherSkipsNull() throws {
    let record = try parse(#"{"created_at":null,"createdAt":"now"}"#)
    #expect(record[either: "created_at", "createdAt"]?.string == "now")
    #expect(record[either: "nothing"] == nil)
    #expect(record["created_at"]?["inside"] == nil)
  }

  @Test func ofEqualNamesTheLastCounts() throws {
    #expect(try parse(#"{"kind":"a","kind":"b"}"#)["kind"]?.string == "b")
  }

  @Test func nulIsKeptInValuesAndMendedInNames() throws {
    #expect(try parse(#"{"a":"x\u0000y"}"#)["a"]?.string == "x\0y")
    let record = try parse(#"{"a\u0000b" : 1, "c":"x\u0000y"}"#)
    #expect(record["a\u{fffd}b"]?.integer == 1)
    #expect(record["c"]?.string == "x\0y")
  }

  @Test(arguments: [
    ("9223372036854775807", "9223372036854775807"),
    ("9223372036854775808", "9223372036854775808"),
    ("-9223372036854775809", "-9223372036854775809"),
    ("123456789012345678901234567890", "123456789012345678901234567890"),
    ("1e999", "1e999"), ("-1.5E+400", "-1.5E+400"),
  ])
  func largeNumbersKeepTheirDigits(_ spelling: String, _ text: String) throws {
    let record = try parse("{\"before\":1,\"n\":\(spelling),\"after\":[\(spelling)]}")
    #expect(record["n"]?.text == text)
    #expect(record["after"]?.elements.first?.text == text)
    #expect(record["before"]?.integer == 1)
  }

  @Test func halfASurrogatePairBecomesTheReplacement() throws {
    #expect(try parse(#"{"c":"cut \ud83d"}"#)["c"]?.string == "cut \u{fffd}")
    #expect(try parse(#"{"c":"\udc00\ud83d\ude00\ud83dx"}"#)["c"]?.string == "\u{fffd}😀\u{fffd}x")
    #expect(try parse(#"{"\ud800":"\\ud800"}"#)["\u{fffd}"]?.string == "\\ud800")
  }

  @Test func invalidUTF8BecomesTheReplacement() throws {
    let bytes =
      Array(#"{"c":"a"#.utf8) + [0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80] + Array(#"b"}"#.utf8)
    let text = try parse(bytes)["c"]?.string
    #expect(text?.hasPrefix("a\u{fffd}\u{fffd}(") == true)
    #expect(text?.hasSuffix("b") == true)
  }

  @Test(arguments: [
    "", " ", "{", "{\"a\":", "[1,2", "\"abc", "{}x", "{a:1}", "nul", "01", "-", "1.", "+1",
    "{\"a\" 1}",
    "{9223372036854775808:1}", "[09223372036854775808]", "\"\\x\"", "\"\\u12\"", "\"\\", "{'a':1}",
    "[1.e999]", "\u{1}",
  ])
  func faultsAreReported(_ text: String) {
    #expect(throws: Failure.self) { try JSONValue.parse(text: text) }
  }

  @Test func aFaultNamesNothingOfTheText() {
    let fault = #expect(throws: Failure.self) { try parse("{\"a\": secret}") }
    #expect(fault?.reason == "invalid JSON at byte 12")
    let short = #expect(throws: Failure.self) { try parse("{\"a\": ") }
    #expect(short?.reason == "unfinished JSON")
  }

  @Test func nestingIsAFaultAndNoCrash() throws {
    #expect(
      try parse(String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)).count
        == 1)
    let deep = #expect(throws: Failure.self) {
      try parse(String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000))
    }
    #expect(deep?.reason == "nested too deep")
  }

  @Test func compactIsOneLine() throws {
    let text = #"{"a":[1,2.5,"x\ny",null,true],"b":{"c":"\"\\\u0001"}}"#
    #expect(try parse(text).compact() == text)
    #expect(try parse("1.10").compact() == "1.1")
    #expect(
      try parse("[\"" + String(repeating: "a", count: 1000) + "\"]").compact(limit: 10).count < 20)
  }

  @Test func numbersInStringsCount() throws {
    #expect(try parse(#""0.5""#).number == 0.5)
    #expect(try parse(#""nan""#).number == nil)
    #expect(try parse(#""inf""#).number == nil)
    #expect(try parse(#"" 1""#).number == nil)
    #expect(try parse(#""1e999""#).number == nil)
    #expect(try parse("true").number == nil)
  }
}
