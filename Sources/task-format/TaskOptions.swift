import Core
import Screen

struct TaskOptions {
  enum Form: String, CaseIterable {
    case json, table, tsv, text, line
  }

  enum Job: Equatable {
    case show
    case done([String])
    case quick
  }

  private(set) var job = Job.show
  private(set) var selection = TaskSelection()
  /// nil for a table on a terminal and JSON elsewhere.
  private(set) var form: Form?
  private(set) var isQuiet = false
  private(set) var profile: String?
  private(set) var list: String?
  /// What days are counted from; nil for the clock.
  private(set) var now: Moment?
  private(set) var look = LookOptions()
  private(set) var files: [String] = []

  static let table = OptionTable<TaskOptions>(
    program: "task-format",
    summary: "Show an agent's tasks, the most urgent first, or read them from words.",
    synopsis: "[options] [FILE ...]",
    options: [
      Option("a", "all", "also what is done or cancelled") { $0.selection.isAll = true },
      Option(nil, "done", "ID,...", "print the rows of these tasks with the tasks done", .list) {
        $0.job = .done($1)
      },
      Option(nil, "label", "LABEL", "tasks with this label", .word) { $0.selection.label = $1 },
      Option(nil, "list", "URI", "with --quick: items of a family's list", Reading(uri)) {
        $0.list = $1
      },
      Option(nil, "now", "TIME", "count days from TIME instead of now", .moment) { $0.now = $1 },
      Option(
        "o", "output", "FORM", "json, table, tsv, text, or line (for a status bar)",
        .choice(of: Form.self)
      ) { $0.form = $1 },
      Option("p", "profile", "NAME", "name this profile in records", .word) { $0.profile = $1 },
      Option(nil, "project", "PROJECT", "tasks of this project", .word) {
        $0.selection.project = $1
      },
      Option.quiet("print nothing; the exit status tells").at(\.isQuiet),
      Option(nil, "quick", "read lines such as 'call Ada tomorrow 9:00 !1 #home'") {
        $0.job = .quick
      },
      Option(nil, "unsorted", "keep the order of the input") { $0.selection.isSorted = false }.rare,
      LookOptions.header.at(\.look),
    ]
      + LookOptions.options(width: "cut rows at COLUMNS, 0 for no cut (default: the terminal's)")
      .at(\.look)
  ) { options, words throws(UsageError) in
    if words.names.contains("done"), words.names.contains("quick") {
      throw UsageError("--done and --quick exclude each other")
    }
    if options.list != nil, options.job != .quick { throw UsageError("--list is for --quick") }
    if options.job != .show {
      let shown = ["output", "all", "label", "project", "quiet", "unsorted"]
      if let name = shown.first(where: { words.names.contains($0) }) {
        throw UsageError("--\(name) is for tasks that are shown")
      }
    }
    options.files = words.paths.isEmpty ? ["-"] : words.paths
  }

  @Sendable private static func uri(_ argument: OptionArgument) throws(UsageError) -> String {
    let text = argument.value
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard isPlain, text.hasPrefix("at://"), text.split(separator: "/").count == 4 else {
      throw argument.fault("not the AT URI of a record")
    }
    return text
  }
}
