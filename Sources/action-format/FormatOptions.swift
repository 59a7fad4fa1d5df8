import Core
import Screen

/// What the command line asks for.
struct FormatOptions {
  var isAbsolute = false
  var isExpanded = false
  var showsStats = false
  /// Stop after so many actions; nil for all.
  var count: Int?
  /// Columns; 0 for no limit; nil for the terminal's.
  var width: Int?
  var colour = ColourDepth.When.auto
  var files: [String] = []

  /// The options of action-format.
  static let table = OptionTable(
    program: "action-format", summary: "Show an agent's actions to a person, one row each.",
    synopsis: "[options] [FILE ...]",
    options: [
      Option("t", "absolute", nil, "date and local time in place of the age"),
      Option("x", "expand", nil, "everything an action holds, below its row"),
      Option("s", "stats", nil, "a line of counts and cost that follows the server's stats"),
      Option("n", "count", "COUNT", "stop after COUNT actions"),
      Option(
        "W", "width", "COLUMNS", "cut rows at COLUMNS, 0 for no cut (default: the terminal's)"),
      Option(
        nil, "color", "WHEN", "auto, always or never",
        completion: .words(ColourDepth.When.allCases.map(\.rawValue))),
    ])

  /// - Throws: `UsageError` for an argument that makes no sense.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    for item in parsed.items {
      switch item.name {
      case "absolute": isAbsolute = true
      case "expand": isExpanded = true
      case "stats": showsStats = true
      case "count":
        guard let number = Int(item.value), number > 0, item.value.utf8.first != 0x2b else {
          throw UsageError("--count \(item.value): not a number above 0")
        }
        count = number
      case "width":
        guard let number = Int(item.value), (0...100_000).contains(number) else {
          throw UsageError("--width \(item.value): not a number of columns")
        }
        width = number
      case "color":
        guard let when = ColourDepth.When(rawValue: item.value) else {
          throw UsageError("--color \(item.value): not auto, always or never")
        }
        colour = when
      default: break
      }
    }
    files = parsed.operands.isEmpty ? ["-"] : parsed.operands
  }
}
