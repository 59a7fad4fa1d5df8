import Agent
import CLibc
import Core
import Records

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
  /// A topic, and the file of its token.
  typealias Topic = (url: String, token: String?)
  var ntfy: [Topic] = []
  /// Of a topic that is not yet named.
  private var token: String?
  var click: String?
  /// The topic that answers are posted to; where a phone posts them, if it has another address;
  /// and the file of the token that it does so with.
  var answers: String?
  var buttons: String?
  var buttonsToken: String?
  /// Whether only No is offered.
  var deniesOnly = false
  var isCheck = false
  var access = AccessOptions()
  var limits = BundleLimits()
  var state: String?
  /// `--max-time`, seconds.
  var maxTime: Double?
  var isHistory = false
  var isRoute = false
  /// Of `--route`.
  var files: [String] = []

  private static let check = "--check sends one notice by --to, --ntfy and --exec"

  static let table = OptionTable<NotifyOptions>(
    program: "agent-notify",
    summary: "Tell a person what an agent's records say, now or later, each once.",
    synopsis: "[options] [-p NAME,... [-- OPTION ...] | --route [FILE ...]]",
    guesses: [
      "--test": Self.check, "-t": Self.check, "--json": "with --route it prints JSON anyway",
    ],
    options: [
      Option(
        "p", "profile", "NAME,...", "follow these profiles; repeatable",
        .names.offering(CompletionNames.profiles)
      ) { options, names in
        for name in names where !options.profiles.contains(name) { options.profiles.append(name) }
      },
      Option(nil, "answers", "URL", "buttons, heard at this topic; deny: No alone", .word) {
        options, word throws(UsageError) in
        if word == "deny" {
          options.deniesOnly = true
        } else if options.answers == nil {
          options.answers = word
        } else {
          throw UsageError("--answers: two topics")
        }
      },
      Option(
        nil, "bus", "SUBJECT,...", "tell what comes on a bus, on one machine; repeatable",
        .names
      ) { $0.subjects += $1 },
      Option(
        nil, "buttons", "URL", "where a phone posts to, if not the URL of --answers", .word
      ) { $0.buttons = $1 }.rare,
      Option(
        nil, "buttons-token", "FILE", "read the token that is in the buttons from FILE", .path
      ) { $0.buttonsToken = $1 }.rare,
      Option(nil, "check", "send one notice, and say who may read the topic") {
        $0.isCheck = true
      }.rare,
      Option(nil, "click", "URL", "what a tap on a notice of ntfy opens", .link) {
        $0.click = $1
      }.rare,
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
      Option(nil, "ntfy", "URL", "post to this topic of an ntfy server; repeatable", .word) {
        $0.ntfy.append(($1, $0.token))
        $0.token = nil
      },
      Option(nil, "ntfy-token", "FILE", "read the token for ntfy from FILE; repeatable", .path) {
        options, file throws(UsageError) in
        guard options.token == nil, options.ntfy.last.map({ $0.token == nil }) ?? true else {
          throw UsageError("--ntfy-token: two for one --ntfy")
        }
        guard !options.ntfy.isEmpty else {
          options.token = file
          return
        }
        options.ntfy[options.ntfy.count - 1].token = file
      }.rare,
      Option(
        nil, "rate", "COUNT", "tell at most COUNT a minute (default: 6)",
        .wholeNumber(in: 1...1000)
      ) { $0.limits.rate = $1 }.rare,
      Option(nil, "route", "tell nothing: print where notifications go") {
        $0.isRoute = true
      },
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
    if options.isRoute {
      let routing = RouteOptions.options.map(\.entry.name) + ["route"]
      if let name = words.names.first(where: { !routing.contains($0) }) {
        throw UsageError("--\(name) is not for --route")
      }
      options.files = words.paths.isEmpty ? ["-"] : words.paths
      return
    }
    options.filters = words.operands
    if !options.subjects.isEmpty, !options.profiles.isEmpty {
      throw UsageError("--bus and --profile: one of them")
    }
    if options.profiles.isEmpty, options.subjects.isEmpty, let word = options.filters.first {
      throw UsageError("\(word): the options of the filter need --profile or --bus")
    }
    if options.token != nil { throw UsageError("--ntfy-token is for --ntfy") }
    if options.ntfy.isEmpty, options.click != nil { throw UsageError("--click is for --ntfy") }
    try options.checkAnswers()
    if options.isCheck, options.ntfy.isEmpty, options.ways.isEmpty, options.commands.isEmpty {
      throw UsageError("--check needs a way: --to, --ntfy or --exec")
    }
    if options.state?.isEmpty == true { throw UsageError("--state: no file is named") }
  }

  /// Where nothing is named and nobody hands records over, the agents of this machine are meant, if
  /// nothing is configured.
  mutating func choose(_ diagnostics: Diagnostics) throws(Failure) {
    guard profiles.isEmpty, subjects.isEmpty else {
      return diagnostics.tellPerson(
        "waits for news of \((profiles + subjects).joined(separator: ", "))")
    }
    var status = stat()
    guard fstat(0, &status) == 0, status.st_mode & mode_t(S_IFMT) == mode_t(S_IFCHR) else { return }
    if let name = try Settings().profileOrHere(nil, diagnostics) {
      profiles = [name]
      diagnostics.tellPerson("waits for news of the agents on this machine")
    } else if isatty(0) == 1 {
      diagnostics.tellPerson("waits for records on standard input; -p NAME follows an agent")
    }
  }

  private func checkAnswers() throws(UsageError) {
    let isAsking = answers != nil || deniesOnly
    if isAsking, profiles.isEmpty, !isCheck {
      throw UsageError("--answers needs --profile: whom to answer")
    }
    if answers != nil, ntfy.isEmpty { throw UsageError("--answers is for --ntfy") }
    guard answers == nil else { return }
    if buttons != nil { throw UsageError("--buttons is for --answers") }
    if buttonsToken != nil { throw UsageError("--buttons-token is for --answers") }
    if deniesOnly, !ntfy.isEmpty { throw UsageError("--answers deny needs --answers URL, too") }
  }

  @Sendable private static func ways(_ argument: OptionArgument) throws(UsageError) -> [Way] {
    try argument.words.map { word throws(UsageError) in
      guard let way = Way(rawValue: word) else {
        throw argument.fault(noneOf: Way.allCases.map(\.rawValue))
      }
      return way
    }
  }
}

extension Reading<String> {
  fileprivate static var link: Reading {
    Reading("not a URL") { text in
      let hasScheme = text.holds(":") && text.utf8.first != UInt8(ascii: ":")
      let isPlain = text.utf8.count <= 1000 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
      return hasScheme && isPlain ? text : nil
    }
  }
}

/// The options of agent-notify(1) that say how notifications are routed where the records do not.
struct RouteOptions: Sendable {
  /// The urgency of actions that tell of no fault; nil when they are no notifications.
  var actions: NotificationRecord.Urgency?
  /// The file that says what a person's devices report.
  var context: String?
  var preferences = RoutePreferences()

  /// All of them.
  static let options: [Option<RouteOptions>] = [
    Option(
      nil, "as", "URGENCY", "tell every action; URGENCY is info, attention, ...",
      .choice(of: NotificationRecord.Urgency.self)
    ) { $0.actions = $1 },
    Option(nil, "context", "FILE", "what your devices say: asleep, driving, ...", .path) {
      $0.context = $1
    },
    Option(nil, "mute", "CATEGORY,...", "tell nothing of these categories; repeatable", .list) {
      $0.preferences.muted += $1
    },
    Option(
      nil, "override", "CATEGORY=URGENCY", "give a category this urgency; repeatable",
      Reading(override)
    ) { $0.preferences.overrides[$1.category] = $1.urgency.rawValue },
    Option(nil, "quiet-hours", "START-END", "only emergencies then: 23:00-07:00", .hours) {
      $0.preferences.quietHours = $1
    },
  ]

  @Sendable private static func override(
    _ argument: OptionArgument
  ) throws(UsageError) -> (category: String, urgency: NotificationRecord.Urgency) {
    guard let mark = argument.value.lastIndex(of: "="), mark != argument.value.startIndex else {
      throw argument.fault("not CATEGORY=URGENCY")
    }
    let word = String(argument.value[argument.value.index(after: mark)...])
    guard let urgency = NotificationRecord.Urgency(rawValue: word) else {
      throw argument.fault(noneOf: NotificationRecord.Urgency.allCases.map(\.rawValue))
    }
    return (String(argument.value[..<mark]), urgency)
  }
}

extension Reading<QuietHours> {
  fileprivate static var hours: Reading {
    Reading("not a time of day as in 23:00-07:00") { text in
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      return parts.count == 2 ? QuietHours(start: parts[0], end: parts[1]) : nil
    }
  }
}
