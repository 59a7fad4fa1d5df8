import Testing

@testable import Shell

@Suite struct HostFailureTests {
  /// 75: try again; 77: credentials; 1: the answer is no; 2: something else is wrong.
  @Test func eachHasItsStatus() {
    let cases: [(HostFailure, Int32)] = [
      (.connectFailed(why: "refused"), 75), (.linkLost(why: "reset"), 75),
      (.silent(seconds: 12), 75), (.cutShort(says: "", part: []), 75),
      (.late(seconds: 9, part: []), 75), (.closed, 75),
      (.hostKeyChanged(explanation: ["changed"]), 77), (.hostKeyUnknown(why: "new"), 77),
      (.authFailed(tried: []), 77), (.noSession("riff"), 1),
      (.noCommonAlgorithm(detail: "MAC"), 2), (.noTmux, 2), (.duplicate("riff"), 2),
      (.noFolder("/srv"), 2), (.noHarness("claude"), 2), (.endedAtOnce("claude"), 2),
      (.serverEnding, 75),
      (.noShell(says: "no"), 2), (.noInbox("full"), 2),
      (.refused("no"), 2), (.local(why: "no file"), 2),
      (.unfit(why: "changed"), 2), (.interrupted(signal: 15), 143),
    ]
    for (failure, status) in cases { #expect(failure.exitStatus == status, "\(failure)") }
  }

  @Test func aLostLinkIsMadeAgain() {
    let lost: [HostFailure] = [.linkLost(why: "reset"), .silent(seconds: 12)]
    #expect(lost.allSatisfy { $0.isWorthRetry(afterSuccess: false) })
    let failed: [HostFailure] = [
      .connectFailed(why: "refused"), .noCommonAlgorithm(detail: "MAC"),
      .cutShort(says: "", part: []), .late(seconds: 9, part: []),
    ]
    #expect(failed.allSatisfy { $0.isWorthRetry(afterSuccess: true) })
    #expect(!failed.contains { $0.isWorthRetry(afterSuccess: false) })
    let final: [HostFailure] = [
      .hostKeyChanged(explanation: []), .authFailed(tried: []), .noSession("riff"),
      .local(why: ""), .unfit(why: ""), .interrupted(signal: 2), .closed,
    ]
    #expect(!final.contains { $0.isWorthRetry(afterSuccess: true) })
  }

  @Test func whatAPersonIsTold() {
    let wall = HostFailure.hostKeyChanged(explanation: ["changed", "ask its keeper"])
    #expect(wall.lines(of: "box") == ["changed", "ask its keeper"])
    #expect(HostFailure.noSession("riff").lines(of: "box") == ["box: no session riff"])
    #expect(HostFailure.late(seconds: 9, part: []).reason == "no answer within 9 s")
    #expect(HostFailure.late(seconds: 0.5, part: []).reason == "no answer within 0.5 s")
    #expect(HostFailure.cutShort(says: "", part: [1]).part == [1])
    let late = HostFailure.onlyTyped(.late(seconds: 9, part: []))
    #expect(late.exitStatus == 75 && !late.isWorthRetry(afterSuccess: true))
    #expect(late.reason == "the text was typed, but Return may be missing: no answer within 9 s")
    #expect(HostFailure.onlyTyped(.noSession("a")).exitStatus == 1)
  }
}
