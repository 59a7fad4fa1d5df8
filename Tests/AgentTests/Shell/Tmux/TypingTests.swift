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
    #expect(request.arguments.count == 2)
    #expect(request.arguments[1].holds("send-keys -l -t =riff-1: -- '\\''x; '\\''"))
    #expect(request.arguments[1].hasPrefix("if-shell -F -t =riff-1: "))
  }

  @Test func onceForAMark() throws {
    let typing = Typing(
      session: "a'b", text: try TypedText(Array("it's".utf8)), mark: "id_1", returnAfter: 0.3)
    let request = typing.request(label: "riff", nonce: "n")
    let list = request.arguments[1]
    let marked = try #require(list.place(of: "set-option"))
    #expect(list.hasPrefix("if-shell -F "))
    #expect(marked.lowerBound < list.place(of: "send-keys")!.lowerBound)
    #expect(request.arguments[5].holds("@riff_ret_id_1"))
    #expect(request.arguments[4] == "0.300")
    #expect(typing.outcome(ControlAnswer(status: 0, output: Array("ALREADY\n".utf8))) == .already)
    #expect(typing.outcome(ControlAnswer(status: 0, output: Array("typed\n".utf8))) == .typed)
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
