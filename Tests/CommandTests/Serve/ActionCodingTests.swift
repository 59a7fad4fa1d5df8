import Core
import Testing

@testable import agent_serve

@Suite("Actions in the two spellings")
struct ActionCodingTests {
  @Test("A live action becomes a row, and keeps its digits and its metadata's bytes")
  func liveToRow() throws {
    let line =
      #"{"kind":"llm_call","guildId":"100000000000000001","userId":null,"content":"a\nb","#
      + #""metadata":{ "a": 1.10, "b":12345678901234567890, "c":"\ud800" },"usdCost":1.10,"#
      + #""level":"warn","createdAt":"2026-03-01T13:00:00.5+01:00","extra":{"x":4e-7}}"#
    let action = try #require(try Fixture.read(line).first)
    #expect(
      Fixture.row(action)
        == #"[{"id":7,"created_at":"2026-03-01T12:00:00.500Z","guild_id":"100000000000000001","#
        + #""channel_id":null,"message_id":null,"user_id":null,"kind":"llm_call","#
        + #""content":"a\nb","metadata":{ "a": 1.10, "b":12345678901234567890, "c":"\ud800" },"#
        + #""usd_cost":1.10,"level":"warn"}]"#)
    #expect(
      Fixture.live(action)
        == #"{"kind":"llm_call","guildId":"100000000000000001","content":"a\nb","#
        + #""metadata":{ "a": 1.10, "b":12345678901234567890, "c":"\ud800" },"usdCost":1.10,"#
        + #""level":"warn","extra":{"x":4e-7},"createdAt":"2026-03-01T12:00:00.500Z","id":7}"#)
  }

  @Test("A row is read too, and its id is not kept")
  func rowToLive() throws {
    let line =
      #"{"id":99,"created_at":"2026-03-01T12:00:00.000Z","guild_id":null,"channel_id":5,"#
      + #""kind":"daily","content":null,"metadata":null,"usd_cost":0}"#
    let action = try #require(try Fixture.read(line).first)
    #expect(
      Fixture.live(action)
        == #"{"kind":"daily","channelId":"5","usdCost":0,"createdAt":"2026-03-01T12:00:00.000Z","id":7}"#
    )
  }

  @Test("Ids and contents that are not texts become what the dashboard makes of them")
  func otherValues() throws {
    let action = try #require(
      try Fixture.read(
        #"{"kind":"a","guildId":0,"channelId":false,"messageId":1.50,"userId":true,"content":[{},null]}"#
      ).first)
    #expect(action.guild == nil && action.channel == nil)
    #expect(action.message == "1.5" && action.user == "true")
    #expect(action.content == "[object Object],")
    #expect(try Fixture.read(#"{"kind":"a","content":""}"#).first?.content == nil)
  }

  @Test("Line ends between the tokens of posted JSON never reach a data line")
  func oneLine() throws {
    let action = try #require(
      try Fixture.read("{\n \"kind\": \"a\",\r\n \"metadata\": {\n  \"x\": [1,\n 2]\n }\n}").first)
    #expect(action.metadata == #"{  "x": [1, 2] }"#)
    #expect(!Frame.action(StoredAction(id: 1, action: action)).bytes.dropLast(2).contains(13))
  }

  @Test("A row's content is cut at 2000 UTF-16 units, a live one's is not")
  func cut() throws {
    let long = String(repeating: "x", count: 1999) + "🌿 end"
    let action = Fixture.action(content: long)
    #expect(Fixture.row(action).contains(String(repeating: "x", count: 1999) + "\u{fffd}\""))
    #expect(Fixture.live(action).contains("🌿 end"))
    let fits = String(repeating: "é", count: 1998) + "🌿"
    #expect(Fixture.row(Fixture.action(content: fits)).contains("🌿\""))
    #expect(Fixture.row(Fixture.action(content: fits + "y")).contains("🌿\""))
  }

  @Test("Hostile text is escaped as JSON.stringify does")
  func escapes() {
    #expect(
      JSONText.quoted("\u{0}\u{1b}\u{7f}\"\\/\n\r\t\u{8}\u{c}\u{2028}é")
        == "\"\\u0000\\u001b\u{7f}\\\"\\\\/\\n\\r\\t\\b\\f\u{2028}é\"")
  }

  @Test(
    "Numbers are written as JavaScript writes them",
    arguments: [
      (0.0, "0"), (2, "2"), (0.0754904, "0.0754904"), (4e-7, "4e-7"), (1e21, "1e+21"),
      (-3.5, "-3.5"), (.infinity, "0"), (0.1 + 0.2, "0.30000000000000004"),
      (1e16, "10000000000000000"), (1.5e20, "150000000000000000000"), (1e-5, "0.00001"),
    ])
  func numbers(_ value: Double, _ text: String) {
    #expect(JSONText.number(value) == text)
  }

  @Test(
    "What is not an action is told in words",
    arguments: [
      (#"{"content":"x"}"#, "no kind"), (#"{"kind":""}"#, "no kind"),
      (#"{"kind":7}"#, "kind is not a text"), (#"{"kind":"a","createdAt":"noon"}"#, "createdAt"),
      (#"{"kind":"a","createdAt":17}"#, "createdAt"), (#"{"kind":}"#, "value is missing"),
      (#"{"kind":"a"} x"#, "after the value"), (#"17"#, "not a JSON object"),
      (#"[{"kind":"a"},{"no":1}]"#, "element 2: no kind"),
    ])
  func faults(_ line: String, _ words: String) {
    let fault = #expect(throws: Failure.self) { try Fixture.read(line) }
    #expect(fault?.reason.contains(words) == true, "\(fault?.reason ?? "")")
  }

  @Test("Records of other kinds are passed over in silence")
  func others() throws {
    #expect(try Fixture.read(#"{"event":"stats_update","id":"","data":{"stats":{}}}"#) == [])
    #expect(try Fixture.read(#"{"type":"open","url":"http://x/","time":"..."}"#) == [])
    #expect(try Fixture.read("  \t\r") == [])
  }

  @Test("A bad byte costs no more than itself")
  func invalidUTF8() throws {
    var line = Array(#"{"kind":"a","content":"x"#.utf8)
    line += [0xff]
    line += Array(#"y"}"#.utf8)
    var reader = RecordReader(now: Timestamp(seconds: 0), isUnique: false)
    let action = try line.withUnsafeBytes { try reader.read($0) }.first?.action
    #expect(action?.content == "x\u{fffd}y")
  }

  @Test("Numbers that a store cannot hold are not a cost")
  func costs() throws {
    #expect(try Fixture.read(#"{"kind":"a","usdCost":1e999}"#).first?.usd == 0)
    #expect(try Fixture.read(#"{"kind":"a","usdCost":"0.25"}"#).first?.usd == 0.25)
    #expect(try Fixture.read(#"{"kind":"a","usdCost":{}}"#).first?.cost == nil)
  }
}
