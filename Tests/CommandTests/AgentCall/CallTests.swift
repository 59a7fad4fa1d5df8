import Agent
import Core
import Kinds
import Records
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
    #expect(join.word == "join" && join.arguments.operand == "123")
    #expect(join.arguments.channel == "4" && join.arguments.user == "5" && join.form == .tsv)
    let actions = try options("actions -k a,b -k c -S 2h -n 0 --max-time 1.5 -W 0")
    let asked = actions.arguments
    #expect(asked.kinds == ["a", "b", "c"] && asked.count == 0 && actions.maxTime == 1.5)
    #expect(asked.since == .ago(.seconds(7200)))
    #expect(
      try options("actions -S 2020-01-01").arguments.since
        == .time(Timestamp(seconds: 1_577_836_800)))
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

  @Test func anAgentHasItsOwnOperations() throws {
    let guilds = try options("guilds")
    #expect(try guilds.operation(of: KindFacts.clanky.backend, named: "home").listing != nil)
    let gateway = KindFacts.openclaw.backend
    #expect(
      throws: Failure(
        "claw",
        "an OpenClaw gateway has no guilds; "
          + "it has agents, threads, models, devices, cron, health, actions, audit, scopes, rpc, "
          + "get, post, put, delete",
        .failure)
    ) { try guilds.operation(of: gateway, named: "claw") }
    #expect(try options("get x").operation(of: gateway, named: "claw").name == "get")
  }

  /// An option of which no table knows would never be refused, and never be taken.
  @Test func theOptionsOfOperationsAreThere() throws {
    for operation in KindFacts.all.flatMap(\.backend.operations) {
      for option in operation.options {
        let value = option == "since" ? "1h" : option == "count" ? "1" : "x"
        let operand = operation.operand?.isNeeded == true ? ["x"] : []
        let words = [operation.name, "--\(option)", value] + operand
        #expect(throws: Never.self) {
          try CallOptions.table.parse(words, CallOptions(now: Self.now))
        }
      }
    }
  }

  @Test func theOnlyGuildIsMeant() throws {
    let one = ToldName(.guild, id: "1", name: "a")
    #expect(try [one].onlyGuild() == "1")
    #expect(throws: Failure("guilds", "the agent is in none", .negative)) {
      try [ToldName]().onlyGuild()
    }
    let two = ToldName(.guild, id: "2", name: "")
    #expect(
      throws: Failure(
        "guilds", "there are several, name one with --guild: 1 (a), 2", .failure)
    ) { try [one, two].onlyGuild() }
  }

  @Test func aGuildIsAmongThoseThereAre() throws {
    let one = ToldName(.guild, id: "1", name: "a")
    #expect(try [one].guild(named: "1") == one)
    // A backend that lists none cannot tell; an id it can be.
    #expect(try [ToldName]().guild(named: "7").id == "7")
    #expect(throws: Failure("guild b", "no such guild; there are 1 (a)", .failure)) {
      try [one].guild(named: "b")
    }
    #expect(throws: Failure("guild x", "no such guild; the backend lists none", .failure)) {
      try [ToldName]().guild(named: "x")
    }
    #expect(throws: Failure.self) { try [ToldName]().guild(named: "") }
  }

  @Test func aGuildIsNamedAsPeopleRememberIt() throws {
    let all = [("1", "Repair Café 🔧"), ("2", "Twins"), ("3", "twins!"), ("4", "🔧"), ("5", "1")]
      .map { ToldName(.guild, id: $0.0, name: $0.1) }
    #expect(try all.guild(named: "repair-café").id == "1")
    // The very name first, and an id before all names.
    #expect(try all.guild(named: "twins!").id == "3")
    #expect(try all.guild(named: "🔧").id == "4")
    #expect(try all.guild(named: "1").id == "1")
    #expect(
      throws: Failure(
        "guild TWINS", "several have this name, give an id: 2 (Twins), 3 (twins!)", .failure)
    ) { try all.guild(named: "TWINS") }
  }

  @Test func latencyHasOneDecimal() {
    #expect(Latency.text(0.00324) == "3.2")
    #expect(Latency.text(0) == "0.0")
    #expect(Latency.text(-1) == "0.0")
    #expect(Latency.seconds(30) == "30")
    #expect(Latency.seconds(0.5) == "0.5")
  }
}
