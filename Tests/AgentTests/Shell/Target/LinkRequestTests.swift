import CLibc
import Core
import Testing

@testable import Shell

@Suite struct LinkRequestTests {
  let box = KeyBox()

  private func make(
    _ host: String?, _ configuration: String = "",
    _ change: (inout ConnectOptions) -> Void = { _ in }
  ) throws -> LinkRequest {
    _ = box.run("mkdir -p .config/agentutils")
    box.write(".config/agentutils/config", configuration)
    let path = box.path
    let settings = try Settings(environment: { $0 == "HOME" ? path : nil })
    var options = ConnectOptions()
    change(&options)
    return try LinkRequest.make(
      host: host, options: options, settings: settings, diagnostics: Diagnostics(program: "test"))
  }

  @Test func aPlainHost() throws {
    let request = try make("ada@box:2222")
    #expect(request.destination.host == "box" && request.destination.port == 2222)
    #expect(request.destination.user == "ada" && request.identity == nil)
    #expect(request.stateFolder == box.path + "/.local/state/agentutils")
    #expect(request.pins == request.stateFolder + "/known_hosts")
    var status = stat()
    #expect(stat(request.stateFolder, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test func theSectionLiesUnder() throws {
    let section =
      "[host box]\nhostname = box.example\nport = 2200\nuser = agent\nidentity = ~/key\n"
      + "session = main\n"
    box.write("key", "")
    box.write("other", "")
    let plain = try make("box", section)
    #expect(plain.destination.host == "box.example" && plain.destination.name == "box")
    #expect(plain.destination.port == 2200 && plain.destination.user == "agent")
    #expect(plain.identity == box.file("key"))
    #expect(plain.destination.section?.session == "main")
    let written = try make("ada@box:2222", section)
    #expect(written.destination.port == 2222 && written.destination.user == "ada")
    let optioned = try make("box:2222", section) {
      $0.port = 2233
      $0.identity = "~/other"
    }
    #expect(optioned.destination.port == 2233)
    #expect(
      optioned.identity == box.file("other") && optioned.options.identity == optioned.identity)
    #expect(try make("box.example", section).destination.section == nil)
  }

  @Test func whichHostIsTheDefault() throws {
    #expect(try make(nil, "host = c@b:22\n[host a]\n[host b]\n").destination.name == "b")
    #expect(try make(nil, "[host a]\n[host default]\nhostname = d\n").destination.host == "d")
    #expect(try make(nil, "[host only]\n").destination.name == "only")
    for text in ["", "[host a]\n[host b]\n"] {
      #expect {
        try make(nil, text)
      } throws: {
        $0 is UsageError
      }
    }
  }

  @Test func whatIsAtFaultIsSaid() {
    for text in [
      "host\n[host a]\n", "[host a]\nport = x\n", "[host a]\nhostname = -oProxyCommand=x\n",
      "[host a]\nuser = -lroot\n", "[host a]\nidentity = /nowhere/key\n",
      "[host a]\nhostname = b/c\n",
    ] {
      #expect {
        try make(nil, text)
      } throws: {
        if let error = $0 as? Failure {
          error.status == .failure
        } else {
          false
        }
      }
    }
    #expect {
      try make("-x")
    } throws: { $0 is UsageError }
  }

  @Test func paths() throws {
    let here = getcwd(nil, 0)
    defer { free(here) }
    let folder = here.map { String(cString: $0) } ?? ""
    let request = try make("box") {
      $0.pins = "pins"
      $0.knownHosts = "~/known"
    }
    #expect(request.pins == folder + "/pins")
    #expect(request.options.knownHosts == box.file("known"))
    // The user's own file need not be there.
    #expect(try make("box") { $0.knownHosts = "" }.options.knownHosts == nil)
    _ = box.run("mkdir -p .ssh; touch .ssh/known_hosts")
    #expect(
      try make("box") { $0.knownHosts = "" }.options.knownHosts == box.file(".ssh/known_hosts"))
  }
}
