import Agent
import Core

struct ClipOptions {
  enum Form: String, CaseIterable, Sendable {
    case text
    case json
  }

  var access = AccessOptions()
  /// A recogniser on this machine, for sh(1); nil asks a server.
  var command: String?
  /// What the clip is; nil looks at it.
  var format: String?
  var form = Form.text
  /// `--timeout`, seconds.
  var givenTimeout: Double?
  /// Seconds for everything.
  var timeout: Double { givenTimeout ?? 120 }
  var file = "-"
  var isVerbose = false

  static let table = OptionTable<ClipOptions>(
    program: "clip-transcribe",
    summary: "Print what is said in a recorded clip.",
    synopsis: "[options] [FILE]",
    options: [
      Option(
        nil, "command", "COMMAND",
        "run COMMAND instead of a server: $1 is the clip, the output its text", .word, \.command),
      Option(
        nil, "format", "FORMAT", "wav, m4a, ogg or aac (default: what it looks like)",
        .choice(of: Clip.Format.self)
      ) { $0.format = $1.rawValue },
      Option("o", "output", "FORM", "text or json (default: text)", .choice(of: Form.self), \.form),
      Option(
        nil, "timeout", "SECONDS", "give up after this time (default: 120)", .seconds,
        \.givenTimeout),
      Option.verbose("notes about each request").at(\.isVerbose),
    ] + AccessOptions.options.at(\.access)
  ) { options, words throws(UsageError) in
    if words.paths.count > 1 { throw UsageError("one clip at a time") }
    options.file = words.paths.first ?? "-"
    if options.timeout <= 0 { throw UsageError("--timeout: above 0") }
    if options.command != nil, options.access.profile != nil {
      throw UsageError("--command and --profile: one of them hears the clip")
    }
    if options.access.tokenFile == "-", options.file == "-" {
      throw UsageError("standard input cannot be the secret and the clip")
    }
  }
}
