import Core
import Screen

/// What the command line of action-format asks for.
struct FormatOptions {
  var isAbsolute = false
  var isExpanded = false
  var showsStats = false
  /// Stop after so many actions; nil for all.
  var count: Int?
  var look = LookOptions()
  /// Files to read; `-` is standard input.
  var files: [String] = []

  static let table = OptionTable<FormatOptions>(
    program: "action-format", summary: "Show an agent's actions to a person, one row each.",
    synopsis: "[options] [FILE ...]",
    options: [
      Option("t", "absolute", "date and local time instead of the age") { $0.isAbsolute = true },
      Option("x", "expand", "everything an action holds, below its row") { $0.isExpanded = true },
      Option(nil, "stats", "a line of counts and cost that follows the server's stats") {
        $0.showsStats = true
      }.formerly("s"),
      Option("n", "count", "COUNT", "stop after COUNT actions", .wholeNumber(in: 1...Int.max)) {
        $0.count = $1
      },
    ]
      + LookOptions.options(width: "cut rows at COLUMNS, 0 for no cut (default: the terminal's)")
      .at(\.look)
  ) { $0.files = $1.paths.isEmpty ? ["-"] : $1.paths }
}
