import CLibc
import TestSupport
import Testing

@testable import Core

@Suite struct DiagnosticsTests {
  private func said(verbose: Bool = false, _ body: (Diagnostics) -> Void) throws -> String {
    try Captured { body(Diagnostics(program: "prog", verbose: verbose, descriptor: $0)) }.text
  }

  @Test func theForms() throws {
    #expect(try said { $0.say("hello") } == "prog: hello\n")
    #expect(try said { $0.error("file", "no such file") } == "prog: file: no such file\n")
    #expect(try said { $0.fault(file: "file", line: 3, "not JSON") } == "prog: file:3: not JSON\n")
  }

  @Test func notesAreForTheVerbose() throws {
    #expect(try said { $0.note("x") } == "")
    #expect(try said(verbose: true) { $0.note("x") } == "prog: x\n")
  }

  @Test func hostileTextIsOneVisibleLine() throws {
    let text = "a\nprog: all is well\r\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{2028}\u{0}"
    for line in [
      try said { $0.say(text) }, try said { $0.error(text, text) },
      try said { $0.fault(file: text, line: 1, text) }, try said(verbose: true) { $0.note(text) },
    ] {
      #expect(
        line.hasPrefix("prog: a\\nprog: all is well\\r\\e]0;x\\x07\\x9b2J\\u{202e}\\u{2028}\\x00"))
      #expect(line.unicodeScalars.filter(Visible.mustEscape) == ["\n"])
      #expect(line.hasSuffix("\n"))
    }
  }

  @Test func aLongLineIsWrittenWhole() throws {
    let text = String(repeating: "é", count: 500_000)
    #expect(try said { $0.say(text) } == "prog: \(text)\n")
  }

  @Test func systemReasonsAreLowerCase() {
    #expect(systemReason(ENOENT) == "no such file or directory")
    #expect(systemReason(ENOSPC) == "no space left on device")
    for code in Int32(1)...140 {
      let reason = systemReason(code)
      let second = reason.dropFirst().first
      #expect(
        !reason.isEmpty && (reason.first?.isUppercase == false || second?.isLowercase == false))
    }
  }
}
