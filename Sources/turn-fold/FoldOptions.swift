import Core

struct FoldOptions {
  enum Form: String, CaseIterable, Sendable {
    case records
    case state
  }

  var form = Form.records
  var isFinal = false
  var isVerbose = false
  var threads: [String] = []
  var turns: [String] = []
  var files: [String] = []

  var isSearch: Bool { !threads.isEmpty || !turns.isEmpty }

  static let table = OptionTable<FoldOptions>(
    program: "turn-fold",
    summary: "Fold an agent's events into turns, calls of tools and messages.",
    synopsis: "[options] [FILE ...]", guesses: ["--json": "it prints JSON anyway"],
    options: [
      Option("f", "final", "only what is finished, each once", \.isFinal),
      Option(
        "o", "output", "FORM", "records, or state: all that is known, at the end",
        .choice(of: Form.self), \.form),
      Option(nil, "thread", "ID", "of this conversation; repeatable", .word, \.threads),
      Option(nil, "turn", "ID", "of this turn; repeatable", .word, \.turns),
      Option.verbose("count the lines of transcripts whose type is unknown").at(\.isVerbose),
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
