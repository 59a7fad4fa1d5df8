import Testing

@testable import Shell

@Suite struct DialogTests {
  @Test func numbersWithLinesBetween() throws {
    let dialog = try #require(
      Dialog(
        screen: """
          ❯ run make
           Do you want to proceed?
             1. Yes
           ❯ 2. Yes, and always allow access to /tmp/x, which goes on in
                the next line
             3. No

           Esc to cancel · Tab to amend
          """))
    #expect(
      dialog.labels == ["Yes", "Yes, and always allow access to /tmp/x, which goes on in", "No"])
    #expect(dialog.cursor == 1)
    #expect(dialog.index(of: "YES") == 0 && dialog.index(of: "yes, and") == 1)
    #expect(dialog.index(of: "3") == 2 && dialog.index(of: "n") == 2)
    #expect(dialog.index(of: "ye") == nil && dialog.index(of: "4") == nil)
  }

  @Test func withoutNumbers() throws {
    let dialog = try #require(
      Dialog(screen: " ❯ No, exit\n   Yes, I trust this folder\n Enter to confirm · Esc to cancel"))
    #expect(dialog.labels == ["No, exit", "Yes, I trust this folder"] && dialog.cursor == 0)
  }

  @Test func linesThatAreShorterThanTheMark() throws {
    let dialog = try #require(
      Dialog(screen: " ❯\n❯\n ❯ 1. Yes\n   2. No\n\n Esc to cancel"))
    #expect(dialog.labels == ["Yes", "No"])
  }

  @Test func anotherQuestionIsAnother() throws {
    let rule = String(repeating: "─", count: 40)
    func dialog(_ command: String, above: String = "") throws -> Dialog {
      try #require(
        Dialog(screen: "\(above)\n\(rule)\n \(command)\n ❯ 1. Yes\n   2. No\n Esc to cancel"))
    }
    #expect(try dialog("rm a") == dialog("rm a", above: "what is drawn above changes nothing"))
    #expect(try dialog("rm a") != dialog("rm b"))
  }

  @Test func whatIsNone() {
    for screen in [
      "", "❯\u{a0}", "❯ words\n  of the person\n● an answer", "❯ 1. one\n  Esc to cancel",
      "1. a\n2. b\nEsc to cancel", "❯ 1. Yes\n  2. No\n esc to interrupt",
    ] {
      #expect(Dialog(screen: screen) == nil, "\(screen)")
    }
  }
}
