import Core
import Testing
import Turns
import Web

@testable import Agent

/// Where the parts of a joelclaw system are, and by what a gateway is known.
@Suite struct JoelclawPlacesTests {
  @Test func aRedisIsReadFromItsURL() throws {
    for (url, port, number, display): (String, Int, Int, String) in [
      ("redis://Box", 6379, 0, "redis://box:6379"), ("redis://box:80/", 80, 0, "redis://box:80"),
      ("rediss://box:443/3", 443, 3, "rediss://box:443/3"),
      ("redis://[::1]:7000/12", 7000, 12, "redis://[::1]:7000/12"),
    ] {
      let place = try RedisPlace(url)
      #expect(place.port == port)
      #expect(place.number == number)
      #expect(place.display == display)
    }
    #expect(try RedisPlace("redis://[::1]").name == "::1")
    for url in [
      "redis://", "redis:box", "http://box", "box", "redis://u:hush@box", "redis://:hush@box",
      "redis://u@box", "redis://box/two", "redis://box/-1", "redis://box/2/x", "redis://box/?db=2",
      "redis://box?db=2", "redis://box#2", "redis://box/1234567",
    ] {
      let error = #expect(throws: Failure.self, "\(url)") { try RedisPlace(url) }
      #expect(error?.message.contains("hush") == false)
    }
  }

  @Test func aGatewayIsKnownByHostAndPort() throws {
    func name(_ url: String) throws -> String { PromptBook.name(of: try WebAddress(socket: url)) }
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1.2.3", "[::1]"] {
      #expect(try name("ws://\(host):3018/any/path?x=1") == "localhost:3018", "\(host)")
    }
    #expect(try name("wss://box.example/") == "box.example:443")
    #expect(try name("ws://localhost:3019") == "localhost:3019")
  }

  @Test func anEventIsReadHoweverDeepItNests() throws {
    let deep = String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000)
    func event(_ text: String) throws -> JoelclawEvent {
      try Array(text.utf8).withUnsafeBytes { try JoelclawEvent($0) }
    }
    guard
      case .text("a\n") = try event(#"{"type":"text_delta","delta":"a\n","x":\#(deep)}"#),
      case .turnEnd = try event(#"{"type":"turn_end","x":\#(deep)}"#),
      case .other = try event(#"{"type":"news","x":\#(deep)}"#)
    else { return #expect(Bool(false)) }
    for type in ["status", "error", "tool_call", "tool_result"] {
      let frame = #"{"type":"\#(type)","x":\#(deep)}"#
      #expect(throws: Failure.self) { _ = try event(frame) }
    }
  }

  @Test func errorsOfAnyFormAreAFault() throws {
    for (text, fault): (String, String?) in [
      (#"{"data":{}}"#, nil), (#"{"errors":null}"#, nil), (#"{"errors":[]}"#, nil),
      (#"{"errors":"boom"}"#, "boom"), (#"{"errors":{"message":"bad"}}"#, "bad"),
      (#"{"errors":[{"message":"bad"}]}"#, "bad"), (#"{"errors":[7]}"#, "7"),
      (#"{"errors":[{}]}"#, "an error without words"),
    ] {
      #expect(InngestText.fault(try JSONValue.parse(text: text)) == fault, "\(text)")
    }
  }
}
