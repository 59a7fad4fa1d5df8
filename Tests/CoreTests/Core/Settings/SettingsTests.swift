import Kinds
import TestSupport
import Testing

@testable import Core

@Suite struct SettingsTests {
  let scratch = Scratch()
  private let two = "[profile a]\nurl = https://a.example\n[profile b]\nurl = https://b.example\n"

  @Test func withoutAFileThereIsAProfileWithoutAName() throws {
    #expect(try scratch.settings().profile() == .init())
    let settings = try scratch.settings(environment: ["AGENT_URL": "http://e"])
    #expect(try settings.profile() == .init(place: .url("http://e")))
  }

  @Test func theOnlyProfileIsTheDefault() throws {
    let settings = try scratch.settings("[profile x]\nurl = https://x\ntoken-file = ~/t\n")
    #expect(
      try settings.profile()
        == .init(name: "x", place: .url("https://x"), tokenFile: scratch.file("t"), kind: .clanky))
  }

  @Test func theOneNamedDefaultIsTheDefault() throws {
    let settings = try scratch.settings(two + "[profile default]\nurl = https://d\n")
    #expect(try settings.profile().name == "default")
  }

  @Test func theFileMayNameTheDefault() throws {
    let settings = try scratch.settings(
      "profile = b\n" + two + "[profile default]\nurl = https://d\n")
    #expect(try settings.profile().name == "b")
  }

  @Test func optionThenEnvironmentThenFile() throws {
    let text = "profile = a\n" + two + "[profile c]\nurl = https://c\n"
    let settings = try scratch.settings(text, environment: ["AGENT_PROFILE": "b"])
    #expect(try settings.profile("c").name == "c")
    #expect(try settings.profile().name == "b")
    #expect(try scratch.settings(text).profile().name == "a")
    #expect(try scratch.settings(text, environment: ["AGENT_PROFILE": ""]).profile().name == "a")
  }

  @Test func severalAndNoDefaultIsAnErrorUnlessAUrlIsGiven() throws {
    let file = scratch.file("config/agentutils/config")
    #expect(
      throws: Failure(
        file, "several profiles: name one with -p, or put 'profile = NAME' at the top")
    ) { try scratch.settings(two).profile() }
    let settings = try scratch.settings(two, environment: ["AGENT_URL": "http://e"])
    #expect(try settings.profile() == .init(place: .url("http://e")))
  }

  @Test(arguments: [
    ("openclaw", "ws://a", "http://e", KindFacts.clanky),
    ("openclaw", "wss://a", "WS://e", .openclaw),
    ("clanky", "http://a", "wss://e", .openclaw), ("pincer", "http://a", "https://e", .pincer),
    ("openclaw", "http://a", "http://e", .openclaw),
  ])
  func anAddressOfAnotherSortIsNotTheDefaultProfiles(
    kind: String, own: String, url: String, want: KindFacts
  ) throws {
    let text = "[profile a]\nkind = \(kind)\nurl = \(own)\n"
    let settings = try scratch.settings(text, environment: ["AGENT_URL": url])
    #expect(try settings.profile().kind == want)
    #expect(try settings.profile("a").kind.name == kind)
    let named = try scratch.settings(text, environment: ["AGENT_URL": url, "AGENT_PROFILE": "a"])
    #expect(try named.profile().kind.name == kind)
  }

  @Test(arguments: ["option", "environment", "file"])
  func aProfileThatIsNotThereIsAnError(source: String) throws {
    let settings = try scratch.settings(
      (source == "file" ? "profile = z\n" : "") + two,
      environment: source == "environment" ? ["AGENT_PROFILE": "z"] : [:])
    #expect(
      throws: Failure(
        "profile z",
        "not in \(scratch.file("config/agentutils/config")); 'agent-setup -p z' writes it")
    ) { try settings.profile(source == "option" ? "z" : nil) }
  }

  @Test func aDamagedProfileIsAnErrorAndTheOthersAreNot() throws {
    let settings = try scratch.settings("[profile bad]\nurl = https://x\ntoken-file\n" + two)
    let path = settings.configuration.path
    #expect(
      throws: Failure(
        "profile bad", "line 3 of \(path) is at fault: not of the form key = value")
    ) { try settings.profile("bad") }
    #expect(try settings.profile("a").url == "https://a.example")
  }

  @Test(arguments: ["[profile b", "profile b"])
  func aBrokenLineNeverMakesAnotherProfileTheDefault(line: String) throws {
    let good = "[profile a]\nurl = https://a\n"
    let text = line.hasPrefix("[") ? good + line + "\nurl = https://b\n" : line + "\n" + good
    let settings = try scratch.settings(text)
    #expect(throws: Failure.self) { try settings.profile() }
    #expect(try settings.profile("a").url == "https://a")
  }

  @Test func theUrlOfTheEnvironmentWinsAndKeepsTokensOfOtherOriginsBack() throws {
    let text = "[profile a]\nurl = https://a.example/\ntoken-command = c\ntoken-file = /t\n"
    let same = try scratch.settings(text, environment: ["AGENT_URL": "https://A.example:443/base"])
    #expect(
      try same.profile()
        == .init(
          name: "a", place: .url("https://A.example:443/base"), tokenCommand: "c", tokenFile: "/t",
          kind: .clanky))
    for url in ["http://a.example/", "https://a.example:8443", "https://b.example", "nonsense"] {
      let other = try scratch.settings(text, environment: ["AGENT_URL": url])
      #expect(try other.profile() == .init(name: "a", place: .url(url), kind: .clanky))
    }
  }

  @Test func aProfileWithoutUrlLendsItsTokenToTheEnvironmentsUrl() throws {
    let settings = try scratch.settings(
      "[profile a]\ntoken-file = /t\n", environment: ["AGENT_URL": "http://e"])
    #expect(
      try settings.profile()
        == .init(name: "a", place: .url("http://e"), tokenFile: "/t", kind: .clanky))
  }

  @Test func hostsAreFoundByName() throws {
    let settings = try scratch.settings(
      "[host h]\nhostname = x\nidentity = ~/id\ndirectory = ~/work\n[host bad]\nport = 70000\n")
    #expect(
      try settings.host("h")
        == .init(hostname: "x", identity: scratch.file("id"), directory: "~/work"))
    #expect(try settings.host("none") == nil)
    #expect(throws: Failure.self) { try settings.host("bad") }
  }

  @Test func faultsAreSaidOncePerLine() throws {
    scratch.write(
      "config/agentutils/config",
      "colour\u{202e} = 1\n" + String(repeating: "junk\n", count: 30))
    let output = try Captured { descriptor in
      let diagnostics = Diagnostics(program: "prog", descriptor: descriptor)
      _ = try Settings(diagnostics: diagnostics, environment: scratch.environment())
    }
    let path = scratch.file("config/agentutils/config")
    let lines = output.lines
    #expect(lines.count == 21)
    #expect(lines.first == "prog: \(path):1: unknown key colour\\u{202e}")
    #expect(lines.dropFirst().first == "prog: \(path):2: not of the form key = value")
    #expect(lines.last == "prog: \(path): 11 more faults")
  }
}
