import CLibc
import Testing

@testable import Core

@Suite struct CredentialsTests {
  let scratch = Scratch()

  private func token(
    option: String? = nil, profile: Settings.Profile? = .init(),
    _ environment: [String: String] = [:]
  ) throws(Failure) -> String? {
    let environment = scratch.environment(environment)
    let credentials = Credentials(
      folders: Folders(environment: environment), environment: environment)
    return try credentials.token(option: option, profile: profile)?.reveal()
  }

  @Test func theOrderIsAsPromised() throws {
    let option = scratch.write("option", "1")
    scratch.write("service/agentutils-token", "2")
    let service = ["CREDENTIALS_DIRECTORY": scratch.file("service")]
    let variable = ["AGENT_TOKEN_FILE": scratch.write("variable", "3")]
    let both = service.merging(variable) { $1 }
    let file = scratch.write("file", "5")
    let profile = Settings.Profile(tokenCommand: "echo 4", tokenFile: file)
    scratch.write("config/agentutils/token", "6")
    #expect(try token(option: option, profile: profile, both) == "1")
    #expect(try token(profile: profile, both) == "2")
    #expect(try token(profile: profile, variable) == "3")
    #expect(try token(profile: profile) == "4")
    #expect(try token(profile: .init(tokenFile: file)) == "5")
    #expect(try token() == "6")
    #expect(try token(profile: nil) == nil)
    unlink(scratch.file("config/agentutils/token"))
    #expect(try token() == nil)
    unlink(scratch.file("service/agentutils-token"))
    #expect(try token(profile: profile, both) == "3")
  }

  @Test func aSourceThatFailsIsNotPassedOver() {
    scratch.write("config/agentutils/token", "6")
    let none = scratch.file("none")
    let missing = Failure(none, "no such file", .denied)
    #expect(throws: missing) { try token(option: none) }
    #expect(throws: missing) { try token([:].merging(["AGENT_TOKEN_FILE": none]) { $1 }) }
    #expect(throws: missing) { try token(profile: .init(tokenFile: none)) }
    #expect(
      throws: Failure("token-command of profile p", "command failed with status 3", .denied)
    ) { try token(profile: .init(name: "p", tokenCommand: "exit 3", tokenFile: none)) }
  }

  @Test(arguments: [0o640, 0o604, 0o644, 0o660, 0o602, 0o610, 0o777] as [mode_t])
  func aFileThatOthersCanReadIsRefused(mode: mode_t) {
    let path = scratch.write("token", "s3cr3t", mode: mode)
    let refused = Failure(path, "refused: not for its owner alone (chmod 600)", .denied)
    #expect(throws: refused) { try token(option: path) }
    #expect(throws: refused) { try token(profile: .init(), ["AGENT_TOKEN_FILE": path]) }
    #expect(throws: refused) { try token(profile: .init(tokenFile: path)) }
    let last = scratch.write("config/agentutils/token", "s3cr3t", mode: mode)
    #expect(throws: Failure.self) { try token() }
    unlink(last)
  }

  @Test func theServiceManagersFileMayBeForItsGroup() throws {
    let service = ["CREDENTIALS_DIRECTORY": scratch.file("service")]
    scratch.write("service/agentutils-token", "t", mode: 0o440)
    #expect(try token(service) == "t")
    chmod(scratch.file("service/agentutils-token"), 0o444)
    #expect(throws: Failure.self) { try token(service) }
  }

  private func token(_ environment: [String: String]) throws(Failure) -> String? {
    try token(profile: .init(), environment)
  }

  @Test(arguments: [
    ("tok", "tok"), ("tok\n", "tok"), ("tok\r\n", "tok"), ("two words\n", "two words"),
    ("schlüssel\n", "schlüssel"), ("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", nil),
  ])
  func oneLineIsAToken(content: String, expected: String?) throws {
    #expect(try token(option: scratch.write("token", content)) == expected ?? content)
  }

  @Test(arguments: [
    ("", "empty", Core.ExitStatus.denied), ("\n", "empty", .denied), ("\r\n", "empty", .denied),
    ("s3cr3t\n\n", "more than one line", .failure),
    ("s3cr3t\nx-evil: 1", "more than one line", .failure),
    ("s3cr3t\rx-evil: 1", "more than one line", .failure),
    ("\ns3cr3t", "more than one line", .failure),
    ("s3cr3t\t", "control or invisible character in the token", .failure),
    ("s3cr3t\u{0}", "control or invisible character in the token", .failure),
    ("s3\u{feff}cr3t", "control or invisible character in the token", .failure),
    ("s3cr3t\u{85}", "control or invisible character in the token", .failure),
    ("s3cr3t \n", "blank before or after the token", .failure),
    (" s3cr3t", "blank before or after the token", .failure),
  ])
  func anythingElseIsNone(content: String, reason: String, status: Core.ExitStatus) {
    let path = scratch.write("token", content)
    #expect(throws: Failure(path, reason, status)) { try token(option: path) }
    let source = "token-command"
    #expect(throws: Failure(source, reason, status)) {
      try token(profile: .init(tokenCommand: "cat '\(path)'"))
    }
  }

  @Test func bytesThatAreNoTextAreRefused() {
    let path = scratch.write("token", [0x61, 0xff])
    #expect(throws: Failure(path, "not UTF-8")) { try token(option: path) }
  }

  @Test func aLongFileIsRefused() {
    let path = scratch.write("token", [UInt8](repeating: 0x61, count: 65537))
    #expect(throws: Failure(path, "larger than 65536 bytes")) { try token(option: path) }
  }

  @Test func whatIsNoFileIsRefusedWithoutWaiting() {
    mkfifo(scratch.file("fifo"), 0o600)
    mkdir(scratch.file("folder"), 0o700)
    #expect(throws: Failure(scratch.file("folder"), "not a regular file")) {
      try token(option: scratch.file("folder"))
    }
    for name in ["fifo", "folder"] {
      #expect(throws: Failure(scratch.file(name), "not a regular file")) {
        try token(profile: .init(tokenFile: scratch.file(name)))
      }
    }
  }

  @Test func theOptionTakesAPipe() throws {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    #expect(CLibc.write(ends[1], "tok\n", 4) == 4)
    close(ends[1])
    defer { close(ends[0]) }
    #expect(try token(option: "/dev/fd/\(ends[0])") == "tok")
  }

  @Test func aPathOfTheEnvironmentMayBeginWithATilde() throws {
    scratch.write("mine", "tok")
    #expect(try token(["AGENT_TOKEN_FILE": "~/mine"]) == "tok")
  }
}
