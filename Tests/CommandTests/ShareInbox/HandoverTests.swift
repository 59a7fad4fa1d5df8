import Shell
import Testing

@testable import share_inbox

@Suite struct HandoverTests {
  @Test func whatIsWrongWithOneFileHoldsUpNoOther() {
    let ofOne: [HostFailure] = [
      .unfit(why: "changed just now"), .noInbox("full"), .refused("too long"),
    ]
    for failure in ofOne {
      #expect(!failure.stopsDrain && failure.drainStatus == 75, "\(failure)")
    }
  }

  @Test func whatTheNextFileWouldMeetStopsAll() {
    let ofAll: [(HostFailure, Int32)] = [
      (.linkLost(why: "reset"), 75), (.late(seconds: 9, part: []), 75), (.noSession("riff"), 75),
      (.noTmux, 75), (.authFailed(tried: []), 77), (.hostKeyChanged(explanation: []), 77),
      (.local(why: "no ssh"), 2), (.interrupted(signal: 2), 130),
    ]
    for (failure, status) in ofAll {
      #expect(failure.stopsDrain && failure.drainStatus == status, "\(failure)")
    }
  }
}
