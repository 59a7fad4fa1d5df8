import Agent
import Core
import Records
import Screen

/// What the command line of agent-call asks for.
struct CallOptions {
  var command = Command.health
  /// The operand behind the command.
  var operand: String?
  var guild: String?
  var channel: String?
  var user: String?
  var count: Int?
  var since: Moment?
  var kinds: [String] = []
  var statuses: [String] = []
  var data: String?
  /// Nil: a table on a terminal, else JSON.
  var form: RowOutput.Form?
  var look = LookOptions()
  /// Seconds for everything; 0 for no limit; nil for the default of a request.
  var maxTime: Double?
  var access = AccessOptions()
  var quiet = false
  var verbose = false

  static let table = OptionTable<CallOptions>(
    program: "agent-call",
    summary: "Ask the backend anything, or tell it something; a row per record.",
    synopsis: "[options] COMMAND [GUILD | AUTOMATION | PATH]",
    operands: .words(Command.allCases.map(\.rawValue)),
    options: [
      Option("g", "guild", "ID", "of this guild (default: the profile's, or the only one)", .word) {
        $0.guild = $1
      },
      Option("c", "channel", "ID", "of this channel; join: the text channel to answer in", .word) {
        $0.channel = $1
      },
      Option("u", "user", "ID", "join: the voice channel that this user is in", .word) {
        $0.user = $1
      },
      Option("n", "count", "COUNT", "only the first COUNT records", .wholeNumber()) {
        $0.count = $1
      },
      Option("S", "since", "TIME", "not older than a time, or than 90s, 15m, 2h, 3d", .moment) {
        $0.since = $1
      },
      Option(
        "k", "kind", "KIND,...", "actions of these kinds", .list.offering(.words(ActionKind.all))
      ) { $0.kinds += $1 },
      Option(
        nil, "status", "STATUS,...", "automations of these states",
        .list.offering(.words(["active", "paused", "deleted", "all"]))
      ) { $0.statuses += $1 },
      Option(
        "d", "data", "DATA", "the JSON to send; @FILE reads it (default: standard input)",
        .path.offering(.none)
      ) { $0.data = $1 },
      RowOutput.Form.output.at(\.form),
      Caller.maxTime.at(\.maxTime),
      Option.quiet("print nothing; the status tells").at(\.quiet),
      Option.verbose("notes about each request").at(\.verbose),
    ] + AccessOptions.options.at(\.access)
      + LookOptions.options(width: "cut rows at COLUMNS, 0 for no cut (default: the terminal's)")
      .at(\.look)
  ) { options, words throws(UsageError) in try options.finish(words) }

  private let now: Timestamp

  /// - Parameter now: what is later cannot be asked for.
  init(now: Timestamp) { self.now = now }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    try readOperands(words.operands)
    if let name = words.names.first(where: { !command.takes($0) }) {
      throw UsageError("--\(name) is not for \(command.rawValue)")
    }
    if let kind = kinds.first(where: { $0.contains { "*?[".contains($0) } }) {
      throw UsageError("--kind \(kind): whole kinds alone; action-filter(1) knows patterns")
    }
    // The backend takes a window of no length for no window at all.
    if let since, since.timestamp(now: now) >= now { throw UsageError("--since: not in the past") }
    if operand != nil, guild != nil, command == .channels || command == .join {
      throw UsageError("the guild is given twice")
    }
    if access.tokenFile == "-", data == "@-" || (data == nil && command.readsInput) {
      throw UsageError("standard input cannot be the token and the body")
    }
  }

  private mutating func readOperands(_ operands: [String]) throws(UsageError) {
    guard let word = operands.first else {
      throw UsageError(
        "a command is needed: \(Command.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    guard let command = Command(rawValue: word) else {
      throw UsageError("unknown command \(word)")
    }
    self.command = command
    let count = operands.count - 1
    if count < command.operands.lowerBound {
      throw UsageError("\(word) needs a \(command.operandName)")
    }
    if count > command.operands.upperBound {
      throw UsageError("too many words: \(operands[command.operands.upperBound + 1])")
    }
    operand = operands.dropFirst().first
    if operand?.isEmpty == true { throw UsageError("\(word): an empty \(command.operandName)") }
  }
}

extension Command {
  /// Whether the body comes from standard input when `--data` is not given.
  var readsInput: Bool { self == .post || self == .put }
}
