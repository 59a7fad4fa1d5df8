import Core
import Screen
import Shell

struct AttachOptions {
  enum Job: Equatable {
    case attach, list, watch, new, reconcile, type, capture, asks, decide
    case close(String)
    case fingerprint, forget, authorize, check

    fileprivate var name: String {
      switch self {
      case .attach: "attaching"
      case .close: "--close"
      default: "--\(self)"
      }
    }

    fileprivate func takes(_ option: String) -> Bool {
      switch option {
      case "session": [.attach, .new, .type, .capture].contains(self)
      case "directory", "worktree": self == .attach || self == .new
      case "harness": [.attach, .new, .check].contains(self)
      case "return", "return-delay", "raw", "when-idle", "max-wait", "answer", "command":
        self == .type
      case "follow": self == .capture
      case "max-retries": [.attach, .watch, .capture, .asks, .decide].contains(self)
      case "output": [.list, .watch, .new, .reconcile, .capture].contains(self)
      default: true
      }
    }
  }

  var job = Job.attach
  private var jobs: [Job] = []
  var connect = ConnectOptions()
  /// The operand; nil for the configured default.
  var host: String?
  var session: String?
  var directory: String?
  var harness: String?
  var usesWorktree = false
  /// With `type`: Return afterwards.
  var pressesReturn = false
  /// Seconds before Return.
  var returnDelay = 0.3
  /// With `type`: chooses what the agent offers.
  var answers = false
  /// With `type`: what begins with `!` passes.
  var isCommand = false
  /// With `type`: control characters pass.
  var isRaw = false
  /// With `capture`: goes on.
  var follows = false
  /// Failed tries in a row before the link is given up; nil for no end.
  var maxRetries: Int?
  /// With `type`: not before the agent is idle.
  var waitsForIdle = false
  /// Seconds that this may take.
  var maxWait = RemoteTmux.usualIdleWait
  var form: ListForm?
  var look = LookOptions()
  var quiet = false
  var verbose = false

  static let table = OptionTable<AttachOptions>(
    program: "tmux-attach",
    summary: "Attach to the agent's terminal on another machine, and stay attached.",
    synopsis: "[options] [HOST]",
    operands: .live { ["."] + CompletionNames.hostNames() },
    options: [
      Option(
        "s", "session", "NAME", "the tmux session (default: riff)", SessionName.reading, \.session),
      Option(
        "d", "directory", "DIR", "where a new session starts (default: the home)", .text,
        \.directory),
      Option(
        "H", "harness", "COMMAND", "what a new session runs (default: claude)", .text, \.harness),
      Option("l", "list", "list the sessions", \.jobs, .list),
      Option("w", "watch", "print each change of the list", \.jobs, .watch),
      Option("N", "new", "make another session, without attaching", \.jobs, .new),
      Option(
        nil, "close", "NAME", "close this session", .text.offering(SessionMemory.names)
      ) { $0.jobs.append(.close($1)) }.formerly("k"),
      Option("t", "type", "for scripts: type standard input; people use agent-say", \.jobs, .type),
      Option("r", "return", "press Return after what is typed", \.pressesReturn),
      Option(nil, "when-idle", "type only when the agent is idle", \.waitsForIdle),
      Option(nil, "capture", "print what the session shows", \.jobs, .capture).formerly("c"),
      Option(nil, "authorize", "show your public key and how to let it in", \.jobs, .authorize),
      Option(nil, "check", "check that everything is in place", \.jobs, .check),
      Option(
        "o", "output", "FORM", "json, table, tsv, line, waybar, tmux or i3",
        .choice(of: ListForm.self), \.form),
      LookOptions.header.at(\.look),
      LookOptions.colour.at(\.look),
      Option.quiet("print no records, and nothing about the connection").at(\.quiet),
      Option.verbose("tell about the connection and each try").at(\.verbose),
    ] + ConnectOptions.options.at(\.connect),
    rare: [
      Option(nil, "worktree", "give a new session a git worktree of its own", \.usesWorktree),
      Option(
        nil, "reconcile", "compare the sessions known here with the host's", \.jobs, .reconcile),
      Option(
        nil, "return-delay", "SECONDS", "how long before Return (default: 0.3)", .seconds,
        \.returnDelay),
      Option(nil, "answer", "choose what the agent offers, by its label", \.answers),
      Option(
        nil, "command", "type what the agent runs in a shell, too: ! and a command", \.isCommand),
      Option(nil, "raw", "type control characters, too", \.isRaw),
      Option(
        nil, "max-wait", "SECONDS", "how long to wait for that (default: 600)", .seconds, \.maxWait),
      Option(nil, "follow", "with --capture: again whenever it changes", \.follows),
      Option(nil, "asks", "print what agents there ask permission for, as it comes", \.jobs, .asks),
      Option(nil, "decide", "answer it: an id and the hook's output, a line each", \.jobs, .decide),
      Option(nil, "fingerprint", "show the pinned host key", \.jobs, .fingerprint),
      Option(nil, "forget", "drop the pinned host key", \.jobs, .forget),
      Option(
        nil, "max-retries", "COUNT", "give up after COUNT failed tries", .wholeNumber(),
        \.maxRetries),
    ]
  ) { options, words throws(UsageError) in try options.finish(words) }

  /// The form of a list in a few words; nil for one in rows.
  var summary: ListForm? { form.flatMap { $0.rows == nil ? $0 : nil } }

  /// What a session begins with, by these options and the section of its host.
  func start(_ name: String?, in request: LinkRequest) throws(UsageError) -> SessionStart {
    let section = request.destination.section
    return try SessionStart(
      name: name, directory: directory ?? section?.directory, harness: harness ?? section?.harness,
      usesWorktree: usesWorktree)
  }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    for job in jobs { try choose(job) }
    let operands = words.operands
    guard operands.count < 2 else { throw UsageError("\(operands[1]): one host at a time") }
    host = operands.first
    if let host, ["list", "ls"].contains(host), !CompletionNames.hostNames().contains(host) {
      throw UsageError("\(host): not a host: did you mean -l?")
    }
    if let name = words.names.first(where: { !job.takes($0) }) {
      throw UsageError("--\(name) is not for \(job.name)")
    }
    if let summary, job != .list, job != .watch {
      throw UsageError("--output \(summary.rawValue) is not for \(job.name)")
    }
  }

  private mutating func choose(_ other: Job) throws(UsageError) {
    // -l -w watches the list.
    if (job == .list && other == .watch) || (job == .watch && other == .list) {
      job = .watch
      return
    }
    guard job == .attach || job == other else { throw UsageError("more than one job asked for") }
    job = other
  }
}
