import Testing

@testable import Shell

/// What a client of a control socket says, read by the side that serves it.
struct MuxRequestTests {
  private func all(_ bytes: [UInt8]) -> [MuxRequest] {
    var rest = bytes
    var found: [MuxRequest] = []
    while let request = MuxRequest.next(&rest) {
      found.append(request)
      if request == .broken { break }
    }
    return found
  }

  @Test func whatOurOwnClientSendsIsUnderstood() {
    let bytes = MuxMessage.hello + MuxMessage.check + MuxMessage.session("exec tmux 'é'")
    #expect(
      all(bytes) == [
        .hello(version: 4), .check(number: 0), .session(number: 1, command: "exec tmux 'é'"),
      ])
  }

  @Test func aRequestThatIsNotWholeYetWaits() {
    let whole = MuxMessage.session("true")
    for count in 0..<whole.count {
      var part = Array(whole[..<count])
      #expect(MuxRequest.next(&part) == nil)
      #expect(part.count == count)
    }
  }

  @Test func aTerminalIsNotServed() {
    var bytes = MuxMessage.session("true")
    // Length, kind, number, an empty string; then whether a terminal is wanted.
    bytes[19] = 1
    #expect(all(bytes) == [.other(number: 1)])
  }

  @Test func whatNobodyOfOursSendsIsBroken() {
    #expect(all([0xff, 0, 0, 0]) == [.broken])
    #expect(all(Wire.string(Wire.word(1))) == [.broken])
    let short = Array(MuxMessage.session("true").dropFirst(4).dropLast(2))
    #expect(all(Wire.string(short)) == [.broken])
    #expect(all(Wire.string(Wire.word(7) + Wire.word(9))) == [.other(number: 9)])
  }

  @Test func ourOwnClientUnderstandsTheAnswers() {
    var bytes =
      MuxMessage.alive(0, process: 77) + MuxMessage.opened(1) + MuxMessage.exited(1, status: 255)
      + MuxMessage.refused(1, why: "too many")
    var found: [MuxMessage.Answer] = []
    while let answer = MuxMessage.next(&bytes) { found.append(answer) }
    #expect(
      found == [
        .alive(process: 77), .opened, .exited(status: 255), .refused(why: "too many"),
      ])
  }
}
