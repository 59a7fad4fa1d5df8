import Core
import Shell
import Testing

@testable import tmux_attach

@Suite struct CheckReportTests {
  private func report(_ failure: HostFailure) -> CheckReport {
    var report = CheckReport()
    report.receive(failure, host: "box:2222", place: "[box]:2222", hostKey: "as pinned")
    return report
  }

  private func failed(_ report: CheckReport) -> [String] {
    report.lines.filter { !$0.isGood }.map(\.what)
  }

  @Test func everyEndingFailsSomewhere() {
    let cases: [(HostFailure, String, Int32)] = [
      (.connectFailed(why: "refused"), "reach", 75), (.linkLost(why: "reset"), "reach", 75),
      (.silent(seconds: 12), "reach", 75), (.hostKeyChanged(explanation: ["x"]), "host key", 77),
      (.hostKeyUnknown(why: "x"), "host key", 77), (.authFailed(tried: []), "our key", 77),
      (.noCommonAlgorithm(detail: "x"), "reach", 2), (.local(why: "x"), "here", 2),
      (.closed, "reach", 75),
    ]
    for (failure, what, status) in cases {
      let report = report(failure)
      #expect(failed(report) == [what] && report.status == status, "\(failure)")
    }
  }

  @Test func whatToDoIsSaid() {
    #expect(
      report(.authFailed(tried: [])).lines.last?.says.holds("tmux-attach --authorize box:2222")
        == true)
    #expect(report(.noCommonAlgorithm(detail: "x")).lines[0].says.holds("--transport ssh"))
  }

  @Test func whatTheHostSaysOfItsPrograms() {
    var report = CheckReport()
    report.receive(
      "tmux\t/usr/bin/tmux\ttmux 3.3a\nharness\t/bin/claude", harness: "claude", word: "claude")
    #expect(failed(report) == [] && report.status == 0)
    for text in ["", "noise\nmore", "tmux\t/usr/bin/tmux", "harness", "\u{0}\t\n"] {
      var report = CheckReport()
      report.receive(text, harness: "claude", word: "claude")
      #expect(failed(report) == ["tmux", "harness"] && report.status == 1)
    }
    report = CheckReport()
    report.receive("tmux\ta\tb", harness: "$(x)", word: nil)
    #expect(failed(report) == [])
  }

  @Test func hostileTextIsShownAsText() {
    var report = CheckReport()
    report.receive("tmux\t/\u{1b}]0;x\u{7}\ttmux\r", harness: "c", word: "c")
    #expect(
      report.text.allSatisfy { line in line.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
  }

  @Test func theFirstWordOfAHarness() {
    for (harness, word) in [
      ("claude", "claude"), ("aider --model x", "aider"), ("  codex", "codex"),
      ("$SHELL", "$SHELL"),
      ("~/bin/x -y", "~/bin/x"), ("/opt/a.b_c-d/e", "/opt/a.b_c-d/e"), ("$(x)", nil), ("`x`", nil),
      ("a;b", nil), ("A=1 x", nil), ("'a b'", nil), ("~", nil), ("$HOME/x", nil),
    ] as [(String, String?)] { #expect(CheckReport.firstWord(harness) == word, "\(harness)") }
  }

  @Test func theLineToPasteHoldsTheKey() {
    #expect(
      command(authorizing: "ssh-ed25519 AAAA me").holds(
        "echo 'ssh-ed25519 AAAA me' >> ~/.ssh/authorized_keys"))
  }
}
