import Core
import Screen

/// What the command line asks for.
struct FormatOptions {
  var isAbsolute = false
  var isExpanded = false
  var showsStats = false
  /// Stop after so many actions; nil for all.
  var count: Int?
  var look = LookOptions()
  var files: [String] = []

  /// The options of action-format.
  static let table = OptionTable(
    program: "action-format", summary: "Show an agent's actions to a person, one row each.",
    synopsis: "[options] [FILE ...]",
    options: [
      Option("t", "absolute", nil, "date and local time instead of the age"),
      Option("x", "expand", nil, "everything an action holds, below its row"),
      Option("s", "stats", nil, "a line of counts and cost that follows the server's stats"),
      Option("n", "count", "COUNT", "stop after COUNT actions"),
      Option(
        "W", "width", "COLUMNS", "cut rows at COLUMNS, 0 for no cut (default: the terminal's)"),
      LookOptions.colourOption,
    ])

  /// - Throws: `UsageError` for an argument that makes no sense.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    for item in parsed.items where try !look.take(item) {
      switch item.name {
      case "absolute": isAbsolute = true
      case "expand": isExpanded = true
      case "stats": showsStats = true
      case "count": count = try item.wholeNumber(in: 1...Int.max)
      default: break
      }
    }
    files = parsed.paths.isEmpty ? ["-"] : parsed.paths
  }
}
