import Core
import Shell
import Turns

struct TranscriptOptions {
  /// As given; nil for the usual folder.
  private(set) var place: String?
  private(set) var wishes = FollowPlan.Wishes()
  private(set) var once = false
  private(set) var state: String?
  private(set) var lifecycle = false
  private(set) var isQuiet = false
  /// Whether lines that are no JSON are passed over without a word.
  private(set) var isLenient = false
  private(set) var isVerbose = false
  /// Failed tries in a row before the host is given up; nil for no end.
  private(set) var maxRetries: Int?
  private(set) var connect = ConnectOptions()
  /// The first option that is for a host alone.
  private(set) var ofHost: String?

  static let table = OptionTable<TranscriptOptions>(
    program: "transcript-tail",
    summary: "Follow a coding agent's own transcripts, one JSON record per line.",
    synopsis: "[options] [FILE | DIR | HOST:[PATH]]",
    operands: .fileOr(CompletionNames.hostNames), guesses: ["--json": "it prints JSON anyway"],
    options: [
      Option(nil, "all", "of all sessions, from their beginning", \.wishes.all),
      Option("S", "since", "TIME", "of sessions that were written to since a time", .moment) {
        $0.wishes.since = $1.timestamp(now: .now())
      },
      Option(nil, "new", "only what is added from now on", \.wishes.new),
      Option(nil, "once", "end when all that is there is printed", \.once),
      Option(
        nil, "state", "FILE", "remember the place in FILE, and go on there next time", .path,
        \.state),
      Option(
        "L", "lifecycle", "print what happens to the connection, as records, too", \.lifecycle),
      Option.quiet("say nothing about the connection").at(\.isQuiet),
      Option.verbose("tell about the connection, in a pipe, too").at(\.isVerbose),
    ] + connectOptions.at(\.connect),
    rare: [
      Option(nil, "lenient", "pass over lines that are not JSON without a word", \.isLenient),
      Option(
        nil, "max-line", "BYTES", "skip lines longer than this (default: 268435456)",
        .wholeNumber(in: 1...Int.max), \.wishes.limit),
      Option(
        nil, "max-retries", "COUNT", "give up after COUNT failed tries", .wholeNumber(),
        \.maxRetries),
    ]
  ) { options, words throws(UsageError) in try options.finish(words) }

  /// There is no tmux in it.
  private static let connectOptions = ConnectOptions.options.filter { $0.entry.name != "label" }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    if state?.isEmpty == true { throw UsageError("--state: no file is named") }
    if wishes.new, wishes.all || once {
      throw UsageError("--new leaves nothing for --\(once ? "once" : "all")")
    }
    if wishes.since != nil, wishes.new || wishes.all {
      throw UsageError("--since and --\(wishes.new ? "new" : "all"): one of them")
    }
    if words.paths.count > 1 {
      throw UsageError("one place at a time: \(FileName.repaired(words.paths[1]))")
    }
    place = words.paths.first
    let names = ["max-retries"] + Self.connectOptions.map(\.entry.name)
    ofHost = words.names.first { names.contains($0) }
  }
}

enum TranscriptPlace: Equatable {
  case here(String)
  /// A host as `Destination` reads it, and a path there; empty for the usual folder.
  case host(String, path: String)

  /// A colon in front of any slash names a host; an address with colons is in brackets.
  init(_ text: String?, home: String) throws(UsageError) {
    guard let text else {
      self = .here(ClaudeTranscripts.folder(home: home))
      return
    }
    if text.isEmpty { throw UsageError("no file, folder or host is named") }
    guard let colon = Self.colon(of: text) else {
      self = .here(text)
      return
    }
    let host = String(text[..<colon])
    if host.isEmpty { throw UsageError("\(FileName.repaired(text)): no host is named") }
    self = .host(host, path: String(text[text.index(after: colon)...]))
  }

  private static func colon(of text: String) -> String.Index? {
    if let open = text.firstIndex(of: "["), open == text.startIndex || text[..<open].hasSuffix("@"),
      let end = text.firstIndex(of: "]")
    {
      let behind = text.index(after: end)
      return behind < text.endIndex && text[behind] == ":" ? behind : nil
    }
    guard let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") else { return nil }
    return colon
  }
}
