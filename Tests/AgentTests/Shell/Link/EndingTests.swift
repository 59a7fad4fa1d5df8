import Core
import Testing

@testable import Shell

@Suite struct EndingTests {
  @Test func signalsOfThisMachineHaveTheirNames() {
    let link = LocalLink()
    defer { link.close() }
    let channel = link.run("kill -9 $$")
    var buffer = [UInt8](repeating: 0, count: 64)
    let deadline = Clock.monotonic + 20
    while channel.ending == nil && Clock.monotonic < deadline {
      var set = PollSet()
      link.wants(&set)
      set.wait(seconds: link.deadline.map { $0 - Clock.monotonic } ?? 1)
      _ = channel.read(&buffer, atMost: 64) + channel.readError(&buffer, atMost: 64)
      link.advance(set, now: Clock.monotonic)
    }
    #expect(channel.ending == .remoteSignal(name: "KILL"))
    #expect(channel.ending?.exitStatus == 137)
  }

  @Test func aSignalThatIsNoneCountsAsTERM() {
    #expect(Ending.ended(bySignal: 40).exitStatus == 168)
    for name in ["", "no such", "0", "-3", "65", "99999999999"] {
      #expect(Ending.remoteSignal(name: name).exitStatus == 143)
    }
  }
}
