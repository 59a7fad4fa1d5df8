import CLibc
import TestSupport
import Testing

@testable import Core

/// One scan at a time, and one of them changes the environment.
@Suite(.serialized) struct OptionParserTests {
  private func parse(_ words: String...) throws(UsageError) -> [String] {
    try sampleTable.parse(words, [])
  }

  private func problem(_ words: String...) -> String {
    do throws(UsageError) {
      _ = try sampleTable.parse(words, [])
      return ""
    } catch { return error.problem }
  }

  @Test func nothingIsNothing() throws {
    #expect(try parse() == [])
  }

  @Test func everyFormOfAnArgument() throws {
    for words in [
      ["-e", "x"], ["-ex"], ["--event", "x"], ["--event=x"], ["--ev=x"], ["--e", "x"],
    ] {
      #expect(try sampleTable.parse(words, []) == ["event=x"])
    }
  }

  @Test func lettersAreGrouped() throws {
    #expect(
      try parse("-qve", "x", "-qeq") == ["quiet=", "verbose=", "event=x", "quiet=", "event=q"])
  }

  @Test func aFormerLetterIsReadAndNotTold() throws {
    #expect(
      try parse("-T5", "-T", "6", "-qT7") == ["max-time=5", "max-time=6", "quiet=", "max-time=7"])
    #expect(problem("-T") == "option -T needs an argument: SECONDS")
    #expect(!sampleTable.usage.help.contains("-T"))
    #expect(sampleTable.usage.completions(shell: "list")?.contains("- --max-time SECONDS") == true)
  }

  @Test func theOrderIsKeptAndRepetitionToo() throws {
    #expect(
      try parse("-eb", "--event=a", "-q", "-eb") == ["event=b", "event=a", "quiet=", "event=b"])
  }

  @Test func operandsMayStandAnywhereAndTwoDashesEndTheOptions() throws {
    #expect(try parse("a", "-q", "b", "-e", "x", "c") == ["quiet=", "event=x", "a", "b", "c"])
    #expect(try parse("a", "-q", "--", "-v", "--", "b") == ["quiet=", "a", "-v", "--", "b"])
    #expect(try parse("-e", "--", "-q") == ["event=--", "quiet="])
  }

  @Test func aDashAndAnEmptyWordAreOperands() throws {
    #expect(try parse("-", "", "-q", "") == ["quiet=", "-", "", ""])
    #expect(try parse("-e", "", "--event=", "-e-") == ["event=", "event=", "event=-"])
  }

  @Test func textIsTakenByteForByte() throws {
    let text = "schöne grüße 🎙️ \u{202e}\n\t=x"
    #expect(
      try parse("-e\(text)", "--event=\(text)", text) == ["event=\(text)", "event=\(text)", text])
    let long = String(repeating: "é", count: 100_000)
    #expect(try parse("-e", long, long) == ["event=\(long)", long])
  }

  @Test func anExactNameIsNoAbbreviation() throws {
    #expect(
      try parse("--max", "--max-t=3", "--max-r", "4") == ["max=", "max-time=3", "max-retries=4"])
  }

  @Test func everyOptionOfTheTableIsUnderstoodInBothSpellings() throws {
    for (index, option) in sampleTable.usage.entries.enumerated() {
      let argument = option.argument == nil ? [] : ["v"]
      let expected = ParsedWords(items: [.init(index: index, argument: argument.first ?? "")])
      #expect(try sampleTable.usage.parse(["--\(option.name)"] + argument) == expected)
      if let letter = option.letter {
        #expect(try sampleTable.usage.parse(["-\(letter)"] + argument) == expected)
      }
    }
  }

  @Test func aFreshScanForgetsTheOneBefore() throws {
    for _ in 0..<3 {
      #expect(problem("-qx") == "unknown option -x")
      #expect(try parse("-q", "a") == ["quiet=", "a"])
    }
  }

  @Test func unknownOptionsAreNamed() {
    #expect(problem("-x") == "unknown option -x")
    #expect(problem("a", "-qx", "b") == "unknown option -x")
    #expect(problem("-?") == "unknown option -?")
    #expect(problem("-:") == "unknown option -:")
    #expect(problem("-q:") == "unknown option -:")
    #expect(problem("-5") == "unknown option -5")
    #expect(problem("--nothing") == "unknown option --nothing")
    #expect(problem("a", "b", "--nothing", "c") == "unknown option --nothing")
    #expect(problem("--nothing=secret") == "unknown option --nothing")
    #expect(problem("--eventx") == "unknown option --eventx: did you mean --event?")
  }

  @Test func aNearNameIsSuggested() {
    #expect(problem("--evnet") == "unknown option --evnet: did you mean --event?")
    #expect(problem("--max-rime=1") == "unknown option --max-rime: did you mean --max-time?")
    #expect(problem("--outptu", "x") == "unknown option --outptu: did you mean --output?")
  }

  @Test func lettersThatAreNotAsciiAreNamedWhole() {
    #expect(problem("-ü") == "unknown option -ü")
    #expect(problem("-qü") == "unknown option -ü")
    #expect(problem("a", "-qüx", "b") == "unknown option -ü")
    #expect(problem("-🎙️") == "unknown option -🎙️")
    #expect(problem("a", "-\u{1b}[2J") == "unknown option -\u{1b}")
    #expect(problem("--ünknown", "x") == "unknown option --ünknown")
    #expect(problem("ä", "-q", "-ö", "ü") == "unknown option -ö")
  }

  @Test func missingAndUnwantedArgumentsAreNamed() {
    #expect(problem("-e") == "option -e needs an argument: NAME")
    #expect(problem("-qe") == "option -e needs an argument: NAME")
    #expect(problem("a", "--event") == "option --event needs an argument: NAME")
    #expect(problem("--max-t") == "option --max-time needs an argument: SECONDS")
    #expect(problem("--quiet=1") == "option --quiet takes no argument")
    #expect(problem("--q=") == "option --quiet takes no argument")
  }

  @Test func anAmbiguousAbbreviationListsWhatItMayMean() {
    #expect(problem("--max-") == "option --max- is ambiguous: --max-time, --max-retries")
    #expect(problem("--ver=1") == "option --ver is ambiguous: --verbose, --version")
  }

  @Test func withPosixlyCorrectTheFirstOperandEndsTheOptions() throws {
    setenv("POSIXLY_CORRECT", "1", 1)
    defer { unsetenv("POSIXLY_CORRECT") }
    #expect(try parse("-q", "a", "-v") == ["quiet=", "a", "-v"])
  }

  @Test func anyWordsAreUnderstoodOrRefused() {
    var generator = SeededGenerator(seed: 11)
    let pieces = ["-", "--", "e", "q", "=", "event", "max", "ü", "", ":", "?", "\u{1}", "x", "9"]
    for _ in 0..<5000 {
      let words = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in
          pieces.randomElement(using: &generator) ?? ""
        }.joined()
      }
      do throws(UsageError) {
        let parsed = try sampleTable.usage.parse(words)
        #expect(parsed.paths.allSatisfy { words.contains($0) })
      } catch {
        #expect(error.problem.hasPrefix("unknown option -") || error.problem.hasPrefix("option -"))
        let named = error.problem.split(separator: " ").first { $0.hasPrefix("-") } ?? "?"
        let letters = named.drop { $0 == "-" }.prefix(1)
        #expect(words.contains { $0.hasPrefix("-") && ($0.contains(letters) || letters.isEmpty) })
      }
    }
  }
}
