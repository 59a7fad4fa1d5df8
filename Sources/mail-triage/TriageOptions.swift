import Core

struct TriageOptions {
  /// A command that says how soon an item matters, for sh(1).
  private(set) var command: String?
  private(set) var isFollowing = false
  /// The person's addresses, in lower case.
  private(set) var own: Set<String> = []
  private(set) var most = Int.max
  /// The file of the rules; nil for the usual one, which need not be there.
  private(set) var rules: String?
  private(set) var state: String?
  /// Seconds for each run of the command.
  private(set) var timeout = 30.0
  /// Maildirs and files; `-` is standard input.
  private(set) var places: [String] = []

  /// What stands between brackets behind a name, else all.
  private static func address(_ text: String) -> String {
    (MailAddress.list(text).first?.address ?? text).lowercased()
  }

  static let table = OptionTable<TriageOptions>(
    program: "mail-triage",
    summary: "Read mail and messages, and write a notification for each, by urgency.",
    synopsis: "[options] [MAILDIR | FILE ...]", guesses: ["--json": "it prints JSON anyway"],
    options: [
      Option("f", "follow", "wait for more mail in the maildirs", \.isFollowing),
      Option(
        "n", "count", "COUNT", "end after COUNT notifications", .wholeNumber(in: 1...Int.max),
        \.most),
      Option(
        nil, "exec", "COMMAND", "COMMAND reads the record and prints its urgency", .word, \.command),
      Option(nil, "me", "ADDRESS,...", "your own addresses; repeatable", .list) {
        $0.own.formUnion($1.map { Self.address($0) })
      },
      Option(
        nil, "rules", "FILE", "the rules (default: ~/.config/agentutils/triage)", .path, \.rules),
      Option(nil, "state", "FILE", "remember in FILE what was told", .path, \.state),
      Option(
        nil, "timeout", "SECONDS", "give COMMAND this time for each mail (default: 30)", .seconds,
        \.timeout),
    ]
  ) { options, words throws(UsageError) in
    options.places = words.paths.isEmpty ? ["-"] : words.paths
    if options.timeout <= 0 { throw UsageError("--timeout: above 0") }
    if words.names.contains("timeout"), options.command == nil {
      throw UsageError("--timeout is for --exec")
    }
    if options.isFollowing, words.paths.isEmpty {
      throw UsageError("--follow: no maildir is named")
    }
    if options.state?.isEmpty == true { throw UsageError("--state: no file is named") }
    if options.rules?.isEmpty == true { throw UsageError("--rules: no file is named") }
  }
}
