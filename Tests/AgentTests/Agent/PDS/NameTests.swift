import Testing

@testable import Agent

/// The rules of the AT Protocol for names, each at its limits and one step over them.
struct PDSNameTests {
  /// So many letters.
  static func word(_ count: Int, _ letter: Character = "q") -> String {
    String(repeating: letter, count: count)
  }

  /// Labels of at most 63 letters, with the dots between them so long as wanted.
  static func domain(_ count: Int, tail: String) -> String {
    var text = tail
    while text.utf8.count < count {
      let left = count - text.utf8.count - 1
      text = word(left > 64 ? 63 : left == 64 ? 62 : left) + "." + text
    }
    return text
  }

  /// What no name of any kind has in it.
  static let strangers = [
    " ", "\t", "\n", "\r\n", "\u{0}", "\u{7f}", "\u{a0}", "\u{200b}", "\u{202e}", "é", "e\u{301}",
    "ß", "ı", "ſ", "\u{212a}", "Ａ", "。", "．", "二", "🦉", "\\", "\"", "'", "`", "<", "|", "^",
    "{", "}", "[", "]", "&", ";", ",", "$", "!", "*", "(", "+", "=", "/", "?", "#", "@",
  ]

  private func refuses(
    _ name: (String) -> (any CustomStringConvertible)?, in parts: (String, String)
  ) {
    for stranger in Self.strangers {
      for text in [
        stranger, stranger + parts.0 + parts.1, parts.0 + stranger + parts.1,
        parts.0 + parts.1 + stranger,
      ] {
        #expect(name(text) == nil, "\(text.debugDescription)")
      }
    }
  }

  // MARK: - Handles

  @Test(
    arguments: [
      "ada.test", "Ada.Test", "ADA.TEST", "a.b", "a.b.c.d.e.f.g", "9.lives", "007.agents.uk",
      "0.1.2.three", "x--y.zz", "xn--80ak6aa92e.com", "w-w.w-w", "a1.b2", "q.x9", "q.x-9",
      "dot.did", "com.com.com", "0x1f.hex", "1-2-3.go", "q.local", "q.invalid",
      "\(word(63)).io", "q.\(word(63))", domain(253, tail: "org"), domain(252, tail: "org"),
    ])
  func takesHandle(_ text: String) { #expect(Handle(text)?.description == text) }

  @Test(
    arguments: [
      "", ".", "..", "ada", "ada.", ".test", ".ada.test", "ada.test.", "ada..test", "-a.test",
      "a-.test", "a.-b.test", "a.b-.test", "ada.-x", "ada.x-", "ada.7", "ada.7up", "10.0.0.7",
      "ada.1e3", "a_da.test", "_ada.test", "ada.te_st", "ada%2etest", "ada:443.test", "did:plc:a.b",
      "at://ada.test", "https://ada.test", "ada.test:443", "[::1]", "\(word(64)).io",
      "q.\(word(64))", domain(254, tail: "org"), domain(300, tail: "org"), word(253),
    ])
  func refusesHandle(_ text: String) { #expect(Handle(text) == nil) }

  @Test func handlesAreASCII() { refuses(Handle.init, in: ("ada", "b.test")) }

  // MARK: - DIDs

  @Test(
    arguments: [
      "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "did:web:ada.test", "did:web:ada.test:people:ada",
      "did:web:127.0.0.1%3A9627", "did:key:zQ3shokFTS3brHcDQrn82RUDfCZ", "did:a:b", "did:a:B",
      "did:abcdefghijklmnopqrstuvwxyz:0", "did:a:.", "did:a:-", "did:a:_", "did:a::a",
      "did:a:::::a",
      "did:a:%%a", "did:a:%zz", "did:did:did:did", "did:a:" + word(2042),
    ])
  func takesDID(_ text: String) { #expect(DID(text)?.description == text) }

  @Test(
    arguments: [
      "", "d", "did", "did:", "did::", "did::a", "did:a", "did:a:", "did:a::", "did:a:b:",
      "did:a:b%", "did:a:%", "did:a:b%3A:", "did:A:b", "did:aB:b", "did:a1:b", "did:a-b:c",
      "did:a_b:c", "did:é:b", "DID:a:b", "Did:a:b", "dId:a:b", "di:a:b", "didd:a:b", ":did:a:b",
      "did.a.b", "did/a/b", "did:a:b/c", "did:a:b?c=d", "did:a:b#c", "did:a:b@c", "did:a:b~c",
      "did:a:b+c", "did:a:" + word(2043), "did:" + word(3000) + ":a",
    ])
  func refusesDID(_ text: String) { #expect(DID(text) == nil) }

  @Test func didsAreASCII() { refuses(DID.init, in: ("did:web:a", "b")) }

  // MARK: - Names of collections

  @Test(
    arguments: [
      "dev.joelclaw.task.item", "a.b.c", "A.B.C", "a.b.C", "z9.y8.x7", "a.9.b", "a.0b.c", "a.b9.c9",
      "org.x-y.z", "o-r-g.x--y.z", "xn--p1ai.xn--e1afmkfd.vowel", "no.name.X", "one.two.tHREE",
      "\(word(63)).b.c", "a.\(word(63)).c", "a.b.\(word(63))", "a.b.q\(word(62, "7"))",
      domain(253, tail: "com") + ".n", domain(253, tail: "com") + "." + word(63),
    ])
  func takesNSID(_ text: String) { #expect(NSID(text)?.description == text) }

  @Test(
    arguments: [
      "", ".", "..", "...", "a", "a.b", "a.b.", ".a.b", ".a.b.c", "a.b.c.", "a..c", "a..b.c",
      "7.b.c", "7a.b.c", "-a.b.c", "a-.b.c", "a.-b.c", "a.b-.c", "a.b.-c", "a.b.c-", "a.b.c-d",
      "a.b.7", "a.b.7c", "a.b.c_d", "a_b.c.d", "a.b_c.d", "a.b.c:d", "a.b.c#main", "a.b.c.*",
      "a.*.c",
      "a.b.c/d", "at://a.b.c", "a.b.c%64", "\(word(64)).b.c", "a.\(word(64)).c", "a.b.\(word(64))",
      domain(254, tail: "com") + ".n", domain(254, tail: "com") + "." + word(63),
      domain(253, tail: "com") + "." + word(64),
    ])
  func refusesNSID(_ text: String) { #expect(NSID(text) == nil) }

  @Test func namesOfCollectionsAreASCII() { refuses(NSID.init, in: ("com.example.a", "b")) }

  @Test func namesOfCollectionsKeepTheirCase() {
    #expect(NSID("com.example.fooBar") != NSID("com.example.foobar"))
  }

  // MARK: - Keys

  @Test(
    arguments: [
      "a", "Z", "0", "-", "_", "~", ":", "...", "....", ".a", "a.", "..a", "a..", "-.", "~.", "::",
      "self", "2026-11-20", "12:30:00", "3mabcdefghijk", "ada.test", "a_b-c.d~e:f",
      word(512), word(512, "."), word(511) + ":",
    ])
  func takesKey(_ text: String) { #expect(RecordKey(text)?.description == text) }

  @Test(arguments: [
    "", ".", "..", "%", "a%2Fb", "a%", "a/", "/a", "a/b", "../a", word(513), word(9000),
  ])
  func refusesKey(_ text: String) { #expect(RecordKey(text) == nil) }

  @Test func keysAreASCII() { refuses(RecordKey.init, in: ("a", "b")) }

  @Test func keysKeepTheirCase() { #expect(RecordKey("Self") != RecordKey("self")) }
}
