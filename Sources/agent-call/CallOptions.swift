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
  var since: Since?
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

  static let table = OptionTable(
    program: "agent-call",
    summary: "Ask the backend anything, or tell it something; a row per record.",
    synopsis: "[options] COMMAND [GUILD | AUTOMATION | PATH]",
    operands: .words(Command.allCases.map(\.rawValue)),
    options: [
      Option("g", "guild", "ID", "of this guild (default: the profile's, or the only one)"),
      Option("c", "channel", "ID", "of this channel; join: the text channel to answer in"),
      Option("u", "user", "ID", "join: the voice channel that this user is in"),
      Option("n", "count", "COUNT", "only the first COUNT records"),
      Option("S", "since", "TIME", "not older than a time, or than 90s, 15m, 2h, 3d"),
      Option(
        "k", "kind", "KIND,...", "actions of these kinds",
        completion: .words(ActionKind.all)),
      Option(
        nil, "status", "STATUS,...", "automations of these states",
        completion: .words(["active", "paused", "deleted", "all"])),
      Option(
        "d", "data", "DATA", "the JSON to send; @FILE reads it (default: standard input)"),
      RowOutput.Form.option,
      Option(
        "W", "width", "COLUMNS", "cut rows at COLUMNS, 0 for no cut (default: the terminal's)"),
      LookOptions.colourOption,
      Option(nil, "max-time", "SECONDS", "give up after this time, 0 never (default: 30)"),
    ] + AccessOptions.table + [
      Option("q", "quiet", nil, "print nothing; the status tells"),
      Option("v", "verbose", nil, "notes about each request"),
    ])

  /// Reads parsed options.
  ///
  /// - Throws: `UsageError` for what makes no sense.
  init(_ parsed: ParsedOptions, now: Timestamp) throws(UsageError) {
    try readOperands(parsed.operands)
    for item in parsed.items {
      guard command.takes(item.name) else {
        throw UsageError("--\(item.name) is not for \(command.rawValue)")
      }
      try read(item, now)
    }
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

  private mutating func read(_ item: ParsedOptions.Item, _ now: Timestamp) throws(UsageError) {
    if access.take(item) { return }
    if try look.take(item) { return }
    switch item.name {
    case "guild": guild = try Self.id(item)
    case "channel": channel = try Self.id(item)
    case "user": user = try Self.id(item)
    case "count": count = try item.wholeNumber()
    case "since": since = try Self.time(item, now)
    case "kind": kinds += try Self.list(item)
    case "status": statuses += try Self.list(item)
    case "data": data = item.path
    case "output": form = try RowOutput.Form(item)
    case "max-time": maxTime = try item.seconds()
    case "quiet": quiet = true
    case "verbose": verbose = true
    default: break
    }
  }

  private static func id(_ item: ParsedOptions.Item) throws(UsageError) -> String {
    if item.value.isEmpty { throw UsageError("--\(item.name): an id is missing") }
    return item.value
  }

  private static func list(_ item: ParsedOptions.Item) throws(UsageError) -> [String] {
    let words = item.value.split(separator: ",").map(String.init)
    if words.isEmpty { throw UsageError("--\(item.name): nothing is named") }
    if item.name == "kind", let word = words.first(where: { $0.contains { "*?[".contains($0) } }) {
      throw UsageError("--kind \(word): whole kinds alone; action-filter(1) knows patterns")
    }
    return words
  }

  /// A time of RFC 3339, a date alone (its midnight in UTC), or so long ago.
  private static func time(
    _ item: ParsedOptions.Item, _ now: Timestamp
  ) throws(UsageError) -> Since {
    let text = item.value
    // The backend takes a window of no length for no window at all.
    if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") {
      if time >= now { throw UsageError("--since \(text): not in the past") }
      return .time(time)
    }
    guard let duration = DurationText.parse(text) else {
      throw UsageError("--since \(text): not a time (RFC 3339, or 90s, 15m, 2h, 3d)")
    }
    if duration <= .zero { throw UsageError("--since \(text): not in the past") }
    return .ago(duration)
  }
}

extension Command {
  /// Whether the body comes from standard input when `--data` is not given.
  var readsInput: Bool { self == .post || self == .put }
}
