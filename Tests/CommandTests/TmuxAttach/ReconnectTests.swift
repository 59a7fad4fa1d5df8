import Shell
import Testing

@testable import tmux_attach

@Suite struct ReconnectTests {
  private let lost = Ending.failed(.linkLost(why: "reset"))
  private let refused = Ending.failed(.connectFailed(why: "refused"))

  /// The waits of so many failures in a row.
  private func waits(_ reconnect: inout Reconnect, _ endings: [Ending]) -> [Double?] {
    endings.map {
      guard case .wait(let until) = reconnect.ended($0, now: 100) else { return nil }
      return until - 100
    }
  }

  @Test func waitsGrowToFifteenSeconds() {
    var reconnect = Reconnect(maxRetries: nil)
    reconnect.attached()
    let endings = [lost] + Array(repeating: refused, count: 6)
    #expect(waits(&reconnect, endings) == [1, 2, 4, 8, 15, 15, 15])
    reconnect.attached()
    #expect(waits(&reconnect, [.failed(.silent(seconds: 12)), refused]) == [1, 2])
  }

  @Test func noConnectionAtFirstIsTheEnd() {
    var reconnect = Reconnect(maxRetries: nil)
    #expect(reconnect.ended(refused, now: 0) == .end)
  }

  /// A host that the link was up to has not lost its algorithms: a byte was damaged.
  @Test func algorithmsAreLostOnTheWayOnceTheLinkWasUp() {
    var reconnect = Reconnect(maxRetries: nil)
    #expect(reconnect.ended(.failed(.noCommonAlgorithm(detail: "")), now: 0) == .end)
    reconnect.attached()
    #expect(reconnect.ended(.failed(.noCommonAlgorithm(detail: "")), now: 0) == .wait(until: 1))
  }

  @Test func retriesAreCounted() {
    var none = Reconnect(maxRetries: 0)
    none.attached()
    #expect(none.ended(lost, now: 0) == .end)
    var two = Reconnect(maxRetries: 2)
    two.attached()
    #expect(waits(&two, [lost, refused, refused]) == [1, 2, nil])
    two.attached()
    #expect(waits(&two, [lost, refused, refused]) == [1, 2, nil])
  }

  @Test(arguments: [
    Ending.remoteExit(status: 0), .remoteExit(status: 255), .remoteSignal(name: "HUP"),
    .failed(.closed), .failed(.hostKeyChanged(explanation: ["changed"])),
    .failed(.hostKeyUnknown(why: "unknown")), .failed(.authFailed(tried: ["publickey"])),
    .failed(.local(why: "no file")),
  ])
  func allElseIsFinal(_ ending: Ending) {
    var reconnect = Reconnect(maxRetries: nil)
    reconnect.attached()
    #expect(reconnect.ended(ending, now: 0) == .end)
  }
}
