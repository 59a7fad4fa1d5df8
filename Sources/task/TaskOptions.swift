import Core
import Screen

struct TaskOptions {
  enum Verb: String, CaseIterable {
    case list, add, done, format
  }

  enum Form: String, CaseIterable {
    case table, tsv, json, text, line
  }

  private(set) var verb = Verb.list
  /// Of the tasks that are done.
  private(set) var ids: [String] = []
  private(set) var isDone = false
  private(set) var isQuick = false
  private(set) var selection = TaskSelection()
  /// nil for a table on a terminal and JSON elsewhere.
  private(set) var form: Form?
  private(set) var isQuiet = false
  private(set) var profile: String?
  private(set) var collection = "dev.joelclaw.task.item"
  private(set) var isQueued = false
  private(set) var list: String?
  /// What days are counted from; nil for the clock.
  private(set) var now: Moment?
  private(set) var look = LookOptions()
  /// The files of a filter, or the words of a task.
  private(set) var words: [String] = []

  /// - Parameter verb: what the command line begins with: of `format` the option `--done` has an
  ///   argument.
  static func table(_ verb: Verb?) -> OptionTable<TaskOptions> {
    let done: Option<TaskOptions> =
      verb == .format
      ? Option(nil, "done", "ID,...", "print the rows of these tasks with the tasks done", .list) {
        $0.isDone = true
        $0.ids = $1
      }
      : Option(nil, "done", "list: mark the tasks of each ID as done, as done does", \.isDone).rare
    return OptionTable<TaskOptions>(
      program: "task",
      summary: """
        Show and add tasks that are yours and an agent's, and mark them done.
        COMMAND: list (if none is given), add, done, format. `task add` takes words
        such as 'call Ada tomorrow 9:00 !1 #home', or such lines on standard input.
        """,
      synopsis: "[options] [list | add [TEXT ...] | done ID ... | format [FILE ...]]",
      operands: .verbs([
        .init("list"), .init("add"), .init("done"), .init("format", .file),
      ]),
      options: [
        done,
        Option("a", "all", "also what is done or cancelled", \.selection.isAll),
        Option(
          "C", "collection", "NSID", "the collection (default: dev.joelclaw.task.item)", .word,
          \.collection),
        Option(nil, "label", "LABEL", "tasks with this label", .word, \.selection.label),
        Option(
          nil, "list", "LIST", "add: an item of this family list, by its URI or key", .word, \.list),
        Option(
          "o", "output", "FORM", "table, tsv, json, text, or line (for a status bar)",
          .choice(of: Form.self), \.form),
        Option(
          "p", "profile", "NAME", "use this profile, see agentutils.conf(5)",
          .word.offering(CompletionNames.profiles), \.profile
        ).once("tasks are on one server"),
        Option(nil, "project", "PROJECT", "tasks of this project", .word, \.selection.project),
        Option.quiet("print nothing; the exit status tells").at(\.isQuiet),
        Option(nil, "queue", "work offline: with what was read last, and the outbox", \.isQueued),
        LookOptions.header.at(\.look),
      ]
        + LookOptions.options(width: "cut rows at COLUMNS, 0 for no cut (default: the terminal's)")
        .at(\.look),
      rare: [
        Option(nil, "now", "TIME", "format: count days from TIME instead of now", .moment, \.now),
        Option(nil, "quick", "format: read tasks in words, a line each, as add does", \.isQuick),
        Option(nil, "unsorted", "format: keep the order of the input") {
          $0.selection.isSorted = false
        },
      ]
    ) { options, words throws(UsageError) in try options.finish(words) }
  }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    if !words.paths.isEmpty { verb = try words.verb { _ in nil } }
    self.words = Array(words.paths.dropFirst())
    if verb == .list, isDone { verb = .done }
    if let name = words.names.first(where: { Self.taking($0)?.contains(verb) == false }) {
      throw UsageError("--\(name) is not for \(verb.rawValue)")
    }
    switch verb {
    case .list:
      if let word = self.words.first { throw UsageError("IDs are for done: \(word)") }
    case .done:
      selection.isAll = true
      ids = self.words
      if ids.isEmpty { throw UsageError("done: no ID is given") }
      if let id = ids.first(where: { $0.isEmpty || $0.utf8.contains(UInt8(ascii: ",")) }) {
        throw UsageError("not an ID: \(FileName.repaired(id))")
      }
    case .add:
      selection.isAll = true
      if let list {
        if !words.names.contains("collection") { collection = "dev.joelclaw.family.item" }
        let parts = list.split(separator: "/")
        if list.hasPrefix("at:"), parts.count != 4 || parts[2] != lists[...] {
          throw UsageError("--list: not of \(lists): \(list)")
        }
      } else if collection.hasSuffix(".family.item") {
        throw UsageError("an item belongs to a list: --list")
      }
    case .format: try checkFilter(words.names)
    }
  }

  /// The collection of the lists, beside that of their items.
  var lists: String {
    String(collection[..<(collection.lastIndex(of: ".") ?? collection.endIndex)]) + ".list"
  }

  private static func taking(_ option: String) -> [Verb]? {
    switch option {
    case "all", "label", "project": [.list, .format]
    case "output", "width", "color", "header": [.list, .done, .format]
    case "collection", "queue": [.list, .add, .done]
    case "done": [.done, .format]
    case "list": [.add, .format]
    case "now", "quick", "unsorted": [.format]
    default: nil
    }
  }

  private func checkFilter(_ names: [String]) throws(UsageError) {
    if isDone, isQuick { throw UsageError("--done and --quick exclude each other") }
    if let list {
      if !isQuick { throw UsageError("--list is for --quick") }
      let isPlain = list.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
      guard isPlain, list.hasPrefix("at://"), list.split(separator: "/").count == 4 else {
        throw UsageError("--list \(list): not the AT URI of a record")
      }
    }
    let shown = ["output", "all", "label", "project", "quiet", "unsorted"]
    if isDone || isQuick, let name = shown.first(where: names.contains) {
      throw UsageError("--\(name) is for tasks that are shown")
    }
  }
}
