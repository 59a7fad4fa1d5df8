import Core
import Records
import Screen
import Testing

@testable import agent_approve

/// What a person decides on.
@Suite struct ApprovalCardTests {
  private func shown(_ request: String, tool: String = "exec") -> [String] {
    var approval = ApprovalRecord(
      RecordOrigin(.openclaw), id: "a\u{1b}1", tool: tool, request: Array(request.utf8),
      decisions: ["allow-once", "deny"], state: .pending, time: nil)
    approval.expires = Timestamp(seconds: 1_000_060)
    return ApprovalCard(approval).lines(now: Timestamp(seconds: 1_000_000)).map(\.text)
  }

  @Test func allThatIsKnownIsShownAndNothingElse() {
    let lines = shown(
      #"{"command":"make test","commandArgv":["make","test"],"cwd":"/srv","host":"gateway","#
        + #""commandPreview":"harmless","sessionKey":"agent:a:main","env":{"A":"1"},"nodeId":null}"#
    )
    #expect(
      lines == [
        "approval a\\e1 (exec), expires in 1m", "  runs     make test", "  in       /srv",
        "  host     gateway", "  session  agent:a:main", "  env      {\"A\":\"1\"}",
        "  preview  harmless (not the command: words about it)",
        "  answers  allow-once, deny",
      ])
  }

  @Test func aCommandWithoutItsWordsIsCalledSo() {
    #expect(shown(#"{"command":"make test"}"#).contains("  command  make test"))
    #expect(shown(#"{"command":"make test"}"#).contains("  in       not said"))
    #expect(shown(#"{"command":"a","commandArgv":["b",1]}"#).contains("  command  a"))
    #expect(!shown(#"{"commandPreview":"x"}"#).contains { $0.hasPrefix("  runs") })
    #expect(shown("{}", tool: "plugin").count == 2)
  }

  @Test func aCommandThatDiffersFromItsWordsIsShownToo() {
    let lines = shown(#"{"command":"ls","commandArgv":["rm","-rf","/"]}"#)
    #expect(lines[1] == "  runs     rm -rf /")
    #expect(lines[2] == "  command  ls")
  }

  @Test func nothingIsCut() {
    let long = String(repeating: "x", count: 100_000)
    #expect(shown(#"{"commandArgv":["echo","\#(long)"]}"#)[1] == "  runs     echo " + long)
  }

  @Test(arguments: [
    ("make", "make"), ("a b", "'a b'"), ("", "''"), ("it's", #"'it'\''s'"#), ("a;b", "'a;b'"),
    ("$HOME", "'$HOME'"), ("~", "'~'"), ("a\nb", #"$'a\nb'"#), ("\u{1b}[2J", #"$'\e[2J'"#),
    ("it's\t", #"$'it\'s\t'"#), ("\\\u{7}", #"$'\\\007'"#), ("\u{202e}x", #"$'\342\200\256x'"#),
    ("é", "'é'"), ("\u{200b}", #"$'\342\200\213'"#), ("a=b", "a=b"), ("-rf", "-rf"),
  ])
  func aWordIsWhatAShellReads(text: String, shown: String) {
    #expect(ShellText.word(text) == shown)
  }

  @Test func whatAShellWouldNotRunIsQuoted() {
    #expect(ShellText.line(["A=b", "A=b"]) == "'A=b' A=b")
    #expect(ShellText.line(["if", "if"]) == "'if' if")
    #expect(ShellText.line([]) == "")
  }

  @Test func blanksPushNothingOutOfSight() {
    let text = "ls" + String(repeating: " ", count: 60) + "/safe"
    #expect(!ShellText.isPlain(text))
    #expect(ShellText.word(text).hasPrefix("$'ls       \\040\\040"))
    #expect(ShellText.isPlain("a   b"))
  }
}
