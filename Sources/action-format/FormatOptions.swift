import Core
import Screen

struct FormatOptions {
  var isAbsolute = false
  var isExpanded = false
  var showsStats = false
  /// Whose actions are that name no profile; nil for nobody's.
  var name: String?
  /// The columns in front of each row; with any, rows are not cut.
  var keys: [RowKey] = []
  var count: Int?
  /// How counts are shown; in other forms than text, they alone are.
  var form = CountForm.text
  var look = LookOptions()
  /// Files to read; `-` is standard input.
  var files: [String] = []

  static let table = OptionTable<FormatOptions>(
    program: "action-format", summary: "Show an agent's actions to a person, one row each.",
    synopsis: "[options] [FILE ...]", guesses: ["--json": "it reads JSON, and shows it"],
    options: [
      Option("t", "absolute", "date and local time instead of the age", \.isAbsolute),
      Option("x", "expand", "everything an action holds, below its row", \.isExpanded),
      Option(
        nil, "key", "FIELD,...", "begin rows with the id, kind, line, profile or thread",
        RowKey.reading, \.keys),
      Option(
        nil, "name", "NAME", "begin rows with NAME if the record names no profile", .word, \.name),
      Option(nil, "stats", "a last line with the cost and the counts of the rows", \.showsStats)
        .formerly("s"),
      Option(
        "n", "count", "COUNT", "stop after COUNT actions", .wholeNumber(in: 1...Int.max), \.count),
      Option(
        "o", "output", "FORM", "for counts: tsv, or spark for one line of bars",
        .choice(of: CountForm.self), \.form),
    ]
      + LookOptions.options(width: "cut rows at COLUMNS, 0 for no cut (default: the terminal's)")
      .at(\.look)
  ) { $0.files = $1.paths.isEmpty ? ["-"] : $1.paths }
}
