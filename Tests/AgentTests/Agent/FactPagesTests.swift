import Core
import Testing

@testable import Agent

/// Paging against a backend that knows no offset: the newest, so many at most.
@Suite struct FactPagesTests {
  /// A stored fact.
  private struct Stored {
    var id: Int
    var subject: String
    var text: String
    var channel = ""
    var message = ""

    var bytes: [UInt8] {
      Array(
        (#"{"id":\#(id),"updated_at":"2026-01-01T00:00:00.\#(100 + id % 900)Z","#
          + #""subject":"\#(subject)","fact":"\#(text)","fact_type":"other","#
          + #""channel_id":"\#(channel)","source_message_id":"\#(message)"}"#).utf8)
    }

    func holds(_ part: String) -> Bool {
      [text, channel, message].contains { $0.contains(part) }
    }
  }

  private func subjects(_ facts: [Stored], limit: Int = FactPages.most) -> [[UInt8]] {
    var counts: [String: Int] = [:]
    for fact in facts { counts[fact.subject, default: 0] += 1 }
    return counts.sorted { $0.key < $1.key }.prefix(limit).map {
      Array(#"{"scope":"user","subject":"\#($0.key)","fact_count":\#($0.value)}"#.utf8)
    }
  }

  private func read(
    _ facts: [Stored], subject: String? = nil, leavesPersons: Bool = false, until id: String? = nil
  ) -> (pages: FactPages, asked: Int) {
    var pages = FactPages(subject: subject, leavesPersons: leavesPersons, seeksFew: id != nil)
    var asked = 0
    while asked < 5000 {
      switch pages.next() {
      case .done: return (pages, asked + 1)
      case .askSubjects:
        asked += 1
        pages.receive(subjects: subjects(facts))
      case .ask(let queries):
        asked += queries.count
        for query in queries {
          let found = facts.reversed().filter { fact in
            (query.subject == nil || fact.subject == query.subject)
              && (query.text.map { fact.holds($0) } ?? true)
          }
          pages.receive(found.prefix(FactPages.most).map(\.bytes), for: query)
          if let id, pages.has([id]) { return (pages, asked) }
        }
      }
    }
    return (pages, asked)
  }

  private func facts(_ count: Int, subject: (Int) -> String) -> [Stored] {
    (1...count).map { number in
      Stored(
        id: number, subject: subject(number),
        text: "word\(number % 29)x thing\(number % 31)x other\(number % 7)x")
    }
  }

  @Test func factsThatDifferInANumberAloneAreFound() {
    let same = (100...6099).map { Stored(id: $0, subject: "one", text: "note \($0)") }
    let (pages, asked) = read(same)
    #expect(pages.newestFirst.count == 6000)
    #expect(pages.shortages.isEmpty)
    #expect(asked < 300)
  }

  @Test func factsOfOneTextAreFoundByWhereTheyWereSaid() {
    let same = (1000...3999).map { number in
      Stored(
        id: number, subject: "one", text: "the same", channel: "20000\(number % 10)",
        message: "15023\(number)")
    }
    let (pages, asked) = read(same)
    #expect(pages.newestFirst.count == 3000)
    #expect(pages.shortages.isEmpty)
    #expect(asked < 40)
  }

  @Test func oneAnswerThatIsNotFullIsAll() {
    let (pages, asked) = read(facts(499) { "s\($0 % 3)" })
    #expect(pages.newestFirst.count == 499)
    #expect(asked == 2)
    #expect(pages.shortages.isEmpty)
  }

  @Test func aFullAnswerGoesBySubject() {
    let (pages, _) = read(facts(4000) { "s\($0 % 10)" })
    #expect(pages.newestFirst.count == 4000)
    #expect(pages.shortages.isEmpty)
  }

  @Test func subjectsAreAskedForTogether() {
    let stored = facts(4000) { "s\($0 % 10)" }
    var pages = FactPages(subject: nil)
    guard case .ask(let first) = pages.next() else { return }
    pages.receive(stored.reversed().prefix(FactPages.most).map(\.bytes), for: first[0])
    #expect(pages.next() == .askSubjects)
    pages.receive(subjects: subjects(stored))
    #expect(pages.next() == .ask((0..<10).map { .init(subject: "s\($0)", text: nil) }))
  }

  @Test func subjectsOfPersonsAreLeftToAnotherGuild() {
    let (pages, asked) = read(facts(4000) { "s\($0 % 10)" }, leavesPersons: true)
    #expect(pages.newestFirst.count == FactPages.most)
    #expect(asked == 3)
  }

  @Test func aFactAmongManySubjectsIsFoundByWords() {
    let (pages, asked) = read(facts(3000) { "s\($0 % 1000)" }, until: "1")
    #expect(pages.has(["1"]))
    #expect(asked < 60)
  }

  @Test func aFactWithoutWordsIsFoundByItsSubject() {
    let stored = (1...1200).map { Stored(id: $0, subject: "s\($0 % 550)", text: "") }
    #expect(read(stored, until: "3").pages.has(["3"]))
  }

  @Test func aLargeSubjectGoesByWords() {
    let (pages, asked) = read(facts(5000) { _ in "one" })
    #expect(pages.newestFirst.count == 5000)
    #expect(pages.shortages.isEmpty)
    #expect(asked < 200)
  }

  @Test func oneSubjectAloneIsReadWhole() {
    let (pages, _) = read(facts(3000) { "s\($0 % 2)" }, subject: "s1")
    #expect(pages.newestFirst.count == 1500)
    #expect(pages.newestFirst.allSatisfy { Fact(record: $0)?.subject == "s1" })
    #expect(pages.shortages.isEmpty)
  }

  @Test func whatCannotBeReachedIsSaid() {
    let same = (1...900).map { Stored(id: $0, subject: "one", text: "the same") }
    let (pages, asked) = read(same)
    #expect(pages.newestFirst.count == 500)
    #expect(pages.shortages == [.init(subject: "one", found: 500, expected: 900)])
    #expect(asked < 100)
  }

  @Test func moreSubjectsThanAreListedAreSaid() {
    let (pages, _) = read(facts(1200) { "s\($0)" })
    #expect(pages.shortages.contains { $0.subject == nil })
    #expect(pages.newestFirst.count == 1200)
  }

  @Test func aBackendWithoutLimitsIsDoneAtOnce() {
    var pages = FactPages(subject: nil)
    guard case .ask(let queries) = pages.next(), let query = queries.first else {
      Issue.record("nothing is asked")
      return
    }
    pages.receive(facts(501) { "s\($0)" }.map(\.bytes), for: query)
    #expect(pages.next() == .done)
    #expect(pages.newestFirst.count == 501)
  }

  @Test func anOddRecordIsKept() {
    var pages = FactPages(subject: nil)
    _ = pages.next()
    let rows = [#"{"id":1,"fact":"a"}"#, "7", "7", #"{"id":1,"fact":"a"}"#, #"{"x":1}"#]
    pages.receive(rows.map { Array($0.utf8) }, for: .init(subject: nil, text: nil))
    #expect(pages.newestFirst.count == 3)
  }
}
