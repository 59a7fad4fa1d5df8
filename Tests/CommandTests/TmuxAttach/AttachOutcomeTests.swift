import Core
import Testing

@testable import Shell
@testable import tmux_attach

@Suite struct AttachOutcomeTests {
  private func ended(
    _ ending: Ending, _ answer: AttachAnswer?, failures: Int = 0
  ) throws -> AttachOutcome {
    .ended(
      ending, of: try SessionStart(directory: "/srv", harness: "codex --x"), on: "box",
      answer: answer, failures: failures)
  }

  @Test func theRemoteStatusPasses() throws {
    #expect(try ended(.remoteExit(status: 3), .attaching) == AttachOutcome(status: 3))
    let signal = try ended(.remoteSignal(name: "KILL"), .attaching)
    #expect(signal.status == 137)
    #expect(signal.messages.count == 1)
  }

  @Test func answersOfTheHostAreTold() throws {
    let gone = try ended(.remoteExit(status: 1), .gone)
    #expect(gone.status == 1)
    #expect(gone.messages == ["box: session riff ended while the link was down"])
    #expect(try ended(.remoteExit(status: 127), .noTmux).messages[0].holds("tmux: not on"))
    #expect(try ended(.remoteExit(status: 1), .noFolder).messages[0].holds("directory /srv"))
    #expect(try ended(.remoteExit(status: 127), .noHarness).messages[0].holds("codex: not on"))
    // Without an answer nobody knows what the status is of.
    #expect(try ended(.remoteExit(status: 0), nil).messages.count == 1)
  }

  @Test func linksThatEnd() throws {
    let lost = try ended(.failed(.linkLost(why: "reset")), .attaching, failures: 2)
    #expect(lost.status == 75)
    #expect(lost.messages == ["box: gave up after 2 more tries: connection lost: reset"])
    #expect(
      try ended(.failed(.linkLost(why: "x")), nil, failures: 1).messages[0].holds(
        "after 1 more try:"))
    #expect(try ended(.failed(.connectFailed(why: "refused")), nil).messages == ["box: refused"])
    let changed = try ended(.failed(.hostKeyChanged(explanation: ["a", "b"])), nil)
    #expect(changed == AttachOutcome(status: 77, messages: ["a", "b"]))
  }

  @Test func leaving() throws {
    func left(isQuiet: Bool, hasAttached: Bool) -> AttachOutcome {
      .left("box", isQuiet: isQuiet, hasAttached: hasAttached)
    }
    #expect(left(isQuiet: false, hasAttached: true).status == 0)
    #expect(left(isQuiet: false, hasAttached: false).status == 75)
    #expect(left(isQuiet: false, hasAttached: true).messages == ["box: disconnected"])
    #expect(left(isQuiet: true, hasAttached: true).messages == [])
  }
}
