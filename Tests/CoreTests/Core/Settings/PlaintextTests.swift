import Testing

@testable import Core

@Suite struct PlaintextTests {
  @Test(arguments: [
    "127.0.0.1", "127.255.255.255", "localhost", "LOCALHOST", "localhost.", "127.0.0.1.", "::1",
    "[::1]", "0:0:0:0:0:0:0:1", "[::ffff:127.0.0.1]", "::ffff:100.64.0.1", "100.64.0.0",
    "100.127.255.255", "box.tailnet.ts.net", "Box.Tail-1.TS.net", "box.tailnet.ts.net.", "a.ts.net",
  ])
  func aTokenMayTravelInPlaintext(host: String) {
    #expect(Credentials.mayTravel(scheme: "http", host: host, allowPlaintext: false))
  }

  @Test(arguments: [
    "127.0.0.1.evil.com", "100.64.evil.com", "100.64.0.1.evil.com", "100.63.255.255", "100.128.0.0",
    "128.0.0.1", "localhost.evil.com", "evil-localhost", "notlocalhost", "localhost..", "",
    ".", "ts.net", ".ts.net", "evil.com.ts.net.evil.com", "evilts.net", "xts.net", "a..ts.net",
    "a.ts.net..", "::2", "[::1", "::1]", "[::1].evil.com", "[127.0.0.1]", "::ffff:8.8.8.8",
    "::127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1\0.evil.com", "127.0.0.1\0",
    "evil.com/.ts.net", "evil.com#.ts.net", "user@a.ts.net", "a b.ts.net", "\u{212a}.ts.net",
    "192.168.0.1", "10.0.0.1", "0.0.0.0", "::", "fe80::1%lo", "example.com", "127.0.0.1:80",
  ])
  func aTokenMayNotTravelInPlaintext(host: String) {
    #expect(!Credentials.mayTravel(scheme: "http", host: host, allowPlaintext: false))
    #expect(!Credentials.mayTravel(scheme: "HTTP", host: host, allowPlaintext: false))
    #expect(Credentials.mayTravel(scheme: "http", host: host, allowPlaintext: true))
    #expect(Credentials.mayTravel(scheme: "HTTPS", host: host, allowPlaintext: false))
    #expect(!Credentials.mayTravel(scheme: "ftp", host: host, allowPlaintext: true))
  }

  @Test(arguments: [
    ("http://a", "http://A:80/x", true), ("https://a/", "https://a:443?q", true),
    ("http://a", "https://a", false), ("http://a", "http://a:8080", false),
    ("http://[::1]", "http://[::1]:80/", true), ("http://[::1]:8787", "http://[::1]", false),
    ("http://u:p@a", "http://a", true), ("http://a@b", "http://a", false),
    ("http://a#@b", "http://b", false), ("http://a", "http://a.", false),
  ])
  func originsAreComparedWhole(one: String, other: String, same: Bool) {
    #expect(URLOrigin(one) != nil)
    #expect((URLOrigin(one) == URLOrigin(other)) == same)
  }

  @Test(arguments: [
    "", "a", "ftp://a", "http:/a", "http://", "http://:80", "http://a:b", "http://a:99999",
    "http://a\\@b", "http://a b", "http://a\n",
  ])
  func whatIsNoUrlHasNoOrigin(url: String) {
    #expect(URLOrigin(url) == nil)
  }
}
