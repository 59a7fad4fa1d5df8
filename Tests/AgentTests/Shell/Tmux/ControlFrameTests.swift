import Testing

@testable import Shell

@Suite struct ControlFrameTests {
  static let whole =
    "motd\nno line end" + "agentutils-begin-N1\n" + "one\n\ntwo" + "\nagentutils-end-N1 7\n"

  private func taken(_ text: String, inPiecesOf size: Int) -> ControlFrame {
    var frame = ControlFrame(nonce: "N1")
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
      let end = min(start + size, bytes.count)
      frame.append(bytes[start..<end])
      start = end
    }
    return frame
  }

  @Test func answerBetweenTheMarks() {
    for size in 1...Self.whole.utf8.count {
      let answer = taken(Self.whole + "bye\n", inPiecesOf: size).answer
      #expect(answer == ControlAnswer(status: 7, output: Array("one\n\ntwo".utf8)), "\(size)")
    }
  }

  @Test func noAnswerBeforeTheEnd() {
    for length in 0..<Self.whole.utf8.count {
      let frame = taken(String(Self.whole.utf8.prefix(length))!, inPiecesOf: 5)
      #expect(frame.answer == nil, "\(length) bytes")
    }
  }

  @Test func emptyAnswer() {
    let frame = taken("agentutils-begin-N1\n\nagentutils-end-N1 0\n", inPiecesOf: 3)
    #expect(frame.answer == ControlAnswer(status: 0, output: []))
  }

  @Test func marksOfOthers() {
    let text =
      "agentutils-begin-N2\nagentutils-begin-N1\nx\nagentutils-end-N2 0\n"
      + "\nagentutils-end-N1 no\ny\nagentutils-end-N1 0\n"
    let frame = taken(text, inPiecesOf: 4)
    #expect(
      frame.answer?.text == "x\nagentutils-end-N2 0\n\nagentutils-end-N1 no\ny")
  }

  @Test func partOfAnAnswer() {
    let frame = taken("noise\nagentutils-begin-N1\ntyped\n", inPiecesOf: 100)
    #expect(frame.hasBegun && frame.part == Array("typed\n".utf8))
  }

  @Test func noiseIsNotKept() {
    var frame = ControlFrame(nonce: "N1")
    let noise = [UInt8](repeating: 0x61, count: 1 << 20)
    for _ in 0..<80 { frame.append(noise[...]) }
    #expect(!frame.isTooLong && frame.part.isEmpty)
    frame.append(Array(Self.whole.utf8)[...])
    #expect(frame.answer?.status == 7)
  }

  @Test func answerWithoutEnd() {
    var frame = taken("agentutils-begin-N1\n", inPiecesOf: 100)
    let more = [UInt8](repeating: 0x61, count: 1 << 20)
    for _ in 0...64 { frame.append(more[...]) }
    #expect(frame.isTooLong && frame.answer == nil)
  }
}
