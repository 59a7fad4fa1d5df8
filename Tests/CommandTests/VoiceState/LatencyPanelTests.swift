import Core
import Screen
import Testing

@testable import voice_state

@Suite struct LatencyPanelTests {
  static let grades: [(Double, Double?, Bool, LatencyPanel.Grade)] = [
    (130, 100, false, .good), (130.1, 100, false, .ok), (200, 100, false, .ok),
    (200.1, 100, false, .bad), (9000, nil, false, .good), (5, 0, false, .good),
    (2000, 2000, true, .good), (2001, 2001, true, .ok), (2001, nil, true, .ok),
    (2001, 1000, true, .bad), (3000, 3000, false, .good),
  ]

  @Test(arguments: grades)
  func grade(_ value: Double, _ average: Double?, _ isTotal: Bool, _ grade: LatencyPanel.Grade) {
    #expect(LatencyPanel.Grade(value, average: average, isTotal: isTotal) == grade)
  }

  private static let session = #"""
    {"latency":{"recentTurns":[{"at":"2026-05-09T18:30:16.206Z","finalizedToAsrStartMs":44,
    "asrToGenerationStartMs":118,"generationToReplyRequestMs":3890,
    "replyRequestToAudioStartMs":85,"totalMs":4137},{"at":"2026-05-09T18:30:07.900Z",
    "finalizedToAsrStartMs":null,"asrToGenerationStartMs":131,"generationToReplyRequestMs":902,
    "replyRequestToAudioStartMs":77,"totalMs":1110}],"averages":{"finalizedToAsrStartMs":44,
    "asrToGenerationStartMs":125,"generationToReplyRequestMs":2396,
    "replyRequestToAudioStartMs":30,"totalMs":2624},"turnCount":2}}
    """#

  private func panel(_ text: String = session) throws -> LatencyPanel? {
    LatencyPanel(try voiceSession(text), at: Now(voiceTestNow))
  }

  @Test func aRowPerAnswer() throws {
    let panel = try #require(try panel())
    #expect(panel.note.text == "last 4.1s slow, median 2.6s")
    let lines = panel.lines(width: 67).map(\.text)
    #expect(lines[0] == "            to ASR      to gen    to reply    to audio       total ")
    #expect(lines[1] == "14s ago ▏     44ms  ▏    118ms  ████  3.9s+ ▏     85ms! ████  4.1s+")
    #expect(lines[2] == "23s ago          -  ▏    131ms  ▉    902ms  ▏     77ms! █▏    1.1s ")
    #expect(lines[3] == " median ▏     44ms  ▏    125ms  ██▌   2.4s  ▏     81ms  ██▌   2.6s ")
    #expect(lines[4] == "average ▏     44ms  ▏    125ms  ██▌   2.4s  ▏     30ms  ██▌   2.6s ")
    #expect(lines[5] == "+ over 1.3 times its average, ! over twice; total + over 2s")
    #expect(panel.lines(width: 67).allSatisfy { $0.cells <= 67 })
  }

  @Test func coloursGoWithTheMarks() throws {
    let row = try #require(try panel()?.lines(width: 67)[1])
    func colour(_ text: String) -> Colour? { row.spans.first { $0.text == text }?.style.colour }
    #expect(colour("44ms") == Palette.positive && colour("3.9s") == Palette.warning)
    #expect(colour("85ms") == Palette.error && colour("!") == Palette.error)
  }

  @Test func narrowScreensHaveABarPerStage() throws {
    let lines = try panel()?.lines(width: 40).map(\.text) ?? []
    #expect(lines[0] == "14s ago to ASR     44ms  ▏")
    #expect(lines[2] == "        to reply   3.9s+ ██████████████▏")
    #expect(lines[4] == "        total      4.1s+ ███████████████")
    #expect(lines[5] == "23s ago total      1.1s  ████")
    #expect(lines.contains("median  to ASR     44ms  ▏"))
  }

  @Test func nothingToShow() throws {
    #expect(try panel("{}") == nil)
    #expect(try panel(#"{"latency":{"recentTurns":[],"averages":{}}}"#) == nil)
    #expect(try panel(#"{"latency":{"recentTurns":[{}],"averages":null}}"#) == nil)
    #expect(
      try panel(#"{"latency":{"averages":{"totalMs":-1,"asrToGenerationStartMs":1e300}}}"#) == nil)
  }

  @Test func longTimesKeepTheirColumns() throws {
    let session = #"{"latency":{"averages":{"asrToGenerationStartMs":9e10,"totalMs":36000000}}}"#
    let lines = try panel(session)?.lines(width: 60).map(\.text) ?? []
    #expect(
      lines.last == "average         -   1041d16h          -         -  ██   10h ", "\(lines)")
  }
}
