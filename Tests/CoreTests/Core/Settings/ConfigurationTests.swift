import CLibc
import Kinds
import TestSupport
import Testing

@testable import Core

@Suite struct ConfigurationTests {
  let scratch = Scratch()

  private func read(_ text: String) throws -> Configuration {
    try Configuration(contentsOf: scratch.write("config", text))
  }

  private func read(_ bytes: [UInt8]) throws -> Configuration {
    try Configuration(contentsOf: scratch.write("config", bytes))
  }

  @Test func busesAreRead() throws {
    let configuration = try read(
      """
      [bus local]
      servers = nats://a, tls://b:4223
      stream = agents
      token-file = ~/token
      [bus]
      servers = nats://c
      [bus odd]
      port = 1
      """)
    let local = try #require(configuration.buses["local"])
    #expect(local.servers == ["nats://a", "tls://b:4223"] && local.stream == "agents")
    #expect(local.files == ["token-file": "~/token"] && local.tokenCommand == nil)
    #expect(configuration.faults.map(\.line) == [5, 8])
  }

  @Test func everyKeyIsTaken() throws {
    let configuration = try read(
      """
      # comment
      profile = home
      host = box
      [profile home]
      url = https://x.example/
      token-command = pass show clanky
      token-file = ~/token
      redis-url = redis://box
      ; comment
      [host box]
      hostname = box.example
      port = 2222
      user = agent
      identity = ~/.ssh/id
      session = main
      directory = ~/work
      harness = claude
      """)
    #expect(configuration.faults.isEmpty)
    #expect(configuration.defaultProfile == "home")
    #expect(configuration.defaultHost == "box")
    #expect(
      configuration.profiles == [
        "home": .init(
          place: .url("https://x.example/"), tokenCommand: "pass show clanky", tokenFile: "~/token",
          own: ["redis-url": "redis://box"])
      ])
    #expect(
      configuration.hosts == [
        "box": .init(
          hostname: "box.example", port: 2222, user: "agent", identity: "~/.ssh/id",
          session: "main", directory: "~/work", harness: "claude")
      ])
  }

  @Test(arguments: ["\n", "\r\n"])
  func layoutIsFree(end: String) throws {
    let text = [
      "\u{feff}[profile   a b ]  ; trailing comment", "", "   url=https://x/",
      "\ttoken-file = /t  ",
      "  ; note", "[profile c] # note", "  url = https://y/;z=1 ; not a comment",
    ].joined(separator: end)
    let configuration = try read(text)
    #expect(configuration.faults.isEmpty)
    #expect(configuration.profiles["a b"] == .init(place: .url("https://x/"), tokenFile: "/t"))
    #expect(configuration.profiles["c"] == .init(place: .url("https://y/;z=1 ; not a comment")))
  }

  @Test func noKeyEndsAtAColon() throws {
    let configuration = try read(
      "[profile a]\nurl = https://x:1/\ntoken-command : echo a=b\n[profile b]\nurl: u\n")
    let faults = [3, 5].map {
      Configuration.Fault(line: $0, reason: "a : in place of the = behind a key")
    }
    #expect(configuration.faults == faults)
    #expect(configuration.profiles["a"]?.place == .url("https://x:1/"))
    #expect(["a", "b"].map { configuration.profiles[$0]?.fault } == faults)
  }

  @Test func aShellCommandIsKeptWhole() throws {
    let command = "cd /x ; test -f \"y\" && cat y # 'z' = [q]: ; true"
    let configuration = try read("[profile a]\n  token-command = \(command)\n  url = u\n")
    #expect(configuration.profiles["a"]?.tokenCommand == command)
    #expect(configuration.profiles["a"]?.url == "u")
    #expect(configuration.faults.isEmpty)
  }

  @Test func theLaterOfTwoCountsAndSectionsJoin() throws {
    let configuration = try read(
      "[profile a]\nurl = 1\n[host h]\nuser = u\n[profile a]\nurl = 2\ntoken-file = t\n")
    #expect(configuration.profiles == ["a": .init(place: .url("2"), tokenFile: "t")])
  }

  @Test func whatIsUnknownIsReportedAndPassedOver() throws {
    let configuration = try read(
      """
      colour = red
      [profile a]
      urll = 1
      url = 2
      [profiles b]
      url = 3
      url 4
      [default]
      url = 5
      [host h]
      shell = fish
      user = u
      """)
    #expect(
      configuration.faults == [
        .init(line: 1, reason: "unknown key colour"),
        .init(line: 3, reason: "unknown key urll"),
        .init(line: 5, reason: "unknown section [profiles b]"),
        .init(line: 8, reason: "unknown section [default]"),
        .init(line: 11, reason: "unknown key shell"),
      ])
    #expect(configuration.profiles == ["a": .init(place: .url("2"))])
    #expect(configuration.hosts == ["h": .init(user: "u")])
    #expect(configuration.defaultFault == nil)
  }

  @Test func theKindOfAnAgentIsOneOfFew() throws {
    let configuration = try read(
      "[profile a]\nkind = pincer\n[profile b]\nurl = u\n[profile c]\nkind = Pincer\n")
    let fault = Configuration.Fault(
      line: 6,
      reason: "unknown kind Pincer: clanky, openclaw, pincer, joelclaw, riff, pds or claude")
    #expect(configuration.faults == [fault])
    var faulty = Configuration.ProfileSection()
    faulty.fault = fault
    #expect(
      configuration.profiles == [
        "a": .init(kind: .pincer), "b": .init(place: .url("u")), "c": faulty,
      ])
    #expect(configuration.profiles["b"]?.kind == .clanky)
  }

  @Test func everyMalformedLineIsReportedAndHeldAgainstItsSection() throws {
    let configuration = try read(
      """
      [profile a]
      url
      token-file = t
      = x
      [profile b]
      url = u
      [host h]
      port = 0
      user =
      """)
    let faults = [
      Configuration.Fault(line: 2, reason: "not of the form key = value"),
      .init(line: 4, reason: "value without a key"),
      .init(line: 8, reason: "port is not a number from 1 to 65535"),
      .init(line: 9, reason: "user has no value"),
    ]
    #expect(configuration.faults == faults)
    #expect(configuration.profiles["a"]?.tokenFile == "t")
    #expect(configuration.profiles["a"]?.fault == faults[0])
    #expect(configuration.profiles["b"] == .init(place: .url("u")))
    #expect(configuration.hosts["h"] == .init(fault: faults[2]))
  }

  @Test(arguments: [
    ("[profile b", "heading without ]"),
    ("[profile b] x", "text after the heading"),
    ("[profile ]", "heading without a name"),
    ("[profile]", "heading without a name"),
    ("[host]", "heading without a name"),
    ("[profile " + String(repeating: "b", count: 50) + "]", "heading longer than 49 bytes"),
  ])
  func keysAfterABrokenHeadingFallToNoSection(heading: String, reason: String) throws {
    let configuration = try read("[profile a]\nurl = 1\n\(heading)\nurl = 2\nrubbish\n")
    let fault = Configuration.Fault(line: 3, reason: reason)
    #expect(configuration.faults == [fault])
    #expect(configuration.profiles == ["a": .init(place: .url("1"))])
    #expect(configuration.defaultFault == fault)
  }

  @Test func aLongLineIsReportedAndNeverCut() throws {
    for length in 180...600 {
      let value = String(repeating: "v", count: length)
      let configuration = try read("[profile a]\nurl = \(value)\n[profile b]\nurl = x\n")
      #expect(configuration.profiles["b"] == .init(place: .url("x")))
      if let url = configuration.profiles["a"]?.url {
        #expect(url == value && configuration.faults.isEmpty)
      } else {
        #expect(configuration.faults.count == 1)
        #expect(configuration.profiles["a"]?.fault?.line == 2)
        #expect(configuration.faults.first?.reason.hasPrefix("longer than ") == true)
      }
    }
    #expect(try read("[profile a]\nurl = \(String(repeating: "v", count: 190))").faults.isEmpty)
    #expect(!(try read("[profile a]\nurl = \(String(repeating: "v", count: 600))").faults.isEmpty))
  }

  @Test func sectionNamesOfEveryAllowedLengthAreWhole() throws {
    for length in 1...41 {
      let name = String(repeating: "n", count: length)
      #expect(try read("[profile \(name)]\nurl = x").profiles == [name: .init(place: .url("x"))])
    }
  }

  @Test func bytesThatAreNoTextAreReportedByLine() throws {
    let configuration = try read(
      Array("[profile a]\nurl = x\u{1b}[2J\nurl = a\u{0}b\nurl = ".utf8) + [0xff, 0xfe, 10]
        + Array("token-file = t\r\n".utf8))
    #expect(
      configuration.faults == [
        .init(line: 2, reason: "control character in the line"),
        .init(line: 3, reason: "control character in the line"),
        .init(line: 4, reason: "not UTF-8"),
      ])
    #expect(configuration.profiles["a"]?.tokenFile == "t")
    #expect(configuration.profiles["a"]?.url == nil)
  }

  @Test func noiseNeverCrashes() throws {
    var generator = SeededGenerator(seed: 7)
    for round in 0..<200 {
      let alphabet: [UInt8] =
        round % 2 == 0
        ? Array("[]profile host=:;#\"\\ \t\r\n\u{0}\u{1}ü".utf8) : Array(0...255)
      let noise = (0..<2000).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
      _ = try read(noise)
    }
  }

  @Test func aMissingFileIsEmpty() throws {
    #expect(
      try Configuration(contentsOf: scratch.file("none"))
        == Configuration(path: scratch.file("none")))
  }

  @Test func whatIsNoFileIsRefusedAtOnce() {
    mkdir(scratch.file("folder"), 0o700)
    mkfifo(scratch.file("fifo"), 0o600)
    for name in ["folder", "fifo"] {
      #expect(throws: Failure(scratch.file(name), "not a regular file")) {
        try Configuration(contentsOf: scratch.file(name))
      }
    }
    #expect(throws: Failure("/dev/null", "not a regular file")) {
      try Configuration(contentsOf: "/dev/null")
    }
  }

  @Test func aHugeFileIsRefused() {
    let path = scratch.write("huge", [UInt8](repeating: 0x61, count: 50 << 20))
    #expect(throws: Failure(path, "larger than 1048576 bytes")) {
      try Configuration(contentsOf: path)
    }
  }

  @Test(arguments: [0o666, 0o660, 0o620, 0o602] as [mode_t])
  func aFileThatOthersCanWriteIsRefused(_ mode: mode_t) {
    let path = scratch.write("open", "[profile a]\nurl = x\n", mode: mode)
    #expect(throws: Failure(path, "refused: others can write to it (chmod go-w)")) {
      try Configuration(contentsOf: path)
    }
  }

  @Test(arguments: [0o644, 0o640, 0o400] as [mode_t])
  func whoMayReadItDoesNotMatter(_ mode: mode_t) throws {
    let path = scratch.write("open", "[profile a]\nurl = x\n", mode: mode)
    #expect(try Configuration(contentsOf: path).profiles["a"]?.url == "x")
  }

  @Test(.enabled(if: getuid() != 0))
  func anUnreadableFileIsNamed() {
    let path = scratch.write("closed", "", mode: 0)
    #expect(throws: Failure(code: EACCES, place: path)) {
      try Configuration(contentsOf: path)
    }
  }

  // HOME=/dev/null, as accounts of services have it.
  @Test func aHomeThatIsNoFolderHoldsNoConfiguration() throws {
    scratch.write("plain", "")
    let configuration = try Configuration(contentsOf: scratch.file("plain/config"))
    #expect(configuration.profiles.isEmpty && configuration.faults.isEmpty)
  }
}
