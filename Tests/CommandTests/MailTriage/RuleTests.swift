import Records
import Testing

@testable import mail_triage

@Suite struct RuleTests {
  private var item: Item {
    var item = Item(kind: "mail", id: "a@x", platform: "mail", category: "email")
    item.senders = ["Ada@Work.example"]
    item.name = "boss@work.example"
    item.recipients = ["me@x", "all@x"]
    item.subject = "Größe 12"
    item.text = "one\ntwo"
    item.marks = [.reply]
    return item
  }

  private func verdict(_ rules: String) -> String {
    let verdict = RuleBook(rules).judge(item)
    return "\(verdict.urgency.rawValue)/\(verdict.category)"
  }

  @Test(arguments: [
    ("", "info/email"),
    ("# urgent any *", "info/email"),
    ("urgent any *\nnoise any *", "urgent/email"),
    ("urgent from ada@work.example", "urgent/email"),
    ("urgent from *work*", "urgent/email"),
    ("urgent from work", "info/email"),
    // The name that is shown is anybody's.
    ("urgent from boss@*", "info/email"),
    ("\t urgent/work\tto  all@?", "urgent/work"),
    ("urgent subject grösse*", "info/email"),
    ("urgent subject GRÖSSE*", "info/email"),
    ("urgent subject grö?e 12", "urgent/email"),
    ("urgent subject /^gr.*[0-9]+$/", "urgent/email"),
    ("urgent text *o*w*", "urgent/email"),
    ("urgent text /two$/", "urgent/email"),
    ("urgent list *", "info/email"),
    ("urgent is reply", "urgent/email"),
    ("urgent is bulk", "info/email"),
    ("urgent platform MAIL", "urgent/email"),
    ("emergency/a/b any me@x", "emergency/a/b"),
  ])
  func judges(rules: String, expected: String) {
    #expect(RuleBook(rules).faults.isEmpty)
    #expect(verdict(rules) == expected)
  }

  @Test(arguments: [
    "urgent", "urgent from", "x from y", "urgent x y", "urgent is x", "urgent/ any *",
  ])
  func refuses(line: String) {
    let book = RuleBook("info any *\n\n\(line)\n")
    #expect(book.faults.map(\.line) == [3])
  }

  @Test func longTextsTakeNoLongTime() throws {
    let pattern = try TextPattern(String(repeating: "*a", count: 50) + "*b")
    #expect(!pattern.matches(String(repeating: "a", count: 16_384)))
  }

  @Test(arguments: [
    ("urgent", "urgent"), ("  \"Attention\": soon", "attention"),
    ("{\"urgency\":\"noise\"}", "noise"),
    ("soon", nil), ("", nil), ("{\"urgency\":1}", nil),
    ("{\"level\":\"x\",\"urgent\":false}", nil), ("{\"urgent\":false}", nil),
    ("[\"urgent\"]", nil), ("\"urgent\"", nil), ("{\"urgent\": fal", nil),
    ("{\"urgency\":\"INFO\"}\n", "info"), ("urgent, for {it} is", "urgent"),
  ])
  func answers(text: String, word: String?) {
    #expect(TriageLoop.urgency(in: Array(text.utf8))?.rawValue == word)
  }
}

@Suite struct PlaceTests {
  @Test(arguments: [
    ("17.a.host:2,S", "17.a.host", "S"), ("17.a", "17.a", ""), ("17.a;2,RS", "17.a", "RS"),
    ("a:b", "a:b", ""), ("17.a,S=4:2,", "17.a,S=4", ""),
  ])
  func maildirNames(name: String, base: String, flags: String) {
    let found = Maildir.split(name)
    #expect(found.base == base)
    #expect(found.flags == flags)
  }
}
