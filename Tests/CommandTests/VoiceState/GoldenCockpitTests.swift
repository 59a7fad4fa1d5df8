import Screen
import Testing

@testable import voice_state

@Suite struct GoldenCockpitTests {
  static let samples = ["full", "scripts", "troubled", "minimal"]

  @Test(arguments: samples, VoiceSamples.widths) func plain(_ sample: String, _ width: Int) throws {
    GoldenFile.expect(
      try GoldenFrames.cockpit(sample, width: width, .none), "voice/cockpit-\(sample)-\(width).txt")
  }

  @Test(arguments: samples, VoiceSamples.widths)
  func coloured(_ sample: String, _ width: Int) throws {
    GoldenFile.expect(
      try GoldenFrames.cockpit(sample, width: width, .indexed),
      "voice/cockpit-\(sample)-\(width).colour.txt")
  }

  @Test func noSessionIsAnEmptyFrame() throws {
    #expect(try GoldenFrames.cockpit("empty", width: 80, .none) == "")
  }

  @Test func aChangeIsSeenLineByLine() {
    let difference = GoldenFile.difference("a\nb\nc\n", "a\nB\nc\n")
    #expect(difference == "-2\t|b|\n+2\t|B|")
    #expect(GoldenFile.difference("a\n", "a\n") == "")
  }
}
