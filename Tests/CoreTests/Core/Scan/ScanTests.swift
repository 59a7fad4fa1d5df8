import TestSupport
import Testing

@testable import Core

@Suite struct ScanMembersTests {
  @Test func walksEveryMemberOfTheTopLevel() {
    #expect(
      members(#" {"a":1 , "b" : "x\"}" ,"c":{"a":[2,{"d":"]"}]},"a":null} "# + "\r")
        == #"a=1;b="x\"}";c={"a":[2,{"d":"]"}]};a=null;"#)
    #expect(members("{}") == "")
    #expect(members(#"{"\\":"\\","a":"\\\""}"#) == #"\\="\\";a="\\\"";"#)
  }

  @Test(arguments: [
    ("", "no value"), ("  ", "no value"), ("word", "not a JSON object"),
    ("[1]", "not a JSON object"), (#""text""#, "not a JSON object"),
    ("{", "unbalanced brackets"), (#"{"a":1"#, "unbalanced brackets"),
    (#"{"a":[1,2}"#, "unbalanced brackets"), (#"{"a":1]"#, "unbalanced brackets"),
    (#"{"a":{"b":1}"#, "unbalanced brackets"), (#"{"a":"b}"#, "unterminated string"),
    (#"{"a":"b\"}"#, "unterminated string"), (#"{"a"#, "unterminated string"),
    (#"{"a":1} x"#, "text after the value"), (#"{"a":1}{"#, "text after the value"),
    (#"{"a" 1}"#, "a colon is missing"), (#"{"a":1 "b":2}"#, "a comma is missing"),
    (#"{a:1}"#, "a key is missing"), (#"{"a":1,}"#, "a key is missing"),
    (#"{"a":}"#, "a value is missing"), (#"{"a":nul}"#, "a word without quotes"),
    (#"{"a":01}"#, "not a number"), (#"{"a":1.}"#, "not a number"),
  ])
  func saysWhatIsWrong(text: String, reason: String) {
    #expect(members(text) == reason)
  }

  @Test func everyCutOfAnObjectIsAFault() {
    let text = #"{"a":"x\\\"","b":[{"c":null}],"d":-1.5e+3}"#
    for length in 0..<text.utf8.count {
      let reason = members(String(text.prefix(length)))
      #expect(!reason.contains("="), "cut at \(length)")
    }
  }

  @Test func findsAKeyAfterItsEscapesAndTakesTheLast() throws {
    let text = #"{"kind":"a","metadata":{"kind":"b"},"\u006bind":"c","text":"\"kind\":\"d\""}"#
    let value = try withBytes(text) { try ScanMembers.value(of: "kind", in: $0).string }
    #expect(value == "c")
  }

  @Test func walksElements() throws {
    let found = try withBytes(#" [1,{"a":[2]} , "]",null] "#) { bytes in
      var elements = try ScanElements(bytes)
      var found: [String] = []
      while try elements.next() {
        found.append(String(decoding: elements.value.bytes, as: UTF8.self))
      }
      return found
    }
    #expect(found == ["1", #"{"a":[2]}"#, #""]""#, "null"])
  }

  @Test func crossesANestingOfAMillion() {
    let depth = 1_000_000
    let deep =
      String(repeating: #"{"a":["#, count: depth) + "1" + String(repeating: "]}", count: depth)
    #expect(members(#"{"deep":\#(deep)}"#).hasPrefix("deep={"))
    #expect(fault(deep) == nil)
    #expect(fault(String(deep.dropLast())) == .unbalancedBrackets)
    #expect(members(#"{"deep":\#(deep.dropLast())]}"#) == "unbalanced brackets")
  }

  /// Quotes and backslashes in bulk must not be counted again and again.
  @Test(.timeLimit(.minutes(1))) func isLinearInHostileStrings() {
    let slashes = String(repeating: #"\\"#, count: 4_000_000)
    let quotes = String(repeating: #"\""#, count: 4_000_000)
    #expect(members(#"{"a":"\#(slashes)","b":"\#(quotes)"}"#).utf8.count > 16_000_000)
  }
}

@Suite struct ScanStringTests {
  @Test(arguments: [
    (#"plain"#, "plain"), (#"a\nb\t\"\\\/\b\f\r"#, "a\nb\t\"\\/\u{8}\u{c}\r"),
    (#"\u00e4\u00E4"#, "ää"), (#"\ud83d\ude00!"#, "😀!"), (#"\u0000"#, "\0"),
    (#"\ud83d"#, "\u{fffd}"), (#"\ude00x"#, "\u{fffd}x"), (#"\ud83d\ud83d\ude00"#, "\u{fffd}😀"),
    (#"\ud83d\n"#, "\u{fffd}\n"), (#"\u2028"#, "\u{2028}"), (#"\x"#, #"\x"#),
    (#"\u12g4"#, #"\u12g4"#), (#"\u12"#, #"\u12"#), (#"\\u0041"#, #"\u0041"#),
  ])
  func decodesEscapes(raw: String, text: String) {
    #expect(unescaped(raw) == Array(text.utf8))
  }

  @Test func leavesInvalidBytesAlone() {
    let raw: [UInt8] = [0xff, 0x5c, 0x6e, 0xc3, 0x80, 0xfe]
    #expect(unescaped(raw) == [0xff, 0x0a, 0xc3, 0x80, 0xfe])
  }
}

@Suite struct ScanValidatorTests {
  @Test(arguments: [
    "1", " null ", #""a""#, "[]", "{}", "[ ]", "{ }", "[1, 2]", #"{"a":[{}],"b":{"c":-0.5E-7}}"#,
    "\r\n\t 0", #"["\u00e4\/\ud800"]"#, "1e400", #"{"":""}"#,
  ])
  func acceptsValues(text: String) { #expect(fault(text) == nil) }

  @Test(arguments: [
    "", " ", "1 2", "nul", "nulll", "[1,]", "[,1]", "[1 2]", "{", "[", "]", "}", "[}", "{]",
    #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "{1:1}", "01", "-", "+1", ".5", "1.", "1e", "1e+",
    "NaN", "True", #""a"#, #""\x""#, #""\u12g4""#, #""\"#, "\"a\u{1}\"", "\"a\tb\"", "'a'", "// c",
    "[1]]", "\u{feff}1", "\u{a0}1", #"{"a":1 "b":2}"#, #"{"a"::1}"#, "[:]", ":", ",",
  ])
  func refusesTheRest(text: String) { #expect(fault(text) != nil) }
}
