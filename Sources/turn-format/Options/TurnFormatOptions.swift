import Core
import Screen

struct TurnFormatOptions {
  enum Form: String, CaseIterable {
    case cards, tree, dot
  }

  var form = Form.cards
  var isExpanded = false
  /// Lines of what a command printed; nil for the usual.
  var tail: Int?
  var count: Int?
  var look = LookOptions()
  /// Files to read; `-` is standard input.
  var files: [String] = []

  static let table = OptionTable<TurnFormatOptions>(
    program: "turn-format", summary: "Show what an agent does, turn by turn, to a person.",
    synopsis: "[options] [FILE ...]", guesses: ["--json": "it reads JSON, and shows it"],
    options: [
      Option(
        "n", "count", "COUNT", "stop after COUNT turns", .wholeNumber(in: 1...Int.max), \.count),
      Option("o", "output", "FORM", "cards, tree or dot", .choice(of: Form.self), \.form),
      Option(nil, "expand", "show thoughts and output in full", \.isExpanded),
      Option(
        nil, "tail", "LINES", "show this many lines of a command's output (default: 5)",
        .wholeNumber(in: 0...100_000), \.tail),
      Option(nil, "tree", "a tree with times, as -o tree", \.form, .tree),
    ]
      + LookOptions.options(
        width: "fold to COLUMNS, 0 for no limit (default: the terminal's)"
      ).at(\.look)
  ) { options, operands throws(UsageError) in
    if options.form != .cards, options.isExpanded || options.tail != nil {
      throw UsageError("--expand and --tail are for cards")
    }
    if options.isExpanded, options.tail != nil {
      throw UsageError("--expand shows all lines: not with --tail")
    }
    options.files = operands.paths.isEmpty ? ["-"] : operands.paths
  }
}
