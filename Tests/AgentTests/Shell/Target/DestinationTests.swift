import Testing

@testable import Shell

@Suite struct DestinationTests {
  @Test func formsOfAHost() throws {
    let cases: [(String, String, Int?, String?)] = [
      ("box", "box", nil, nil),
      ("ada@box", "box", nil, "ada"),
      ("ada@box:2222", "box", 2222, "ada"),
      ("box:22", "box", 22, nil),
      ("[::1]:2222", "::1", 2222, nil),
      ("[::1]", "::1", nil, nil),
      ("fe80::1", "fe80::1", nil, nil),
      ("ssh://ada@box:2222/", "box", 2222, "ada"),
      ("ssh://box", "box", nil, nil),
      ("a@b@box", "box", nil, "a@b"),
    ]
    for (text, name, port, user) in cases {
      let read = try Destination(text)
      #expect(read.name == name && read.port == port && read.user == user, "\(text)")
    }
  }

  @Test func whatIsNoHost() {
    for text in [
      "", "@box", "-oProxyCommand=x", "ada@-x", "-ada@box", "a b", "box\u{1b}", "box:", "box:0",
      "box:65536", "box:ssh", "[::1", "[::1]x", "ssh://box/tmp", "ssh://", "a/b", "b*x", "a,b",
      "!box", "|1|a|b", "box]", "#box",
    ] {
      #expect(throws: (any Error).self, "\(text)") { try Destination(text) }
    }
  }
}
