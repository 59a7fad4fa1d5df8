import Shell
import Testing

@Suite struct ReconnectTests {
  private let lost = HostFailure.linkLost(why: "reset")
  private let refused = HostFailure.connectFailed(why: "refused")

  /// The waits of so many failures in a row; nil is the end.
  private func waits(_ reconnect: inout Reconnect, _ failures: [HostFailure]) -> [Double?] {
    failures.map { try? reconnect.lost($0) }
  }

  @Test func waitsGrowToFifteenSeconds() {
    var reconnect = Reconnect(maxRetries: nil)
    reconnect.answered()
    let failures = [lost] + Array(repeating: refused, count: 6)
    #expect(waits(&reconnect, failures) == [1, 2, 4, 8, 15, 15, 15])
    #expect(reconnect.answered() != nil, "it was down for a while")
    #expect(waits(&reconnect, [.silent(seconds: 12), refused]) == [1, 2])
  }

  @Test func noConnectionAtFirstIsTheEnd() {
    var reconnect = Reconnect(maxRetries: nil)
    #expect(waits(&reconnect, [refused]) == [nil])
  }

  /// A host that the link was up to has not lost its algorithms: a byte was damaged.
  @Test func algorithmsAreLostOnTheWayOnceTheLinkWasUp() {
    var reconnect = Reconnect(maxRetries: nil)
    #expect(waits(&reconnect, [.noCommonAlgorithm(detail: "")]) == [nil])
    reconnect.answered()
    #expect(waits(&reconnect, [.noCommonAlgorithm(detail: "")]) == [1])
  }

  @Test func retriesAreCounted() {
    var none = Reconnect(maxRetries: 0)
    none.answered()
    #expect(waits(&none, [lost]) == [nil])
    var two = Reconnect(maxRetries: 2)
    for _ in 0..<2 {
      two.answered()
      #expect(waits(&two, [lost, refused, refused]) == [1, 2, nil])
    }
  }

  @Test(arguments: [
    HostFailure.closed, .hostKeyChanged(explanation: ["changed"]), .hostKeyUnknown(why: "unknown"),
    .authFailed(tried: ["publickey"]), .local(why: "no file"),
  ])
  func allElseIsFinal(_ failure: HostFailure) {
    var reconnect = Reconnect(maxRetries: nil)
    reconnect.answered()
    #expect(waits(&reconnect, [failure]) == [nil])
  }
}
