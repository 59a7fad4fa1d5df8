import Core
import Testing

@testable import Shell
@testable import tmux_attach

@Suite struct SessionSummaryTests {
  private func session(_ name: String, _ state: AgentState) -> TmuxSession {
    TmuxSession(
      id: "$0", name: name, windows: 1, attached: 0, created: Timestamp(seconds: 1),
      activity: Timestamp(seconds: 1), directory: [], command: [], state: state)
  }

  private func line(_ form: ListForm, _ kinds: AgentState.Kind...) -> String {
    form.line(kinds.map { session("n", AgentState($0)) })
  }

  @Test func counts() {
    #expect(line(.line) == "no session")
    #expect(line(.tmux) == "")
    #expect(line(.line, .idle, .waiting, .idle, .working) == "1 waiting · 1 working · 2 idle")
    #expect(line(.tmux, .idle, .idle) == "● 2 idle")
    #expect(line(.tmux, .unknown) == "#[fg=#9ca3af]●#[default] 1 unknown")
  }

  @Test func bars() throws {
    let none = try JSONValue.parse(text: line(.waybar))
    #expect(none["text"]?.string == "" && none["alt"]?.string == "none")
    let some = try JSONValue.parse(text: line(.waybar, .idle, .waiting))
    #expect(some["class"]?.elements.map(\.string) == ["waiting", "idle"])
    let block = try JSONValue.parse(text: line(.i3, .working))
    #expect(block["full_text"]?.string == "1 working" && block["color"]?.string == "#16a34a")
    let calm = try JSONValue.parse(text: line(.i3, .idle))
    #expect(calm["color"] == nil)
  }

  @Test func nothingOfOthersIsAControlOrMarkup() throws {
    let state = AgentState(.waiting, reason: "<b>\u{1b}[31m\u{202e}#(x)\nline")
    for form in [ListForm.line, .tmux, .waybar, .i3] {
      let line = form.line([session("<i>#[x]\r\n", state)])
      #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202e })
      let trouble = form.trouble(.connectFailed(why: "#(x) <b>\u{1b}\n"))
      #expect(!trouble.unicodeScalars.contains { $0.value < 0x20 })
      #expect(trouble.contains("○ unreachable") || form == .tmux)
    }
    let bar = try JSONValue.parse(text: ListForm.waybar.line([session("<i>", state)]))
    #expect(bar["tooltip"]?.string?.hasPrefix("&lt;i&gt;: waiting: &lt;b&gt;") == true)
  }
}
