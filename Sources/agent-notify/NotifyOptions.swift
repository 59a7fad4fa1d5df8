import Agent
import Core
import Notices

struct NotifyOptions {
  enum Way: String, CaseIterable, Sendable {
    case bell, line
    case notifySend = "notify-send"
    case osascript, tmux
  }

  var routes = RouteOptions()
  var profiles: [String] = []
  var subjects: [String] = []
  var filters: [String] = []
  /// How to tell; with none of these and of the next two, the best there is.
  var ways: [Way] = []
  var commands: [String] = []
  var ntfy: String?
  var token: String?
  var access = AccessOptions()
  var limits = BundleLimits()
  var state: String?
  /// `--max-time`, seconds.
  var maxTime: Double?
  var isHistory = false

  static let table = OptionTable<NotifyOptions>(
    program: "agent-notify",
    summary: "Tell a person what an agent's records say, now or later, each once.",
    synopsis: "[options] [-p NAME,... | --bus SUBJECT,... [-- OPTION ...]]", operands: .none,
    options: [
      Option(
        "p", "profile", "NAME,...", "follow these profiles; repeatable",
        Reading(names, completion: CompletionNames.profiles)
      ) { options, names in
        for name in names where !options.profiles.contains(name) { options.profiles.append(name) }
      },
      Option(
        nil, "bus", "SUBJECT,...", "tell what comes on a bus, on one machine; repeatable",
        Reading(names)
      ) { $0.subjects += $1 },
      Option(
        nil, "digest", "TIME",
        "tell what was kept for later after this time (default: 30m; 0: at the end)",
        .seconds
      ) { $0.limits.digest = $1 },
      Option(nil, "exec", "COMMAND", "run COMMAND with the record on its input; repeatable", .word)
      {
        $0.commands.append($1)
      },
      Option(nil, "max-time", "SECONDS", "end after this time", .seconds) {
        $0.maxTime = $1
      }.rare,
      Option(nil, "ntfy", "URL", "post to this topic of an ntfy server", .word) { $0.ntfy = $1 },
      Option(nil, "ntfy-token", "FILE", "read the token for ntfy from FILE", .path) {
        $0.token = $1
      }.rare,
      Option(
        nil, "rate", "COUNT", "tell at most COUNT a minute (default: 6)",
        .wholeNumber(in: 1...1000)
      ) { $0.limits.rate = $1 }.rare,
      Option(nil, "settle", "TIME", "wait for more of the same (default: 2s)", .seconds) {
        $0.limits.settle = min($1, 3600)
      }.rare,
      Option(nil, "state", "FILE", "remember in FILE what was told", .path) { $0.state = $1 }.rare,
      Option(
        nil, "to", "WAY,...", "bell, line, notify-send, osascript, tmux; repeatable",
        Reading(ways, completion: .words(Way.allCases.map(\.rawValue)))
      ) { options, ways in
        for way in ways where !options.ways.contains(way) { options.ways.append(way) }
      },
      Option(nil, "told", "print what was told last, and when") { $0.isHistory = true },
    ] + RouteOptions.options.at(\.routes)
      + AccessOptions.credentials.filter { $0.entry.name != "token-file" }.at(\.access)
  ) { options, words throws(UsageError) in
    options.filters = words.operands
    if !options.subjects.isEmpty, !options.profiles.isEmpty {
      throw UsageError("--bus and --profile: one of them")
    }
    if options.profiles.isEmpty, options.subjects.isEmpty, let word = options.filters.first {
      throw UsageError("\(word): the options of the filter need --profile or --bus")
    }
    if options.ntfy == nil, options.token != nil {
      throw UsageError("--ntfy-token is for --ntfy")
    }
    if options.state?.isEmpty == true { throw UsageError("--state: no file is named") }
  }

  @Sendable private static func names(_ argument: OptionArgument) throws(UsageError) -> [String] {
    if argument.words.contains("") { throw argument.fault("an empty name") }
    return argument.words
  }

  @Sendable private static func ways(_ argument: OptionArgument) throws(UsageError) -> [Way] {
    var ways: [Way] = []
    for word in argument.words {
      guard let way = Way(rawValue: word) else {
        throw argument.fault(noneOf: Way.allCases.map(\.rawValue))
      }
      ways.append(way)
    }
    return ways
  }
}
