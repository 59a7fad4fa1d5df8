import Core

/// What the command line of turn-fold asks for.
struct FoldOptions {
  /// What goes to standard output.
  enum Form: String, CaseIterable, Sendable {
    /// Records, each when it changed.
    case records
    /// What is known at the end.
    case state
  }

  var form = Form.records
  /// Whether only what is over is told.
  var isFinal = false
  /// The conversations that are told; none for all.
  var threads: [String] = []
  /// The turns that are told, with what belongs to them; none for all.
  var turns: [String] = []
  /// Files to read; `-` is standard input.
  var files: [String] = []

  /// Whether something in particular is looked for.
  var isSearch: Bool { !threads.isEmpty || !turns.isEmpty }

  static let table = OptionTable<FoldOptions>(
    program: "turn-fold",
    summary: "Fold an agent's events into turns, calls of tools and messages.",
    synopsis: "[options] [FILE ...]",
    options: [
      Option("f", "final", "only what is finished, each once") { $0.isFinal = true },
      Option(
        "o", "output", "FORM", "records, or state: all that is known, at the end",
        .choice(of: Form.self)
      ) { $0.form = $1 },
      Option(nil, "thread", "ID", "of this conversation; repeatable", .word) {
        $0.threads.append($1)
      },
      Option(nil, "turn", "ID", "of this turn; repeatable", .word) { $0.turns.append($1) },
    ]
  ) { options, words throws(UsageError) in
    if options.form == .state {
      if options.isFinal { throw UsageError("--final is for records, not for --output state") }
      if !options.turns.isEmpty {
        throw UsageError("--turn is for records, not for --output state")
      }
    }
    options.files = words.paths.isEmpty ? ["-"] : words.paths
  }
}
