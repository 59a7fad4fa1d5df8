import Core
import Testing

@testable import mail_triage

/// A mail of this text.
private func mail(_ text: String, isQuoted: Bool = false) throws -> Item {
  try Array(text.utf8).withUnsafeBytes { try Item.read(mail: $0, isQuoted: isQuoted).item }
}

@Suite struct EncodedWordTests {
  @Test(arguments: [
    ("=?utf-8?Q?caf=C3=A9?=", "café"),
    ("=?UTF-8?b?Y2Fmw6k=?= and", "café and"),
    ("=?iso-8859-1?q?a_=E9?= =?us-ascii?q?b?=", "a éb"),
    // One character in two words.
    ("=?utf-8?q?=C3?=\t=?utf-8?q?=A9?=", "é"),
    ("=?windows-1252?q?=80?=", "€"),
    ("=?utf-8*en?q?x?=", "x"),
    ("a =?utf-8?q?b?= c", "a b c"),
    // What is none stays as it is.
    ("=?koi8-r?q?=C1?=", "а"), ("=?x-none?q?=C1?=", "=?x-none?q?=C1?="),
    ("=?utf-8?x?a?=", "=?utf-8?x?a?="),
    ("=?utf-8?q?a b?=", "a b"),
    ("=?utf-8?q?a", "=?utf-8?q?a"),
    ("=?", "=?"),
  ])
  func decodes(header: String, text: String) {
    #expect(EncodedWords.decode(header) == text)
  }

  @Test(arguments: [
    ("=41=4a=zz=", "AJ=zz"), ("a=  \r\nb", "ab"), ("a=\nb\n", "ab\n"), ("=4", "=4"),
  ])
  func quotedPrintable(code: String, text: String) {
    #expect(TransferCode.quotedPrintable(Array(code.utf8)) == Array(text.utf8))
  }

  @Test(arguments: [
    ("aGVsbG8=", "hello"), ("aGVs\r\n bG8", "hello"), ("aGVsbG8=aGVs", "hello"), ("a", ""),
    ("aGVsbG9=", "hello"), ("!", ""),
  ])
  func base64(code: String, text: String) {
    // Broken last letters lose their last bytes at most.
    #expect(Array(text.utf8).starts(with: TransferCode.base64(Array(code.utf8))))
  }
}

@Suite struct MailHeaderTests {
  @Test(arguments: [
    ("Ada <ada@x>", "Ada", "ada@x"),
    ("\"Lovelace, Ada\" <ada@x>, bob@x", "Lovelace, Ada", "ada@x"),
    ("ada@x (Ada (L.))", "Ada (L.)", "ada@x"),
    ("=?utf-8?q?B=C3=B6b=2C_x?= <b@x>", "Böb, x", "b@x"),
    ("friends: ada@x, bob@x;", "", "ada@x"),
    ("\"a@b\" <c@d>", "a@b", "c@d"),
    ("Ada", "Ada", ""),
    ("<ada@x", "", "ada@x"),
  ])
  func addresses(field: String, name: String, address: String) {
    #expect(MailAddress.list(field).first == MailAddress(name: name, address: address))
  }

  @Test func noAddresses() {
    #expect(MailAddress.list("undisclosed-recipients:;").isEmpty)
    #expect(MailAddress.list(String(repeating: "a@b,", count: 10_000)).count == MailAddress.most)
  }

  @Test(arguments: [
    ("Mon, 23 Nov 2026 16:00:00 +0100", "2026-11-23T15:00:00.000Z"),
    ("23 Nov 2026 16:00 -0330", "2026-11-23T19:30:00.000Z"),
    ("Mon, 23 Nov 99 16:00:00 EST (so)", "1999-11-23T21:00:00.000Z"),
    ("Mon,23 Nov 2026 16:00:00 GMT", "2026-11-23T16:00:00.000Z"),
  ])
  func dates(field: String, time: String) {
    #expect(MailDate.time(field)?.rfc3339 == time)
  }

  @Test(arguments: [
    "", "yesterday", "31 Feb 2026 00:00:00 +0000", "1 Jan 1969 00:00:00 +0000",
    "1 Jan 2026 25:00:00 +0000", "1 Jan 2026 00:00:00 +99999", "1 Jan 99999 00:00:00 +0000",
  ])
  func noDates(field: String) {
    #expect(MailDate.time(field) == nil)
  }

  @Test func parameters() {
    let type = ContentType("Text/Plain; charset=\"utf-8\" ; boundary=\"a;\\\"b\"; x; charset=y")
    #expect(type.value == "text/plain")
    #expect(type["charset"] == "utf-8")
    #expect(type["boundary"] == "a;\"b")
    #expect(type["x"] == nil)
  }
}

@Suite struct MailTextTests {
  @Test func firstText() throws {
    let nested = try mail(
      """
      From: a@x
      Content-Type: multipart/mixed; boundary=b

      preamble
      --b
      Content-Type: multipart/alternative; boundary="b2"

      --b2
      Content-Type: text/html

      <p>page</p>
      --b2

      plain
      --b2--
      --b
      Content-Type: application/pdf

      x
      --b--
      """)
    #expect(nested.text == "plain")
    #expect(nested.marks.contains(.attachment))
    #expect(nested.id.hasPrefix("digest-"))
    #expect(nested.thread == nested.id)
  }

  @Test func idsAndThreads() throws {
    let reply = try mail(
      "Message-ID: <a@x>\nReferences: <r@x>\n <s@x>\nIn-Reply-To: <s@x>\n\nhi")
    #expect(reply.id == "a@x")
    #expect(reply.thread == "r@x")
    #expect(reply.marks.contains(.reply))
    let bare = try mail("Message-ID: a@x\nIn-Reply-To: your mail\n\n")
    #expect(bare.id == "a@x")
    #expect(!bare.marks.contains(.reply))
    let odd = try mail("Message-ID: <\u{1b}[2J@x>\n\n")
    #expect(odd.id.hasPrefix("digest-"))
  }

  @Test func mailboxQuotes() throws {
    let text = "From: a@x\n\n>From here\n>>From there\n> From\n"
    #expect(try mail(text, isQuoted: true).text == "From here\n>From there\n> From\n")
    #expect(try mail(text).text == ">From here\n>>From there\n> From\n")
  }

  @Test(arguments: ["", "\n", "no header here\n", " folded: x\n", "{\"a\":1}\n"])
  func noMail(text: String) {
    #expect(throws: Failure.self) { _ = try mail(text) }
  }

  @Test(arguments: [
    ("<p>a</p>b<br/>c", " a  b c"), ("a<b>b</b>", "ab"),
    ("1 < 2 &amp; 3 &#x41;&#66;", "1 < 2 & 3 AB"),
    ("x<style>p{}</style>y<script>z", "xy"), ("a<!-- <b> -->c", "ac"), ("a<b", "a<b"),
    ("&bogus; &#0; &", "&bogus; &#0; &"),
  ])
  func html(page: String, text: String) {
    #expect(PlainText.line(HTMLText.plain(page)) == PlainText.line(text))
  }
}
