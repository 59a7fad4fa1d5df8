import Agent
import Core
import Screen
import Testing

@testable import agent_call

/// The command line, and single answers.
@Suite struct CallTests {
  private static let now = Timestamp(seconds: 1_800_000_000)

  private func options(_ line: String) throws -> CallOptions {
    let words = line.split(separator: " ").map(String.init)
    return try CallOptions.table.parse(words, CallOptions(now: Self.now))
  }

  @Test func wordsAndOptions() throws {
    let join = try options("join 123 -c 4 -u 5 -o tsv")
    #expect(join.command == .join && join.operand == "123")
    #expect(join.channel == "4" && join.user == "5" && join.form == .tsv)
    let actions = try options("actions -k a,b -k c -S 2h -n 0 --max-time 1.5 -W 0")
    #expect(actions.kinds == ["a", "b", "c"] && actions.count == 0 && actions.maxTime == 1.5)
    #expect(actions.since == .ago(.seconds(7200)))
    #expect(
      try options("actions -S 2020-01-01").since == .time(Timestamp(seconds: 1_577_836_800)))
  }

  @Test(arguments: [
    "", "nonsense", "health extra", "get", "get a b", "guilds -g 1", "stats -n 1", "join 1 -g 2",
    "channels 1 -g 2", "actions -n -1", "actions -n x", "actions -n 99999999999999999999",
    "actions -S tomorrow", "actions -S 2999-01-01", "actions -S 0s", "actions -k ,",
    "actions -k voice_*", "health -o xml", "health -W x", "health -W -1", "health --color red",
    "health --max-time x", "health --max-time -1", "health -d {}", "automations --status ,",
    "post x --token-file -", "put x -d @- --token-file -",
  ])
  func mistakesAreUsageErrors(line: String) {
    #expect(throws: UsageError.self) { try options(line) }
  }

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
        decoding: Health.record(Array(json.utf8), latency: "1.5", url: "http://a/"), as: UTF8.self)
    }
    let end = #""latency_ms":1.5,"url":"http://a/"}"#
    #expect(record(#" { "ok":true,"n":1.10 } "#) == #"{"type":"health","ok":true,"n":1.10,"# + end)
    #expect(record("{}") == #"{"type":"health","# + end)
  }

  @Test func theOnlyGuildIsMeant() throws {
    let one = GuildChoice.Guild(id: "1", name: "a")
    #expect(try GuildChoice.only(of: [one]) == "1")
    #expect(throws: CallFailure("guilds", "the agent is in none", .negative)) {
      try GuildChoice.only(of: [])
    }
    let two = GuildChoice.Guild(id: "2", name: "")
    #expect(
      throws: CallFailure(
        "guilds", "there are several, name one with --guild: 1 (a), 2", .failure)
    ) { try GuildChoice.only(of: [one, two]) }
  }

  @Test func aGuildIsAmongThoseThereAre() throws {
    let one = GuildChoice.Guild(id: "1", name: "a")
    #expect(try GuildChoice.named("1", of: [one]) == one)
    // A backend that lists none cannot tell; an id it can be.
    #expect(try GuildChoice.named("7", of: []).id == "7")
    #expect(throws: CallFailure("guild a", "no such guild; there are 1 (a)", .failure)) {
      try GuildChoice.named("a", of: [one])
    }
    #expect(throws: CallFailure("guild x", "no such guild; the backend lists none", .failure)) {
      try GuildChoice.named("x", of: [])
    }
    #expect(throws: CallFailure.self) { try GuildChoice.named("", of: []) }
  }

  @Test func latencyHasOneDecimal() {
    #expect(Latency.text(0.00324) == "3.2")
    #expect(Latency.text(0) == "0.0")
    #expect(Latency.text(-1) == "0.0")
    #expect(Latency.seconds(30) == "30")
    #expect(Latency.seconds(0.5) == "0.5")
  }
}
