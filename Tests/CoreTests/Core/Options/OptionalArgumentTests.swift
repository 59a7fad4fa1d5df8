import Testing

@testable import Core

@Suite struct OptionalArgumentTests {
  private let table = OptionTable<[String]>(
    program: "sample", summary: "do nothing", synopsis: "[options] [HOST]",
    options: [
      Option("k", "known-hosts", "[FILE]", "believe this", .argument.offering(.file), effect: note),
      Option("s", "session", "NAME", "this one", .argument, effect: note),
      Option("v", "verbose", "say more") { $0.append("verbose=") },
    ]
  ) { $0 += $1.operands }

  private func parse(_ words: String) throws -> String {
    try table.parse(words.split(separator: " ").map(String.init), []).joined(separator: " ")
  }

  @Test func theWordBehindIsTakenWhenItIsAPath() throws {
    for (words, meaning) in [
      ("--known-hosts", "known-hosts="),
      ("--known-hosts box", "known-hosts= box"),
      ("--known-hosts /a/b box", "known-hosts=/a/b box"),
      ("box --known-hosts ./a", "known-hosts=./a box"),
      ("--known-hosts ssh://box/", "known-hosts= ssh://box/"),
      ("--known-hosts=box", "known-hosts=box"),
      ("--known-hosts= box", "known-hosts= box"),
      ("--known-hosts=x ./a", "known-hosts=x ./a"),
      ("--known ./a box", "known-hosts=./a box"),
      ("--known-hosts -v ./a", "known-hosts= verbose= ./a"),
      ("--known-hosts -- ./a", "known-hosts= ./a"),
      ("-- --known-hosts ./a", "--known-hosts ./a"),
      ("-k ./a", "known-hosts=./a"), ("-vk ./a", "verbose= known-hosts=./a"),
      ("-k./a b", "known-hosts=./a b"), ("-k box", "known-hosts= box"),
      // What another option takes is left alone.
      ("-s --known-hosts ./a", "session=--known-hosts ./a"),
      ("-vs --known-hosts ./a", "verbose= session=--known-hosts ./a"),
      ("--session --known-hosts ./a", "session=--known-hosts ./a"),
      ("--session=x --known-hosts ./a", "session=x known-hosts=./a"),
      ("-sx --known-hosts ./a", "session=x known-hosts=./a"),
    ] { #expect(try parse(words) == meaning, "\(words)") }
  }

  @Test func itShowsInBrackets() {
    #expect(table.usage.help.holds("  -k, --known-hosts [FILE]  believe this\n"))
    #expect(table.usage.list.holds("-k --known-hosts [FILE]\n"))
  }
}
