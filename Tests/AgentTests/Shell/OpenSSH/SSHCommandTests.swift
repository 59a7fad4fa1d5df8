import Core
import Testing

@testable import Shell

@Suite struct SSHCommandTests {
  let box = KeyBox()

  private func command(
    _ host: String = "ada@box:2222", _ settings: String = "",
    change: (inout LinkRequest) -> Void = { _ in }
  ) throws -> SSHPlan {
    var request = LinkRequest(
      destination: try Destination(host), options: ConnectOptions(), identity: nil,
      pins: box.file("pins"), stateFolder: box.path)
    change(&request)
    return try SSHPlan(request, SSHSettings(settings)) { _, _ in }
  }

  private func options(_ words: [String]) -> [String] {
    words.indices.filter { words[$0] == "-o" }.map { words[$0 + 1] }
  }

  @Test func theTargetCannotBeAnOption() throws {
    let words = try command().terminal("exec sh", log: "/run/log")
    #expect(words.suffix(7) == ["-p", "2222", "-l", "ada", "--", "box", "exec sh"])
    #expect(
      try SSHPlan.question(Destination("box")).dropFirst() == ["-G", "--", "box"])
  }

  @Test func whatWouldBreakUsIsOverridden() throws {
    let words = try command().terminal("x", log: "/run/log")
    for option in [
      "ControlMaster=no", "RemoteCommand=none", "PermitLocalCommand=no", "LogLevel=DEBUG1",
      "EscapeChar=none", "StrictHostKeyChecking=accept-new", "NoHostAuthenticationForLocalhost=no",
      "VerifyHostKeyDNS=no", "ServerAliveInterval=4", "ServerAliveCountMax=2",
    ] {
      #expect(options(words).contains(option), "\(option)")
    }
    #expect(words.contains("-tt"))
    // Only to an ssh that knows the words: an older one would refuse them.
    #expect(!options(words).contains { $0.hasPrefix("SessionType") })
    let newer = try command("box", "sessiontype none\nstdinnull yes\nknownhostscommand /bin/x")
      .terminal("x", log: "/run/log")
    for option in ["SessionType=default", "StdinNull=no", "KnownHostsCommand=none"] {
      #expect(options(newer).contains(option), "\(option)")
    }
  }

  @Test func pathsAreOneWordWithoutTokens() throws {
    box.write("a\"b\\c", "")
    let command = try command {
      $0.pins = box.file("my pins%h")
      $0.options.knownHosts = box.file("a\"b\\c")
    }
    let words = options(command.terminal("x", log: "/run/log"))
    let folder = box.path
    #expect(
      words.contains(
        "UserKnownHostsFile=\"\(folder)/my pins%%h\" \"\(folder)/a\\\"b\\\\c\""))
  }

  @Test func aKeyThatIsNamedIsAlone() throws {
    func keys(_ change: (inout LinkRequest) -> Void = { _ in }) throws -> [String] {
      let settings = "identityfile ~/.ssh/id_rsa\nidentityfile ~/.ssh/id_ed25519"
      return options(try command("box", settings, change: change).terminal("x", log: "l"))
        .filter { $0.hasPrefix("Identit") }
    }
    #expect(try keys() == [])
    let own = box.write("id_ed25519", "")
    #expect(
      try keys() == [
        "IdentityFile=~/.ssh/id_rsa", "IdentityFile=~/.ssh/id_ed25519", "IdentityFile=\"\(own)\"",
      ])
    #expect(
      try keys { $0.identity = "/keys/it" } == [
        "IdentitiesOnly=yes", "IdentityFile=\"/keys/it\"",
      ])
    let ofAgent = try keys {
      $0.identity = "/keys/it"
      $0.options.usesAgent = true
    }
    #expect(!ofAgent.contains("IdentitiesOnly=yes"))
  }

  @Test func aMasterAsksNobodyWhereNobodyIs() throws {
    let words = try command().master(socket: "/run/m%1", log: "/run/log", isAlone: true)
    #expect(options(words).contains("BatchMode=yes"))
    #expect(words.contains("/run/m%%1"))
    #expect(words.last == "box")
    let other = try command().master(socket: "/run/m", log: "/run/log", isAlone: false)
    #expect(!options(other).contains("BatchMode=yes"))
  }
}

@Suite struct MuxMessageTests {
  @Test func aSessionIsAskedFor() {
    #expect(
      MuxMessage.session("ls")
        == [
          0, 0, 0, 46, 0x10, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
          0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 2, 0x6c, 0x73,
        ].withLength)
    #expect(MuxMessage.hello == [0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 4])
  }

  @Test func answersAreTakenOneByOne() {
    var bytes: [UInt8] =
      [0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 4]
      + [0, 0, 0, 12, 0x80, 0, 0, 5, 0, 0, 0, 0, 0, 0, 1, 2]
      + [0, 0, 0, 12, 0x80, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 9]
      + [0, 0, 0, 12, 0x80, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 7]
      + [0, 0, 0, 14, 0x80, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0x6e, 0x6f, 0, 0]
    #expect(MuxMessage.next(&bytes) == .hello(version: 4))
    #expect(MuxMessage.next(&bytes) == .alive(process: 258))
    #expect(MuxMessage.next(&bytes) == .opened)
    #expect(MuxMessage.next(&bytes) == .exited(status: 7))
    #expect(MuxMessage.next(&bytes) == .refused(why: "no"))
    #expect(MuxMessage.next(&bytes) == nil)
    // What lacks its end waits for it.
    #expect(MuxMessage.next(&bytes) == nil)
    #expect(bytes == [0, 0])
  }
}

extension [UInt8] {
  /// With the length that the bytes behind the first four have.
  fileprivate var withLength: [UInt8] { [0, 0, 0, UInt8(count - 4)] + dropFirst(4) }
}
