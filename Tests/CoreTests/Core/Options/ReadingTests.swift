import Testing

@testable import Core

/// What an argument is read as, and what is said of one that makes no sense.
@Suite struct ReadingTests {
  private enum Form: String, CaseIterable { case json, table, tsv }

  private func read<Value>(_ text: String, _ reading: Reading<Value>) throws(UsageError) -> Value {
    try reading.read(OptionArgument(name: "a", path: text))
  }

  private func problem<Value>(_ text: String, _ reading: Reading<Value>) -> String? {
    do throws(UsageError) {
      _ = try read(text, reading)
      return nil
    } catch {
      return error.problem
    }
  }

  @Test func whatMakesSense() throws {
    #expect(try read("007", .wholeNumber()) == 7)
    #expect(try read("-1.5e2", .number()) == -150)
    #expect(try read("1.5m", .seconds) == 90)
    #expect(try read("1970-01-02T00:00:00Z", .moment) == .time(Timestamp(seconds: 86_400)))
    #expect(try read("2h", .moment) == .ago(.seconds(7200)))
    #expect(try read("a b", .word) == "a b")
    #expect(try read(",a,,b c,", .list) == ["a", "b c"])
    #expect(try read("tsv", .choice(of: Form.self)) == .tsv)
  }

  @Test func whatAShellOffers() {
    #expect(Reading.text.completion().words(behind: []) == [])
    #expect(Reading.path.completion().words(behind: []) == [Completion.files])
    #expect(
      Reading.choice(of: Form.self).completion().words(behind: []) == ["json", "table", "tsv"])
    #expect(Reading.text.offering(.file).completion().words(behind: []) == [Completion.files])
  }

  @Test func bytesAreKeptInNamesOfFilesAlone() throws {
    let name = FileName.text([0x61, 0xe9])
    #expect(try read(name, .text) == "a\u{fffd}")
    #expect(try FileName.bytes(read(name, .path)) == [0x61, 0xe9])
  }

  @Test(arguments: ["-1", "+1", " 1", "1.0", "0x10", "99999999999999999999", "١"])
  func onlyDigitsAreAWholeNumber(text: String) {
    #expect(problem(text, .wholeNumber()) == "--a \(text): not a whole number")
  }

  @Test func mistakesNameTheOptionAndWhatIsMissing() {
    #expect(problem("", .wholeNumber()) == "--a: not a whole number")
    #expect(
      problem("5", .wholeNumber(in: 20...1000)) == "--a 5: not a whole number from 20 to 1000")
    #expect(problem("0", .wholeNumber(in: 1...Int.max)) == "--a 0: not a whole number above 0")
    #expect(problem("inf", .number()) == "--a inf: not a number")
    #expect(
      problem("-1", .number("a number from 0") { $0 >= 0 }) == "--a -1: not a number from 0")
    #expect(problem("-1s", .seconds) == "--a -1s: not a time: seconds, or 90s 15m 2h 3d")
    #expect(
      problem("soon", .moment)
        == "--a soon: not a time: 15m, 2h, 3d, today, yesterday, tue, 14:30, 2026-11-22 14:30, "
        + "RFC 3339")
    #expect(problem("", .word) == "--a: nothing is named")
    #expect(problem(",", .list) == "--a ,: nothing is named")
    #expect(problem("xml", .choice(of: Form.self)) == "--a xml: not json, table or tsv")
  }
}

/// What options do to values.
@Suite struct OptionEffectTests {
  private struct Shared {
    var profile = ""
    var isQuiet = false

    static let options: [Option<Shared>] = [
      Option("p", "profile", "NAME", "whose", .text) { $0.profile = $1 },
      Option.quiet("nothing").at(\.isQuiet),
    ]
  }

  private struct Values {
    var shared = Shared()
    var count = 0
    var names: [String] = []

    static let table = OptionTable<Values>(
      program: "sample", summary: "do nothing", synopsis: "[options]",
      options: Shared.options.at(\.shared) + [
        Option("n", "count", "COUNT", "so many", .wholeNumber()) { $0.count += $1 }
      ]
    ) { values, words throws(UsageError) in
      if let word = words.operands.first { throw UsageError("\(word): not expected") }
      values.names = words.names
    }
  }

  @Test func eachTakesEffectInTheOrderGiven() throws {
    let values = try Values.table.parse(["-n2", "-p", "a", "--count=3", "-q", "-pb"], Values())
    #expect(values.count == 5)
    #expect(values.shared.profile == "b" && values.shared.isQuiet)
    #expect(values.names == ["count", "profile", "count", "quiet", "profile"])
  }

  @Test(arguments: [["-n", "x"], ["word"], ["-x"]])
  func aMistakeIsThrown(words: [String]) {
    #expect(throws: UsageError.self) { try Values.table.parse(words, Values()) }
  }
}
