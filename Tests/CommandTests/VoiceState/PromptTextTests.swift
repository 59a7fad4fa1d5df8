import Core
import Testing

@testable import voice_state

@Suite struct PromptTextTests {
  @Test func aPromptIsPrintedWhole() throws {
    let text = try #require(
      PromptText.whole(.generation, of: try VoiceSamples.session("full")))
    #expect(
      text.hasPrefix("== system (312 B)\nYou are Lantern, the voice of the Rooftop Astronomers.\n"))
    #expect(text.contains("\n== user (105 B)\nIlse: Lantern, when do"))
    #expect(text.contains("\n== follow-up 2 ("))
    #expect(
      text.hasSuffix(
        "\n== tools (3)\nweb_search: Search the web\nsky_chart: Draw the sky for a place and a time\nmemory_search: Look something up in memory\n"
      ))
  }

  @Test func nothingIsCutOff() throws {
    let long = String(repeating: "漢字 and more\n", count: 50_000)
    let session = try voiceSession(
      #"{"promptState":{"bridge":{"replyPrompts":{"systemPrompt":"\#(long.replacing("\n", with: "\\n"))"}}}}"#
    )
    let text = try #require(PromptText.whole(.bridge, of: session))
    #expect(text.utf8.count > long.utf8.count && text.hasSuffix(long))
  }

  @Test func whatASessionHasNotIsNil() throws {
    let session = try VoiceSamples.session("minimal")
    for name in PromptText.Name.allCases { #expect(PromptText.whole(name, of: session) == nil) }
    let empty = try voiceSession(#"{"promptState":{"classifier":{}}}"#)
    #expect(PromptText.whole(.classifier, of: empty) == "")
  }
}
