import Core
import Testing

@testable import Shell

@Suite struct ShellWordTests {
  @Test func wordsOfAShell() {
    #expect("".shellQuoted == "''")
    #expect("a b;$x".shellQuoted == "'a b;$x'")
    #expect("it's".shellQuoted == #"'it'\''s'"#)
  }

  @Test func onlyPlainTextIsLeft() {
    #expect(ShellWord.octal("a'b\\c!\nü") == #"a\0047b\0134c\0041\0012\0303\0274"#)
    #expect(ShellWord.octal(FileName.text([0x61, 0xe9])) == #"a\0351"#, "a name's bytes")
  }

  @Test func aPlainScript() {
    #expect(
      ShellWord.login(script: "a '1'\nb") == #"exec "$SHELL" -lc 'exec sh -c '\''n=${IFS#??}; "#
        + #"set -f; IFS="^"; set -- $1; IFS=$n; set -- "$*"; unset IFS n; set +f; eval "$1"'\''"#
        + #" sh '\''a '\'''\\''\'''\''1'\'''\\''\'''\''^b'\'''"#)
  }

  @Test func aScriptOfOtherSigns() {
    #expect(
      ShellWord.login(script: "echo 'ü'") == #"exec "$SHELL" -lc 'exec sh -c '\''"#
        + #"eval "$(printf %b "$1")"'\'' sh '\''echo \0047\0303\0274\0047'\'''"#)
    let long = ShellWord.login(script: "echo " + String(repeating: "'", count: 5000))
    #expect(long.holds("printf %b") && long.utf8.count < 32 << 10)
  }

  /// By whatever shell is the user's on the host, of those that are here.
  @Test(arguments: ["sh", "dash", "bash", "zsh", "ksh", "mksh", "fish"])
  func whatAShellMakesOfIt(_ shell: String) throws {
    let box = KeyBox()
    let words = ["", "a  b", "it's", "'", #"\'\"#, "!x !!", "$HOME `x` ^ @ # *", #"%s\n"#, "{a,b}"]
    let others = [
      [], ["~%"], ["two\n\nlines\n"], ["ü\t\u{1b}"], [String(repeating: "'", count: 900)],
    ]
    for more in others {
      let all = words + more
      let script =
        "set -- \(all.map(\.shellQuoted).joined(separator: " "))\n\nfor word\ndo\n"
        + "  printf '<%s>' \"$word\"\ndone\nset -- 'a b'\nprintf '%s.' $1"
      // `env` says by 127 that the shell is not here.
      let child = try ChildProcess(
        ["env", shell, "-c", ShellWord.login(script: script)],
        environment: ["SHELL": shell, "HOME": box.path])
      var said: [UInt8] = []
      while ChildProcess.drain(child.output, into: &said) {
        var set = PollSet()
        set.add(child.output)
        set.wait(seconds: 10)
      }
      _ = child.waitForEnd()
      if child.exitStatus == 127 { return }
      #expect(
        String(decoding: said, as: UTF8.self) == all.map { "<\($0)>" }.joined() + "a.b.",
        "\(shell): \(more)")
    }
  }

  @Test func aScriptWithItsInput() {
    #expect(
      ShellWord.login(script: "cat", hidesInput: true).hasSuffix(
        #"'\''cat'\'' <&3 3<&-' 3<&0 </dev/null"#))
  }
}
