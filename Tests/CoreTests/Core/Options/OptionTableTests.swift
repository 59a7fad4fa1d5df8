import CLibc
import Testing

@testable import Core

@Suite struct OptionTableTests {
  private let usage = sampleTable.usage

  @Test func theUsageIsOneLine() {
    #expect(usage.line == "usage: sample [options] [file ...]")
  }

  @Test func theHelpShowsEveryOptionOnce() {
    let lines = usage.help.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.prefix(3) == ["usage: sample [options] [file ...]", "do nothing", ""])
    for option in usage.entries {
      let short = option.letter.map { "-\($0), " } ?? "    "
      let value = option.argument.map { " \($0)" } ?? ""
      let start = "  \(short)--\(option.name)\(value)"
      let matches = lines.filter { $0.hasPrefix(start + "  ") && $0.hasSuffix(option.help) }
      #expect(matches.count == 1)
    }
    #expect(usage.help.hasSuffix("\n"))
  }

  @Test func theHelpIsAligned() {
    let columns = Set(
      zip(usage.sorted, usage.help.split(separator: "\n").dropFirst(2)).map {
        option, line in line.count - option.help.count
      })
    #expect(columns.count == 1)
  }

  @Test func theListHasALineForEachOptionInTheOrderOfTheManual() {
    let expected = """
      -e --event NAME
      -f --file FILE
      -h --help -
      -l --listen HOST:PORT
      -o --output FORM
      -q --quiet -
      -v --verbose -
      -V --version -
      - --completions SHELL
      - --max -
      - --max-retries COUNT
      - --max-time SECONDS

      """
    #expect(usage.completions(shell: "list") == expected)
  }

  @Test func onlyKnownShellsAreServed() {
    for shell in ["", "sh", "BASH", "bash "] {
      #expect(usage.completions(shell: shell) == nil)
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func theShellAcceptsItsScript(shell: String) throws {
    guard Scratch.run("command -v \(shell) >/dev/null") == 0 else { return }
    let scratch = Scratch()
    let file = scratch.write("script", try #require(usage.completions(shell: shell)))
    #expect(Scratch.run("\(shell) -n '\(file)'") == 0)
  }

  @Test func aHelpThatIsTooLongShowsWhatPeopleUseMost() {
    let options = (0..<30).map { number -> Option<[String]> in
      let option = Option<[String]>(nil, "option-\(number)", "set \(number)") { $0 = [] }
      return number < 5 ? option : option.rare
    }
    func help(_ count: Int) -> CommandUsage {
      OptionTable<[String]>(
        program: "x", summary: "do", synopsis: "", options: Array(options.prefix(count))
      ) { _, _ in }.usage
    }
    // Three lines above, and three options that every command has.
    #expect(help(18).help == help(18).allHelp)
    let short = help(19).help.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(short.count == 13)
    #expect(short.suffix(2) == ["`x --help all` lists every option.", ""])
    #expect(!help(19).help.holds("option-5") && !help(19).help.holds("completions"))
    #expect(help(19).allHelp.holds("option-18"))
  }

  @Test func theHelpIsFoldedToEightyColumns() {
    let help = OptionTable<[String]>(
      program: "x", summary: "do", synopsis: "",
      options: [
        Option("a", "all", String(repeating: "word ", count: 14)) { $0 = [] },
        Option(
          nil, "a-name-of-more-than-26-letters", "FILE", "told below", .argument, effect: note),
      ]
    ) { _, _ in }.usage.help
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(help.holds("word\n                            word"))
    #expect(
      help.holds("letters FILE\n                            told below\n"))
  }

  @Test func anOptionThatHasOneArgumentRefusesAnother() throws {
    let table = OptionTable<[String]>(
      program: "x", summary: "do", synopsis: "",
      options: [Option("p", "profile", "NAME", "whose", .argument, effect: note).once("y has two")]
    ) { _, _ in }
    #expect(try table.parse(["-p", "a", "--profile=a"], []) == ["profile=a", "profile=a"])
    #expect(throws: UsageError("one profile at a time: b; y has two")) {
      try table.parse(["-p", "a", "-pb"], [])
    }
  }
}
