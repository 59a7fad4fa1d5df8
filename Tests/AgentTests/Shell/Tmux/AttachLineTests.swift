import Core
import Testing

@testable import Shell

@Suite struct AttachLineTests {
  private func start(_ directory: String?, _ harness: String? = nil) throws -> SessionStart {
    try SessionStart(directory: directory, harness: harness)
  }

  @Test(arguments: [
    (nil, "\"$HOME\""), ("", "\"$HOME\""), ("~", "\"$HOME\""), ("$HOME", "\"$HOME\""),
    ("$HOME/", "\"$HOME\""), ("~/a b", "\"$HOME\"/'a b'"), ("$HOME/x", "\"$HOME\"/'x'"),
    ("/srv/$(x)", "'/srv/$(x)'"), ("/it's", "'/it'\\''s'"), ("~ada", "\"$HOME\"/'~ada'"),
    ("$HOMER", "\"$HOME\"/'$HOMER'"), ("-x", "\"$HOME\"/'-x'"), ("work", "\"$HOME\"/'work'"),
  ])
  func foldersAreWords(_ directory: String?, _ word: String) throws {
    #expect(try start(directory).folderWord == word)
  }

  @Test(arguments: ["a\nb", "a\u{1b}", "\u{9b}31m", "a\u{0}"])
  func noControls(_ text: String) {
    #expect(throws: UsageError.self) { try start(text) }
    #expect(throws: UsageError.self) { try start(nil, text) }
    #expect(throws: UsageError.self) { try SessionName.checked(text) }
  }

  @Test(arguments: ["", "-x", "=x", "a.b", "a:b", "#(touch x)", "$1", "a\\b"])
  func namesThatTmuxWouldChange(_ name: String) {
    #expect(throws: UsageError.self) { try SessionName.checked(name) }
  }

  @Test(arguments: ["riff", "riff-2", "a b", "x;", "ü", "a=b", "a-"])
  func names(_ name: String) throws {
    #expect(try SessionName.checked(name) == name)
  }

  @Test func worktreesAreForClaude() throws {
    #expect(throws: UsageError.self) { try SessionStart(harness: "codex", usesWorktree: true) }
    let one = try SessionStart(harness: " claude -c ", usesWorktree: true)
    #expect(one.preparation.holds("riff-claude -c"))
    #expect(one.arguments.holds("RIFF_WORKTREE=1"))
    #expect(!(try SessionStart(harness: "claude -c")).arguments.holds("RIFF"))
  }

  @Test func argumentsOfTmuxDoNotEndInASemicolon() {
    #expect(ShellWord.tmuxArgument("a;") == "a\\;")
    #expect(ShellWord.tmuxArgument("a;b") == "a;b")
    #expect(ShellWord.session("a;") == "'=a\\;'")
  }

  @Test func theAnswerIsTakenOut() {
    let text = Array("motd\u{1e}rif\u{1e}riff:abc:ok\u{1e}\u{1b}[H".utf8)
    for size in 1...text.count {
      var filter = AttachAnswerFilter(nonce: "abc")
      var before: [UInt8] = []
      var behind: [UInt8] = []
      for index in stride(from: 0, to: text.count, by: size) {
        let piece = Array(text[index..<min(index + size, text.count)])
        if filter.answer != nil {
          behind += piece
        } else {
          let taken = filter.receive(piece)
          before += taken.before
          behind += taken.behind
        }
      }
      #expect(String(decoding: before, as: UTF8.self) == "motd\u{1e}rif")
      #expect(String(decoding: behind, as: UTF8.self) == "\u{1b}[H")
      #expect(filter.answer == .attaching)
    }
  }

  @Test func noOtherAnswerCounts() {
    for text in [
      "\u{1e}riff:abd:ok\u{1e}", "\u{1e}riff:abc:what\u{1e}",
      "\u{1e}riff:abc:okokokokokokokokokok\u{1e}",
    ] {
      var filter = AttachAnswerFilter(nonce: "abc")
      let taken = filter.receive(Array(text.utf8) + [0x20])
      #expect(filter.answer == nil)
      #expect(taken.before.count >= text.utf8.count)
    }
  }
}
