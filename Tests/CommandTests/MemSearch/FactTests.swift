import Core
import Screen
import Testing

@testable import Agent
@testable import mem_search

/// Facts in every spelling, and what is asked of them.
@Suite struct FactTests {
  private func fact(_ json: String) -> Fact? { Fact(record: Array(json.utf8)) }

  @Test func everySpellingIsOneFact() throws {
    let row = try #require(
      fact(
        #"{"id":3,"updated_at":"u","scope":"user","user_id":"9","subject":"s","fact":"f","#
          + #""fact_type":"profile","evidence_text":"e","confidence":0.5}"#))
    let profile = try #require(
      fact(
        #"{"id":3,"scope":"user","userId":"9","subject":"s","fact":"f","factType":"profile","#
          + #""confidence":0.5,"metadata":{"updatedAt":"u","evidenceText":"e","guildId":null}}"#))
    #expect(row == profile)
    let short = try #require(
      fact(
        #"{"subject":"s","fact":"f","type":"profile","evidence":"e","saveReason":"added"}"#))
    #expect(short.type == "profile")
    #expect(short.evidence == "e")
    #expect(short.reason == "added")
  }

  @Test(arguments: ["7", "null", "[]", "{}", #"{"fact":null}"#, #"{"fact":[]}"#, "{"])
  func whatIsNoFactIsNone(json: String) { #expect(fact(json) == nil) }

  @Test func wrongTypesDoNoHarm() throws {
    let odd = try #require(
      fact(
        #"{"id":{},"fact":7,"subject":[],"fact_type":true,"confidence":"0.4","score":"high","#
          + #""metadata":7,"evidence_text":{}}"#))
    #expect(odd.fact == "7")
    #expect(odd.id.isEmpty)
    #expect(odd.confidence == 0.4)
    #expect(odd.score == nil)
    #expect(odd.evidence == nil)
  }

  @Test func tsvHasOneLineAndAllFields() throws {
    let hostile = try #require(
      fact(#"{"id":1,"fact":"a\tb\nc\u001b[2J\\","subject":"\u202e","score":1.5}"#))
    #expect(!hostile.tsv.contains("\n"))
    #expect(hostile.tsv.split(separator: "\t", omittingEmptySubsequences: false).count == 14)
    #expect(hostile.tsv.contains(#"a\tb\nc\e[2J\\"#))
  }

  @Test func filters() throws {
    let one = try #require(
      fact(#"{"id":1,"fact":"Ferns and Moss","subject":"s","fact_type":"Profile","score":0.4}"#))
    #expect(FactFilter().passes(one))
    #expect(FactFilter(types: ["profile"]).passes(one))
    #expect(!FactFilter(types: ["other"]).passes(one))
    #expect(!FactFilter(subject: "S").passes(one))
    #expect(FactFilter(minScore: 0.4).passes(one))
    #expect(!FactFilter(minScore: 0.41).passes(one))
    #expect(FactFilter(texts: ["moss", "fern"]).passes(one))
    #expect(!FactFilter(texts: ["moss", "zeppelin"]).passes(one))
  }

  @Test(arguments: [1, 8, 20, 33, 60, 80, 200])
  func rowsStayInTheirWidth(width: Int) throws {
    let facts = [
      #"{"id":1,"fact":"short","subject":"__lore__","fact_type":"other","confidence":1}"#,
      #"{"id":123456789,"fact":"家族👨‍👩‍👧‍👦 wide and long, long, long, long and a_very_long_word_that_does_not_end_anywhere_at_all","subject":"400118822734659584","fact_type":"relationship","evidence_text":"\u001b[31mred\u0007\n\nthree","confidence":0.25,"score":12.5}"#,
      #"{"fact":""}"#,
    ].compactMap { fact($0) }
    #expect(facts.count == 3)
    let lines = FactRows(facts, width: width).lines()
    for line in lines {
      #expect(line.cut(to: width) == line || width < 4)
      #expect(!line.text.unicodeScalars.contains { $0.value < 32 || $0.value == 0x7f })
    }
    #expect(lines.contains { $0.text.contains(width > 5 ? "short" : "") })
  }

  @Test func foldsAsTheBackendDoes() {
    #expect(FactText.folded("  a\n\t b\u{a0}c ") == "a b c")
    #expect(FactText.folded(" \n") == "")
  }
}
