import Agent
import Core

struct NarrateOptions {
  enum Form: String, CaseIterable, Sendable {
    case text
    case json
  }

  var access = AccessOptions()
  var after: Moment?
  /// For sh(1); nil prints.
  var command: String?
  var form = Form.text
  var isLatest = false
  /// Whether nothing is skipped, however late it is.
  var isAll = false
  var save: String?
  var slug: String?
  var directory: String?
  /// Seconds for each run of the command.
  var timeout = 600.0
  var isVerbose = false
  /// What is read; `-` is standard input.
  var files: [String] = []

  var isServer: Bool { access.profile != nil }

  static let table = OptionTable<NarrateOptions>(
    program: "reply-narrate",
    summary: "Say what an agent answered: finished turns in, speakable prose out.",
    synopsis: "[options] [FILE ...]",
    options: [
      Option(
        nil, "after", "TIME", "only turns that ended after TIME: an epoch, 2h, today",
        .momentOrEpoch
      ) {
        $0.after = $1
      },
      Option(nil, "all", "skip no turn, however late it is") { $0.isAll = true },
      Option(
        nil, "directory", "DIR", "ask a server only for agents that work in DIR", .path
      ) { $0.directory = $1 },
      Option(
        nil, "exec", "COMMAND", "run COMMAND for each, with the text on its input", .word
      ) { $0.command = $1 },
      Option(nil, "latest", "only the newest turn, at the end of the input") {
        $0.isLatest = true
      },
      Option("o", "output", "FORM", "text or json (default: text)", .choice(of: Form.self)) {
        $0.form = $1
      },
      Option(nil, "save", "DIR", "put a server's audio into DIR, print its name", .path) {
        $0.save = $1
      },
      Option(nil, "slug", "NAME", "as --directory, by Claude Code's name of the folder", .word) {
        $0.slug = $1
      }.rare,
      Option(nil, "timeout", "TIME", "end a COMMAND that takes longer (default: 10m)", .seconds) {
        $0.timeout = $1
      }.rare,
      Option.verbose("notes about each turn and request").at(\.isVerbose),
    ] + AccessOptions.options.at(\.access)
  ) { options, words throws(UsageError) in
    options.files = words.paths.isEmpty ? ["-"] : words.paths
    if options.timeout <= 0 { throw UsageError("--timeout: above 0") }
    if options.directory != nil, options.slug != nil {
      throw UsageError("--directory and --slug: one of them says whose turns")
    }
    for (value, name) in [(options.directory, "directory"), (options.save, "save")]
    where value?.isEmpty == true { throw UsageError("--\(name): nothing is named") }
    if options.isLatest, options.isAll { throw UsageError("--latest and --all: one of them") }
    guard options.isServer else {
      for (value, name) in [
        (options.directory, "directory"), (options.slug, "slug"), (options.save, "save"),
        (options.access.tokenFile, "token-file"), (options.access.authorities, "cacert"),
      ] where value != nil { throw UsageError("--\(name) is for a voice server; see --profile") }
      return
    }
    if !words.paths.isEmpty { throw UsageError("a voice server is asked, or files are read") }
    if (options.command == nil) == (options.save == nil) {
      throw UsageError("a voice server sends audio: --exec or --save")
    }
    if options.form == .json { throw UsageError("--output: a voice server sends audio") }
  }
}
