import Core
import Testing

@testable import Shell

@Suite struct TypingTests {
  private func text(_ text: String) throws -> String {
    String(decoding: try TypedText(Array(text.utf8)).bytes, as: UTF8.self)
  }

  @Test func trimmedWithOneBlankBehind() throws {
    #expect(try text(" \n\t a  b \r\n") == "a  b ")
    #expect(try text("\u{a0}\u{2003}ü\u{3000}") == "ü ")
    #expect(try text("two\nlines\tand a tab") == "two\nlines\tand a tab ")
    #expect(try text(" \n ").isEmpty)
    #expect(try text("").isEmpty)
  }

  @Test func controlsAreRefused() {
    for scalar in [0, 1, 3, 0x0b, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f] {
      let text = "a" + String(Unicode.Scalar(UInt8(scalar))) + "b"
      #expect(throws: UsageError.self, "\(scalar)") { try TypedText(Array(text.utf8)) }
    }
    #expect(throws: UsageError.self) { try TypedText([0x61, 0xff]) }
  }

  @Test func rawIsAsItIs() {
    let text = TypedText(raw: [0x20, 0x1b, 0xff, 0x0a])
    #expect(text.bytes == [0x20, 0x1b, 0xff, 0x0a] && !text.isPaste && !text.isArgument)
  }

  @Test func howItGoes() throws {
    func way(_ text: String) throws -> (Bool, Bool) {
      let typed = try TypedText(Array(text.utf8))
      return (typed.isArgument, typed.isPaste)
    }
    #expect(try way("plain") == (true, false))
    #expect(try way("ü") == (false, false))
    #expect(try way("a\nb") == (false, true))
    #expect(try way(String(repeating: "x", count: 8191)) == (true, false))
    #expect(try way(String(repeating: "x", count: 8192)) == (false, true))
    #expect(try way(String(repeating: "'", count: 2000)) == (false, false))
    #expect(try way(String(repeating: "\\'", count: 900)) == (false, false))
    #expect(try way("it's \\n") == (true, false))
  }

  @Test func onlyTheNamedSession() throws {
    let typing = Typing(session: "riff-1", text: try TypedText(Array("x;".utf8)))
    let request = typing.request(label: "riff", nonce: "n")
    #expect(request.arguments.count == 3)
    #expect(request.arguments[2].holds("send-keys -l -t =riff-1: -- '\\''x; '\\''"))
    #expect(request.arguments[2].hasPrefix("if-shell -F -t =riff-1: "))
  }

  @Test func piecesThatAnAgentTakesForWords() throws {
    for text in [
      String(repeating: "word ", count: 900), String(repeating: "a\n", count: 50),
      String(repeating: "👩‍👩‍👧 ", count: 400), "\n\n\n\nx",
      "e\u{301}" + String(repeating: "\u{301}", count: 2000),
    ] {
      let typed = try TypedText(Array(("x" + text + "x").utf8))
      let pieces = typed.pieces(atMost: 1000)
      #expect(typed.isLong)
      #expect(pieces.flatMap { $0 } == typed.bytes)
      for piece in pieces {
        let text = String(decoding: piece, as: UTF8.self)
        #expect(text.utf16.count <= 800 || text.count == 1)
        #expect(piece.count { $0 == 10 } <= 2)
      }
      let lines = String(decoding: TypedText.lines(of: pieces), as: UTF8.self)
      #expect(
        lines.hasSuffix("E\n")
          && lines.split(separator: "\n").allSatisfy { "PLE".contains($0.first!) })
    }
    #expect(try !TypedText(Array(String(repeating: "x", count: 799).utf8)).isLong)
    #expect(try TypedText(Array("a\nb\nc\nd".utf8)).pieces(atMost: 1).count == 1)
  }

  @Test func whatWouldRunInAShell() throws {
    for (text, isCommand) in [
      ("!ls", true), ("a\n \t!ls", true), ("a !ls", false), ("", false), ("wow!", false),
    ] {
      #expect(try TypedText(Array(text.utf8)).isCommand == isCommand, "\(text)")
    }
  }

  @Test func onceForAMark() throws {
    let typing = Typing(
      session: "a'b", text: try TypedText(Array("it's".utf8)), mark: "id_1", returnAfter: 0.3)
    let request = typing.request(label: "riff", nonce: "n")
    let list = request.arguments[2]
    let marked = try #require(list.place(of: "set-option"))
    #expect(list.hasPrefix("if-shell -F "))
    #expect(marked.lowerBound < list.place(of: "send-keys")!.lowerBound)
    #expect(request.arguments[6].holds("@riff_ret_id_1"))
    #expect(request.arguments[5] == "0.300")
    #expect(Typing.outcome(ControlAnswer(status: 0, output: Array("ALREADY\n".utf8))) == .already)
    #expect(Typing.outcome(ControlAnswer(status: 0, output: Array("typed\n".utf8))) == .typed)
  }

  @Test func whatTmuxSays() {
    func error(_ text: String) -> HostFailure { .tmux(text, session: "a") }
    #expect(error("can't find session: a") == .noSession("a"))
    #expect(error("no server running on /tmp/tmux-0/riff") == .noSession("a"))
    #expect(error("server exited unexpectedly") == .noSession("a"))
    #expect(error("error connecting to /tmp/x (No such file or directory)") == .noSession("a"))
    #expect(
      error("error connecting to /tmp/x (Permission denied)")
        == .refused("error connecting to /tmp/x (Permission denied)"))
    #expect(error("duplicate session: a") == .duplicate("a"))
    #expect(HostFailure.tmux("", session: nil) == .refused("failed without a word"))
  }
}
