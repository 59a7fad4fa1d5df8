import Testing

@testable import Agent

/// The rules of the AT Protocol for names, each with what keeps to it and what does not.
struct PDSNameTests {
  private static let label63 = String(repeating: "o", count: 63)

  @Test(
    arguments: [
      "com.example.fooBar", "net.users.bob.ping", "a.b.c", "a-0.b-1.c", "a0.b1.cc",
      "cn.8.lex.stuff",
      "test.12345.record", "a01.thing.record",
      "xn--fiqs8s.xn--fiqa61au8b7zsevnm8ak20mc4a87e.record",
      "com.\(label63).foo", "com.example.\(label63)", "com.example.f00", "COM.Example.fooBar",
      "com." + String(repeating: "middle.", count: 35) + "foo",
    ])
  func takesNSID(_ text: String) { #expect(NSID(text)?.description == text) }

  @Test(
    arguments: [
      "", "com.example", "com", ".", "..", "com.example.", ".com.example.foo", "com..example.foo",
      "com.example.foo.*", "com.example.foo.3", "com.example.3foo", "com.example.foo-bar",
      "-com.example.foo", "com-.example.foo", "com.-example.foo", "com.example-.foo",
      "1st.example.foo", "com.exa💩ple.thing", "com.exa_ple.thing", "com.example.thing ",
      " com.example.thing", "com.example.foo/bar", "com.o\(label63).foo",
      "com.example.o\(label63)", "com." + String(repeating: "middle.", count: 40) + "foo",
    ])
  func refusesNSID(_ text: String) { #expect(NSID(text) == nil) }

  @Test(
    arguments: [
      "self", "example.com", "~1.2-3_", "dHJ1ZQ", "pre:fix", "_", "-", "~", ":", "...",
      "3jui7kd54zh2y",
      String(repeating: "a", count: 512),
    ])
  func takesKey(_ text: String) { #expect(RecordKey(text)?.description == text) }

  @Test(
    arguments: [
      "", ".", "..", "alpha/beta", "#extra", "@handle", "any space", "any+space", "number[3]",
      "number(3)", "\"quote\"", "dHJ1ZQ==", "pre%3Afix", "ü", "a\n", "\u{0}",
      String(repeating: "a", count: 513),
    ])
  func refusesKey(_ text: String) { #expect(RecordKey(text) == nil) }

  @Test(
    arguments: [
      "alice.test", "john.test.bsky.app", "a.co", "xn--notarealidn.com", "8.cn", "jay.BSKY.social",
      "0.0.0.0.com", "a-b.c-d", "\(label63).test", "a.n--b",
      String(repeating: "a.", count: 125) + "net",
    ])
  func takesHandle(_ text: String) { #expect(Handle(text)?.description == text) }

  @Test(
    arguments: [
      "", "alice", "alice.", ".alice.test", "alice..test", "-alice.test", "alice-.test",
      "al_ice.test",
      "alice.test ", "alice.0", "127.0.0.1", "alice.-test", "alice.test-", "al💩ice.test",
      "did:plc:abc", "alice@test.com", "http://alice.test", "alice.test:80", "o\(label63).test",
      String(repeating: "a.", count: 126) + "net",
    ])
  func refusesHandle(_ text: String) { #expect(Handle(text) == nil) }

  @Test(
    arguments: [
      "did:plc:z72i7hdynmk6r22z27h6tvur", "did:web:alice.test", "did:method:val:two", "did:m:v",
      "did:method::::val", "did:method:-", "did:method:val-two", "did:method:val%BB",
      "did:web:localhost%3A1234", "did:m:_", "did:m:.",
    ])
  func takesDID(_ text: String) { #expect(DID(text)?.description == text) }

  @Test(
    arguments: [
      "", "did", "did:", "did:method", "did:method:", "DID:method:val", "Did:method:val",
      "did:METHOD:val", "did:m123:val", "did::val", "did:method:val:", "did:method:val%",
      "did:method:val/two", "did:method:val?two", "did:method:val#two", " did:method:val",
      "did:method:va l", "didmethod:val", "did:method:v\u{e4}l",
    ])
  func refusesDID(_ text: String) { #expect(DID(text) == nil) }

  @Test(arguments: [
    "3jzfcijpj2z2a", "7777777777777", "3zzzzzzzzzzzz", "2222222222222", "j222222222222",
  ])
  func takesTID(_ text: String) { #expect(TID(text)?.description == text) }

  @Test(
    arguments: [
      "", "3jzfcijpj2z21", "0000000000000", "3jzfcijpj2z2aa", "3jzfcijpj2z2", "3JZFCIJPJ2Z2A",
      "3jzf-cij-pj2z-2a", "zzzzzzzzzzzzz", "k222222222222", "3jzfcijpj2z2 ",
    ])
  func refusesTID(_ text: String) { #expect(TID(text) == nil) }

  @Test func tidsSortAsTheirTimes() {
    let moments: [Int64] = [0, 1, 1023, 1_700_000_000_000_000, 1_700_000_000_000_001, 1 << 53 - 1]
    let tids = moments.map { TID(microseconds: $0, clock: 17) }
    #expect(tids.map(\.microseconds) == moments)
    #expect(tids.map(\.description) == tids.map(\.description).sorted())
    #expect(tids.allSatisfy { TID($0.description) == $0 })
    #expect(TID(microseconds: 0, clock: 0).description == "2222222222222")
  }

  @Test func aClockNeverStandsStill() {
    var clock = TIDClock(clock: 5)
    let tids = [10.0, 10, 9, 10.5, 10.5].map { clock.next(now: $0).description }
    #expect(tids == tids.sorted() && Set(tids).count == 5)
  }

  @Test(
    arguments: [
      "at://did:plc:asdf123", "at://alice.test", "at://did:plc:asdf123/com.example.post",
      "at://alice.test/com.example.post/record", "at://did:abc:123/io.nsid.someFunc/self.",
      "at://did:abc:123/io.nsid.someFunc/~", "at://did:abc:123/io.nsid.someFunc/...",
    ])
  func takesURI(_ text: String) { #expect(ATURI(text)?.description == text) }

  @Test(
    arguments: [
      "", "at://", "at:/alice.test", "AT://alice.test", "http://alice.test", "at:///alice.test",
      "at://name", "at://name.0", "at://did:plc:", "at://DID:plc:asdf123", " at://alice.test",
      "at://alice.test ", "at://alice.test/", "at://alice.test//", "at://alice.test/short/stuff",
      "at://alice.test/12345", "at://alice.test/com.example.post/",
      "at://alice.test/com.example.p@st",
      "at://alice.test/com.example.post/a/b", "at://alice.test/com.example.post/%30",
      "at://alice.test/com.example.post/.", "at://alice.test/com.example.post/..",
      "at://alice.test/com.example.post#/frag", "at://alice.test#", "at://alice.test?a=b",
      "at://alice.test/com.example.post/" + String(repeating: "o", count: 8200),
    ])
  func refusesURI(_ text: String) { #expect(ATURI(text) == nil) }
}
