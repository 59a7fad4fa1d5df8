import Core
import Testing

@testable import Shell

@Suite struct ShellWordTests {
  @Test func wordsOfAShell() {
    #expect(ShellWord.quoted("") == "''")
    #expect(ShellWord.quoted("a b;$x") == "'a b;$x'")
    #expect(ShellWord.quoted("it's") == #"'it'\''s'"#)
  }

  @Test func onlyPlainTextIsLeft() {
    #expect(ShellWord.octal("a'b\\c!\nü") == #"a\0047b\0134c\0041\0012\0303\0274"#)
    #expect(ShellWord.octal(FileName.text([0x61, 0xe9])) == #"a\0351"#, "a name's bytes")
  }

  @Test func aScriptForAnyShell() {
    #expect(
      ShellWord.login(script: "echo '1'") == #"exec "$SHELL" -lc 'exec sh -c '\''"#
        + #"eval "$(printf %b "$1")"'\'' sh '\''echo \00471\0047'\'''"#)
  }

  @Test func aScriptWithItsInput() {
    #expect(
      ShellWord.login(script: "cat", hidesInput: true).hasSuffix(
        #"'\''cat'\'' <&3 3<&-' 3<&0 </dev/null"#))
  }
}
