import Agent
import Core
import Screen

struct MemOptions {
  /// How the user of `--snapshot` speaks.
  enum Turn: String, CaseIterable { case text, voice }

  var mode = Mode.search
  private var modes: [Mode] = []
  var operands: [String] = []
  /// Of `--edit` and `--fact-profile`.
  var id = ""
  var guild: String?
  var channel: String?
  var user: String?
  /// Of `--snapshot`.
  var turn = Turn.text
  /// In lower case.
  var types: [String] = []
  var subject: String?
  var limit: Int?
  var minScore: Double?
  var count: Int?
  var isOffline = false
  /// Of `--pick`.
  var filter: String?
  var fact: String?
  var confidence: String?
  var evidence: String?
  var isSure = false
  /// Nil: a table on a terminal, else JSON.
  var form: RowOutput.Form?
  var look = LookOptions()
  /// Seconds for everything; 0 for no limit; nil for the default of a request.
  var maxTime: Double?
  var access = AccessOptions()
  var quiet = false
  var verbose = false

  static let table = OptionTable<MemOptions>(
    program: "mem-search",
    summary: "Search, browse and correct what the agent remembers.",
    synopsis: "[options] QUERY ... | -f [TEXT] | --pick | --delete ID ...",
    operands: .none,
    guesses: ["--list": "-f lists all facts", "-l": "-f lists all facts"],
    options: [
      Option("f", "facts", "list all facts, or those with a text in them", \.modes, .facts),
      Option("R", "reflections", "list reflections, or show the RUN named", \.modes, .reflections),
      Option(nil, "edit", "ID", "correct a fact, in $EDITOR unless an option says how", .word) {
        $0.modes.append(.edit)
        $0.id = $1
      },
      Option(
        nil, "delete", "delete the facts named; - reads ids from standard input", \.modes, .delete),
      Option(nil, "undo", "list what was deleted, or put the facts named back", \.modes, .undo),
      Option(nil, "pick", "choose facts with fzf: edit, delete, copy, print", \.modes, .pick),
      Option(
        "g", "guild", "GUILD", "of this guild (the profile's, or all)",
        .word.offering(OfferedNames.guilds), \.guild),
      Option(
        "t", "type", "TYPE,...", "facts of these types; with --edit, the new type",
        .text.offering(
          .words([
            "preference", "profile", "relationship", "project", "guidance", "behavioral", "other",
          ]))
      ) {
        // A type that holds no comma: lower-cased by the backend, so here too.
        $0.types += $1.split(separator: ",").map { FactText.folded(String($0)).lowercased() }
      },
      Option(
        nil, "subject", "SUBJECT", "facts of this subject; with --edit, the new subject", .word,
        \.subject
      ).formerly("s"),
      Option("1", "best", "only the best hit, or the newest fact", \.count, 1),
      Option("n", "count", "COUNT", "only the first COUNT records", .wholeNumber(), \.count),
      Option(nil, "fact", "TEXT", "with --edit: the fact", Reading(kept), \.fact),
      Option("y", "yes", "do not ask", \.isSure),
      RowOutput.Form.output.at(\.form), LookOptions.header.at(\.look),
      Caller.maxTime.at(\.maxTime),
      Option.quiet("print nothing; the exit status tells").at(\.quiet),
      Option.verbose("notes about each request").at(\.verbose),
    ] + AccessOptions.options.at(\.access)
      + LookOptions.options(width: "break rows at COLUMNS, 0 nowhere (default: the terminal's)")
      .at(\.look),
    rare: [
      Option(
        nil, "subjects", "list the subjects, how many facts each has", \.modes, .subjects
      ).formerly("S"),
      Option(
        nil, "fact-profile", "USER", "show what is loaded about a user",
        .word.offering(OfferedNames.users)
      ) {
        $0.modes.append(.factProfile)
        $0.id = $1
      }.formerly("P"),
      Option("M", "markdown", "print the memory as markdown", \.modes, .markdown),
      Option(nil, "snapshot", "show what a turn would be told", \.modes, .snapshot),
      Option(nil, "mirror", "keep a copy of all facts on this machine", \.modes, .mirror),
      Option(
        nil, "filter", "WORDS", "with --pick: print what fits, without a screen", .word, \.filter),
      Option(nil, "offline", "search the copy that --mirror made", \.isOffline),
      Option("c", "channel", "ID", "as seen from this channel", .word, \.channel),
      Option(
        "u", "user", "USER", "of the snapshot: the user who speaks",
        .word.offering(OfferedNames.users), \.user),
      Option(
        nil, "mode", "MODE", "of the snapshot: text or voice (default: text)",
        .choice(of: Turn.self), \.turn),
      Option(
        nil, "limit", "COUNT", "ask for COUNT hits (default: 10; with -t or --subject, 24)",
        .wholeNumber(in: 1...Int.max), \.limit
      ).formerly("k"),
      Option(
        nil, "min-score", "SCORE", "hits with this score or a better one", .number(), \.minScore),
      Option(nil, "confidence", "NUMBER", "with --edit: from 0 to 1", .text, \.confidence),
      Option(
        nil, "evidence", "TEXT", "with --edit: the evidence; empty for none", Reading(kept),
        \.evidence),
    ]
  ) { options, words throws(UsageError) in try options.finish(words) }

  /// Text that is to be kept. What is not UTF-8 came here as U+FFFD.
  @Sendable private static func kept(_ argument: OptionArgument) throws(UsageError) -> String {
    if argument.value.unicodeScalars.contains("\u{fffd}") {
      throw UsageError("--\(argument.name): not UTF-8")
    }
    return argument.value
  }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    mode = modes.first ?? .search
    if let other = modes.first(where: { $0 != mode }) {
      throw UsageError("--\(mode.rawValue) and --\(other.rawValue) exclude each other")
    }
    if mode == .edit, modes.count > 1 { throw UsageError("--edit: one fact at a time") }
    if let name = words.names.first(where: { !mode.takes($0) }) {
      throw UsageError("--\(name) is not for \(modeName)")
    }
    if types.isEmpty, words.names.contains("type") {
      if mode != .edit { throw UsageError("--type: nothing is named") }
      types = ["other"]
    }
    operands = words.operands
    try checkOperands()
    if mode == .edit, types.count > 1 { throw UsageError("--type: a fact has one") }
    if access.tokenFile == "-",
      operands.contains("-") || (mode == .edit && !isSure) || mode == .pick
    {
      throw UsageError("standard input cannot be the token and an answer")
    }
  }

  private var modeName: String { mode == .search ? "a search" : "--\(mode.rawValue)" }

  private func checkOperands() throws(UsageError) {
    let (name, range) = mode.operands
    if operands.count < range.lowerBound {
      throw UsageError(
        mode == .search
          ? "a query is needed, or one of --facts --subjects --reflections --markdown"
          : "\(modeName) needs an \(name)")
    }
    if operands.count > range.upperBound {
      throw UsageError("too many words: \(operands[range.upperBound])")
    }
    if mode == .search, text.isEmpty { throw UsageError("the query is empty") }
  }

  var text: String { FactText.folded(operands.joined(separator: " ")) }

  var hasChange: Bool {
    fact != nil || confidence != nil || evidence != nil || subject != nil || !types.isEmpty
  }
}

enum Mode: String {
  case search
  case facts
  case subjects
  case reflections
  case factProfile = "fact-profile"
  case markdown
  case snapshot
  case edit
  case delete
  case undo
  case mirror
  case pick

  func takes(_ option: String) -> Bool {
    switch option {
    case "limit", "min-score": self == .search
    case "best": self == .search || self == .facts
    case "count": [.search, .facts, .subjects, .reflections, .undo].contains(self)
    case "type", "subject": [.search, .facts, .edit, .pick].contains(self)
    case "channel": [.search, .factProfile, .snapshot].contains(self)
    case "user", "mode": self == .snapshot
    case "fact", "confidence", "evidence": self == .edit
    case "yes": self == .edit || self == .delete
    case "offline": [.search, .facts, .subjects].contains(self)
    case "filter": self == .pick
    case "output", "header": self != .pick
    default: true
    }
  }

  var operands: (name: String, range: ClosedRange<Int>) {
    switch self {
    case .search: ("QUERY", 1...Int.max)
    case .facts, .pick: ("TEXT", 0...Int.max)
    case .reflections: ("RUN", 0...1)
    case .factProfile, .snapshot: ("TEXT", 0...Int.max)
    case .delete: ("ID", 1...Int.max)
    case .undo: ("ID", 0...Int.max)
    case .subjects, .markdown, .edit, .mirror: ("", 0...0)
    }
  }
}
