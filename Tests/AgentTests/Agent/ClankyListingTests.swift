import Core
import Records
import Screen
import Testing

@testable import Agent

/// The columns of the lists.
@Suite struct ListingTests {
  @Test(arguments: [
    (#"{"kind":"daily","hour":7,"minute":5}"#, "daily 07:05"),
    (#"{"kind":"interval","everyMinutes":90}"#, "every 1h30m"),
    (#"{"kind":"daily","hour":99,"minute":5}"#, #"{"kind":"daily","hour":99,"minute":5}"#),
    (#"{"kind":"once"}"#, #"{"kind":"once"}"#), ("\"x\\u001b\"", "x\\e"), ("null", ""), ("7", "7"),
  ])
  func schedulesInWords(json: String, words: String) throws {
    #expect(Cell.schedule(try JSONValue.parse(text: json)).span.text == words)
  }

  @Test func everyListTakesAnyRecord() throws {
    let listings =
      ClankyOperations.all.compactMap(\.listing) + [.subjectsOfGuilds, .reflections]
    #expect(listings.count == 12)
    let names = listings.flatMap(\.fields)
    for value in ["null", "7", "\"\\u001b\\n\"", "[{}]", "{\"x\":[]}", "true"] {
      let members = Set(names).map { "\"\($0)\":\(value)" }.joined(separator: ",")
      let record = try JSONValue.parse(text: "{\(members)}")
      for column in listings.flatMap(\.columns) {
        #expect(!column.cell(record).span.text.unicodeScalars.contains { $0.value < 32 })
      }
    }
  }
}

/// Windows of time, and what is our own around an answer.
@Suite struct ClankyOperationTests {
  private static let now = Timestamp(seconds: 1_800_000_000)

  @Test(
    arguments: [
      (7200.0, "2"), (3600, "1"), (5400, "1.5"), (1, "0.000278"), (31_536_000, "8760"),
      (0.000001, "0.000001"), (1e15, "1000000000"),
    ] as [(Double, String)])
  func hoursOfAWindow(seconds: Double, text: String) {
    #expect(Moment.ago(.seconds(seconds)).hours(now: Self.now) == text)
  }

  @Test func aTimeIsAskedForWithSlack() {
    let since = Moment.time(Self.now.adding(.seconds(-3540)))
    #expect(since.hours(now: Self.now) == "1")
    #expect(Moment.time(Timestamp(seconds: .min)).hours(now: Self.now) == "1000000000")
    #expect(since.holds(Self.now.adding(.seconds(-3540))))
    #expect(!since.holds(Self.now.adding(.seconds(-3541))))
    #expect(since.holds(nil))
    #expect(Moment.ago(.seconds(1)).holds(Timestamp(seconds: 0)))
  }

  @Test func healthKeepsTheBackendsMembers() {
    func record(_ json: String) -> String {
      String(
        decoding: ClankyOperations.health(Array(json.utf8), latency: "1.5", url: "http://a/"),
        as: UTF8.self)
    }
    let end = #""latency_ms":1.5,"url":"http://a/"}"#
    #expect(record(#" { "ok":true,"n":1.10 } "#) == #"{"type":"health","ok":true,"n":1.10,"# + end)
    #expect(record("{}") == #"{"type":"health","# + end)
  }
}
