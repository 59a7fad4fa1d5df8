import Screen
import Testing

@testable import voice_state

@Suite struct GoldenPanelTests {
  static let names = Panels.all.map { $0.name }

  private func panel(_ name: String) throws -> any Panel.Type { try #require(Panels.named(name)) }

  @Test(arguments: names) func plain(_ name: String) throws {
    let text = try GoldenFrames.panel(
      panel(name),
      [
        ("full", VoiceSamples.widths), ("spec", [80]), ("troubled", [80]), ("minimal", [80]),
        ("scripts", VoiceSamples.widths), ("hostile", [40, 80]), ("null", [80]), ("wrong", [80]),
      ], .none)
    GoldenFile.expect(text, "voice/\(name).txt")
  }

  @Test(arguments: names) func coloured(_ name: String) throws {
    let text = try GoldenFrames.panel(
      panel(name),
      [("full", VoiceSamples.widths), ("troubled", [80]), ("minimal", [80]), ("scripts", [80])],
      .indexed)
    GoldenFile.expect(text, "voice/\(name).colour.txt")
  }
}
