import Core
import Screen
import Testing

@testable import Agent
@testable import mem_search

/// What a person does to a fact.
@Suite struct EditTests {
  private var base: FactDraft {
    get throws {
      let json =
        #"{"id":1,"subject":"s","fact":"one\ntwo \u001b","fact_type":"other","confidence":0.50}"#
      return FactDraft(try #require(Fact(record: Array(json.utf8))))
    }
  }

  @Test func anUntouchedFormChangesNothing() throws {
    let base = try base
    let text = FactForm.text(base, notes: ["note\nof two lines"])
    #expect(text.hasPrefix("# note\\nof two lines\nsubject: s\n"))
    #expect(try FactForm.draft(text, base: base) == base)
  }

  @Test func theFormIsRead() throws {
    let base = try base
    let text =
      "subject: s\n# note\ntype: Profile\nconfidence: 0.9\nfact: a new\n  fact:  here\n\nevidence:\n"
    let draft = try #require(try FactForm.draft(text, base: base))
    #expect(draft.fact == "a new fact: here")
    #expect(draft.tidied(from: base).type == "profile")
    #expect(draft.confidence == "0.9")
    #expect(draft.evidence.isEmpty)
  }

  @Test func whatIsEscapedComesBackAsItWas() throws {
    var base = try base
    base.fact = "a \u{200f}b\u{1b}[1m c"
    let form = FactForm.text(base, notes: [])
    #expect(form.contains(#"fact: a \u{200f}b\e[1m c"#))
    let text = form.split(separator: "\n").map { $0.hasPrefix("fact:") ? $0 + " d" : $0 }
      .joined(separator: "\n")
    #expect(try FactForm.draft(text, base: base)?.fact == "a \u{200f}b\u{1b}[1m c d")
  }

  @Test func aFormOfAnotherEncodingIsRefused() throws {
    let base = try base
    let bytes = Array(FactForm.text(base, notes: []).utf8) + [0xe9, 10]
    #expect(throws: UsageError.self) { try FactForm.draft(bytes, base: base) }
  }

  @Test func anEmptyFormGivesUp() throws {
    #expect(try FactForm.draft("# all\n\n  \n", base: base) == nil)
  }

  @Test(arguments: ["fact: x\n", "hello\n", "fact: a\nfact: b\n"])
  func aBrokenFormIsRefused(text: String) throws {
    let base = try base
    #expect(throws: UsageError.self) { try FactForm.draft(text, base: base) }
  }

  @Test func limitsAreCountedInUTF16() throws {
    var draft = try base
    #expect(draft.fault == nil)
    draft.fact = String(repeating: "🥜", count: 200)
    #expect(draft.fault == nil)
    draft.fact += "x"
    #expect(draft.fault == "fact: 401 characters, 400 at most")
    draft = try base
    draft.evidence = String(repeating: "e", count: 241)
    #expect(draft.fault == "evidence: 241 characters, 240 at most")
    draft = try base
    draft.subject = String(repeating: "s", count: 121)
    #expect(draft.fault == "subject: 121 characters, 120 at most")
    draft = try base
    draft.type = String(repeating: "t", count: 41)
    #expect(draft.fault == "type: 41 characters, 40 at most")
  }

  @Test(arguments: ["", "high", "1.1", "-0.1", "nan", ".5", "0x1", "true", "1e400", "0.5,"])
  func aConfidenceIsANumberFromNoughtToOne(text: String) throws {
    var draft = try base
    draft.confidence = text
    #expect(draft.fault != nil)
  }

  @Test func theBodyHasAllMembers() throws {
    var draft = try base
    draft.evidence = "\"q\""
    let body = try JSONValue.parse(text: String(decoding: draft.body(guild: "g"), as: UTF8.self))
    #expect(body["guildId"]?.string == "g")
    #expect(body["fact"]?.string == "one\ntwo \u{1b}")
    #expect(body["factType"]?.string == "other")
    #expect(body["evidenceText"]?.string == "\"q\"")
    #expect(body["confidence"]?.number == 0.5)
    draft.evidence = ""
    let bare = try JSONValue.parse(text: String(decoding: draft.body(guild: "g"), as: UTF8.self))
    #expect(bare["evidenceText"]?.isNull == true)
  }

  @Test func theDiffHasWhatIsDifferent() throws {
    let base = try base
    var draft = base
    #expect(FactForm.difference(base, draft, width: 60).isEmpty)
    draft.confidence = "0.9"
    #expect(
      FactForm.difference(base, draft, width: 60).map(\.text) == [
        "- confidence 0.5", "+ confidence 0.9",
      ])
  }

  @Test func idsOfLines() {
    func id(_ text: String) -> String { Memory.id(of: Array(text.utf8)) }
    #expect(id("17") == "17")
    #expect(id(" 17 \r") == "17")
    #expect(id("17\tsubject\tfact") == "17")
    #expect(id(#"{"id":17,"fact":"x"}"#) == "17")
    #expect(id(#"{"id":"17"}"#) == "17")
    #expect(id("") == "")
    #expect(id("{") == "?")
  }
}
