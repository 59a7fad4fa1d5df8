import Core
import Testing

@testable import Shell

@Suite struct EndingTests {
  @Test func signalsOfThisMachineHaveTheirNames() throws {
    let channel = try LocalLink().run("kill -9 $$", PollSet.wait)
    var buffer = [UInt8](repeating: 0, count: 64)
    let deadline = Clock.monotonic + 20
    while channel.ending == nil && Clock.monotonic < deadline {
      var set = PollSet()
      channel.wants(&set)
      set.wait(seconds: channel.deadline.map { $0 - Clock.monotonic } ?? 1)
      _ = channel.read(&buffer, atMost: 64) + channel.readError(&buffer, atMost: 64)
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
