import Core
import Testing

@testable import agent_serve

/// What is said at the gateway, piece by piece.
@Suite struct GatewayTextTests {
  /// The text by the rule of clients, from what `take` gives after each piece.
  private func followed(_ pieces: [[UInt8]]) -> (seen: String, whole: String) {
    var reply = ReplyText()
    var seen = ""
    for piece in pieces {
      reply.add(piece)
      let (text, replaces) = reply.take()
      seen = replaces ? text : seen + text
      #expect(reply.takenText == seen)
    }
    reply.finish()
    let (text, replaces) = reply.take()
    seen = replaces ? text : seen + text
    return (seen, reply.text)
  }

  @Test func aReplyCutAnywhereIsTheSame() {
    let texts = [
      "plain", "gr\u{fc}\u{df}e \u{1f41a}\u{1f3fd}!", "a\n\nb\n\n", "\n\n", "", "\nfirst",
      "draft\u{c}better\n", "\u{c}\u{c}x\n", "x\n\u{c}",
    ]
    let ends = [
      "plain", "gr\u{fc}\u{df}e \u{1f41a}\u{1f3fd}!", "a\n\nb", "", "", "\nfirst", "better",
      "x", "",
    ]
    for (text, end) in zip(texts, ends) {
      let bytes = Array(text.utf8)
      for first in 0...bytes.count {
        for second in first...bytes.count {
          let (seen, whole) = followed([
            Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...]),
          ])
          #expect(seen == end && whole == end, "\(text.debugDescription) at \(first), \(second)")
        }
      }
      let (seen, _) = followed(bytes.map { [$0] })
      #expect(seen == end)
    }
  }

  @Test func whatIsNotUTF8IsMended() {
    #expect(followed([[0x61, 0xff, 0x62]]).whole == "a\u{fffd}b")
    #expect(followed([[0xe2, 0x82]]).whole == "\u{fffd}")
    #expect(followed([[0xe2], [0x82], [0xac]]).whole == "\u{20ac}")
    #expect(followed([[0xf0, 0x9f], [0x61]]).whole == "\u{fffd}a")
    #expect(followed([[0x80], [0x80]]).whole == "\u{fffd}\u{fffd}")
  }

  @Test func sessionKeys() throws {
    #expect(try SessionKey("main") == .main)
    #expect(try SessionKey("agent:main:main") == .main)
    #expect(try SessionKey("agent:main:a:b").text == "agent:main:a:b")
    for text in ["agent:other:main", "agent:main:", "agent:main", "agent:", "a\nb", "a\u{202e}b"] {
      #expect(throws: GatewayFault.self, "\(text)") { try SessionKey(text) }
    }
  }

  @Test func aRequestHasAFormAndNoMore() throws {
    func read(_ text: String) throws -> GatewayRequest {
      try GatewayRequest(GatewayRequest.value(Array(text.utf8)))
    }
    let good = try read(#"{"type":"req","id":"1","method":"health","params":{"a":[1]}}"#)
    #expect(good.id == "1" && good.method == "health" && good.params?["a"]?.count == 1)
    for bad in [
      "", "{", "[]", "null", #"{"type":"req","id":1,"method":"health"}"#,
      #"{"type":"req","id":"","method":"health"}"#, #"{"type":"res","id":"1","method":"health"}"#,
      #"{"type":"req","id":"1"}"#, #"{"type":"req","id":"1","method":"health","x":1}"#,
      #"{"type":"req","id":"1","method":"health",}"#,
    ] {
      #expect(throws: GatewayFault.self, "\(bad)") { try read(bad) }
    }
    #expect(GatewayRequest.id(of: try JSONValue.parse(text: #"{"id":"7","x":1}"#)) == "7")
    #expect(GatewayRequest.id(of: try JSONValue.parse(text: #"{"id":7}"#)) == "invalid")
    #expect(GatewayRequest.id(of: nil) == "invalid")
  }

  @Test func theFirstDecisionCounts() {
    let now = Timestamp.now()
    var approvals = Approvals()
    for number in 0..<3 {
      approvals.add(
        Approval(
          id: "\(number)", request: Array("{}".utf8), allowed: [.once, .deny], created: now,
          expires: now))
    }
    #expect(approvals.pending.map(\.id) == ["0", "1", "2"])
    let decisions: [(String, ApprovalDecision?)] = [
      ("1", .deny), ("1", .once), ("2", nil), ("none", .once),
    ]
    for (id, decision) in decisions { approvals.settle(id, decision) }
    #expect(approvals.find("1")?.decision == .deny)
    #expect(approvals.find("2")?.isPending == false)
    #expect(approvals.pending.map(\.id) == ["0"])
    for number in 3..<500 {
      approvals.add(
        Approval(id: "\(number)", request: [], allowed: [], created: now, expires: now))
      approvals.settle("\(number)", .once)
    }
    #expect(approvals.find("0")?.isPending == true)
    #expect(approvals.find("3") == nil && approvals.find("499")?.decision == .once)
  }

  @Test func scopesReachEachOther() {
    #expect(Scope.read.isReached(by: [.write]) && !Scope.write.isReached(by: [.read]))
    #expect(Scope.allCases.allSatisfy { $0.isReached(by: [.admin]) })
    #expect(!Scope.approvals.isReached(by: [.read, .write, .pairing]))
  }

  @Test func jsonLeavesOutWhatIsAbsent() {
    let node: JSONNode = [
      "a": 1, "b": .absent, "c": nil, "d": ["x", true, .list([])], "e": .raw(Array("{}".utf8)),
      "f\"": "\u{1b}",
    ]
    #expect(
      String(decoding: node.bytes, as: UTF8.self)
        == #"{"a":1,"c":null,"d":["x",true,[]],"e":{},"f\"":"\u001b"}"#)
  }

  @Test func responsesTakeTheLastWordsOfTheUser() throws {
    func message(_ input: String) throws -> String {
      try ResponsesRequest(Array(#"{"model":"openclaw","input":\#(input)}"#.utf8)).message
    }
    #expect(try message(#""hello""#) == "hello")
    #expect(
      try message(
        #"[{"type":"message","role":"user","content":"a"},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]},{"type":"message","role":"assistant","content":"c"},{"type":"reasoning"}]"#
      ) == "b")
    for bad in ["[]", "1", "{}", #"[{"type":"message","role":"system","content":"x"}]"#] {
      #expect(throws: GatewayFault.self) { try message(bad) }
    }
  }
}
