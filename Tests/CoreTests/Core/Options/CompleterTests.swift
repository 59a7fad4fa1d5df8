import Testing

@testable import Core

/// What a command answers a shell that completes a word.
@Suite struct CompleterTests {
  private let sample = sampleTable.usage

  private func offered(_ words: String..., by usage: CommandUsage? = nil) -> [String] {
    Completer(usage: usage ?? sample).answer(words).split(separator: "\n")
      .map { String($0.prefix { $0 != "\t" }) }
  }

  @Test func operandsAndArgumentsAreTold() {
    #expect(offered("") == ["activity", "voice"])
    #expect(offered("-q", "v") == ["activity", "voice"])
    #expect(offered("-o", "") == ["text", "json"])
    #expect(offered("-qo", "j") == ["text", "json"])
    #expect(offered("--outp", "") == ["text", "json"])
    #expect(offered("-f", "") == [":file"])
    #expect(offered("--file=a/") == [":file"])
    #expect(offered("-e", "") == [])
    #expect(offered("-q", "") == ["activity", "voice"])
    #expect(offered("-o", "json", "") == ["activity", "voice"])
    #expect(offered("--output=json", "") == ["activity", "voice"])
    #expect(offered("--", "-o", "") == ["activity", "voice"])
    #expect(offered() == ["activity", "voice"])
  }

  @Test func whatStandsInFrontInTheSameWordIsRepeated() {
    #expect(offered("-oj") == ["-otext", "-ojson"])
    #expect(offered("-qoj") == ["-qotext", "-qojson"])
    #expect(offered("--output=j") == ["--output=text", "--output=json"])
    #expect(offered("--output=") == ["--output=text", "--output=json"])
    #expect(offered("--nothing=") == [])
  }

  @Test func bashTakesAWordApartAtTheSign() {
    #expect(offered("--output", "=", "j") == ["text", "json"])
    #expect(offered("--output", "=") == ["text", "json"])
    #expect(offered("--output", "=", "json", "") == ["activity", "voice"])
    #expect(offered("--max-time", "=", "5", "-f", "x") == [":file"])
  }

  @Test func optionsAreTold() {
    let all = offered("-")
    #expect(all == offered("--max"))
    for option in sample.entries {
      #expect(all.contains("--\(option.name)"))
      if let letter = option.letter { #expect(all.contains("-\(letter)")) }
    }
    #expect(!all.contains("-T"))
    #expect(offered("--", "--") == ["activity", "voice"])
    #expect(Completer(usage: sample).answer(["-"]).holds("--quiet\tsay nothing\n"))
  }

  private let table = OptionTable<[String]>(
    program: "x", summary: "do", synopsis: "",
    operands: .verbs([
      .init("add", .file), .init("retry", .live { ["one", "-x", "$(evil)", "a b", "two"] }),
      .init("list"), .file,
    ]),
    options: [
      Option(
        "k", "kind", "KIND,...", "of these", .argument.offering(.words(["ape", "bee", "cat"])),
        effect: note),
      Option(nil, "known", "[FILE]", "believe", .argument.offering(.file), effect: note),
    ]
  ) { _, _ in }

  @Test func aListIsCompletedWordByWord() {
    #expect(offered("-k", "a", by: table.usage) == ["ape", "bee", "cat"])
    #expect(offered("-k", "ape,", by: table.usage) == ["ape,bee", "ape,cat"])
    #expect(offered("--kind=bee,ape,c", by: table.usage) == ["--kind=bee,ape,cat"])
    #expect(offered("--kind", "=", "bee,c", by: table.usage) == ["bee,ape", "bee,cat"])
  }

  @Test func whatGoesWithAWordIsToldBehindIt() {
    #expect(offered("", by: table.usage) == ["add", "retry", "list", ":file"])
    #expect(offered("add", "", by: table.usage) == [":file"])
    #expect(offered("-k", "ape", "retry", "", by: table.usage) == ["one", "two"])
    #expect(offered("retry", "one", "", by: table.usage) == ["one", "two"])
    #expect(offered("list", "", by: table.usage) == [])
    #expect(offered("other", "", by: table.usage) == [])
    // An argument that may be left out is no word of its own.
    #expect(offered("--known", "", by: table.usage) == ["add", "retry", "list", ":file"])
  }

  private let help = """
    usage: recipe [-hV] [-p NAME] [DIR]
    Do it.

      -h, --help            print this help
      -k, --kind KIND,...   these (all)
          --form FORM       small, medium or large (medium)
          --level LEVEL     high or low
          --since TIME      not older, nor odd
          --state FILE      kept there
      -L LABEL              a label

    Nothing else.
    """

  @Test func aRecipeDeclaresItsOptionsInItsHelp() {
    let recipe = CommandUsage(help: help, base: table.usage)
    #expect(recipe.program == "recipe")
    #expect(
      recipe.list == """
        -h --help -
        -k --kind KIND,...
        -L -- LABEL
        - --form FORM
        - --level LEVEL
        - --since TIME
        - --state FILE

        """)
    #expect(offered("-k", "bee,", by: recipe) == ["bee,ape", "bee,cat"])
    #expect(offered("--form", "", by: recipe) == ["small", "medium", "large"])
    #expect(offered("--level", "", by: recipe) == ["high", "low"])
    #expect(offered("--since", "", by: recipe) == [])
    #expect(offered("--state", "", by: recipe) == [":file"])
    #expect(offered("-L", "x", "", by: recipe) == [":file"])
  }

  @Test func aRecipeMayHaveTheOptionsOfACommand() {
    let more = CommandUsage(
      help: help + "\nOther options are those of x.", base: table.usage)
    #expect(more.list.holds("- --known [FILE]\n"))
    #expect(more.list.split(separator: "\n").count { $0.hasPrefix("-k ") } == 1)
    #expect(offered("", by: more) == ["add", "retry", "list", ":file"])
    #expect(CommandUsage(help: "", base: table.usage).entries.isEmpty)
  }

  @Test func theShellsAndRecipesAreServed() throws {
    func text(_ words: String...) -> String? { sample.completions(words[...]) { help }?.text }
    #expect(text("words", "-o", "") == "text\njson\n")
    #expect(text("bash") == nil)
    #expect(text("-", "words", "--level", "") == "high\nlow\n")
    #expect(text("-", "list")?.holds("- --form FORM\n") == true)
    #expect(text("-", "bash")?.holds("complete -o filenames -F _recipe recipe\n") == true)
    let bad = try #require(sample.completions(["-", "tcsh"]) { help })
    #expect(bad.usage.program == "recipe" && bad.text == nil)
  }
}
