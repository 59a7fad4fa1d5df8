import CLibc
import Testing

@testable import Core

@Suite struct TokenCommandTests {
  private func run(_ command: String) throws(Failure) -> String {
    try TokenCommand.run(command, source: "token-command").reveal()
  }

  @Test(arguments: [
    ("echo tok", "tok"), ("printf tok", "tok"), ("printf 'a;b' ; true", "a;b"),
    ("cat; echo tok", "tok"), ("sleep 0.1; echo tok", "tok"),
    ("printf t; sleep 0.05; printf o; sleep 0.05; echo k", "tok"),
  ])
  func theOutputIsTheToken(command: String, expected: String) throws {
    #expect(try run(command) == expected)
  }

  @Test(arguments: [
    ("echo s3cr3t; exit 1", "command failed with status 1"),
    ("false", "command failed with status 1"),
    ("/none/such 2>/dev/null", "command failed with status 127"),
    ("kill -TERM $$", "command ended by signal 15"),
    ("echo s3cr3t; kill -KILL $$", "command ended by signal 9"),
    ("true", "empty"),
  ])
  func aFailureIsAnErrorWhateverWasPrinted(command: String, reason: String) {
    #expect(throws: Failure("token-command", reason, .denied)) { try run(command) }
  }

  @Test func whatGoesOnInTheBackgroundIsNotWaitedFor() throws {
    let start = Clock.monotonic
    #expect(try run("sleep 7 & echo tok") == "tok")
    #expect(Clock.monotonic - start < 5)
  }

  @Test(arguments: ["exec sleep 9", "exec >&-; exec sleep 9", "echo tok; exec sleep 9"])
  func nothingIsWaitedForLongerThanTheCallerMay(command: String) {
    let start = Clock.monotonic
    #expect(throws: Failure("token-command", "took too long", .temporary)) {
      try TokenCommand.run(command, source: "token-command", deadline: start + 0.3)
    }
    #expect(Clock.monotonic - start < 5)
  }

  @Test func endlessOutputIsCutOff() {
    #expect(throws: Failure("token-command", "output larger than 65536 bytes")) {
      try run("trap '' TERM PIPE; while :; do echo sssssssssssssssssssssssssssssssss; done")
    }
  }

  @Test func noDescriptorIsLeftOpenAndNoChildIsLeft() throws {
    func count() -> Int {
      (3..<256).reduce(0) { $0 + (fcntlIsOpen(Int32($1)) ? 1 : 0) }
    }
    func fcntlIsOpen(_ descriptor: Int32) -> Bool {
      var status = stat()
      return fstat(descriptor, &status) == 0
    }
    // Other tests open files meanwhile: more than ten runs would leave shows.
    let before = count()
    for _ in 0..<40 { _ = try run("echo tok") }
    #expect(count() < before + 30)
  }

  @Test func theCommandDiesOfAClosedPipeThoughWeIgnoreIt() throws {
    clibc_signal_ignore(SIGPIPE)
    let scratch = Scratch()
    let status = scratch.file("status")
    #expect(try run("{ yes 2>/dev/null; echo $? >'\(status)'; } | head -1 | sed s/y/tok/") == "tok")
    #expect(try StateFile(path: status).read() == Array("141\n".utf8))
  }
}
