import Agent
import Core
import Kinds
import Records
import Screen

struct CallOptions {
  var word = ""
  var arguments = OperationArguments()
  /// Nil: a table on a terminal, else JSON.
  var form: RowOutput.Form?
  var look = LookOptions()
  /// Seconds for everything; 0 for no limit; nil for the default of a request.
  var maxTime: Double?
  var access = AccessOptions()
  var verbose = false
  private var names: [String] = []
  private var extra: String?

  /// The operations of all kinds of agents, each name once.
  private static let operations =
    KindFacts.all.flatMap(\.backend.operations) + Operation.raw
  private static let operationNames = operations.map(\.name).reduce(into: [String]()) {
    names, name in
    if !names.contains(name) { names.append(name) }
  }

  private static var all: String { operationNames.joined(separator: ", ") }

  static let table = OptionTable<CallOptions>(
    program: "agent-call",
    summary: """
      Ask an agent's server about itself, or give it an order; a row per record.
      COMMAND is health, stats, actions, guilds, names, automations, tunnel, join, ...
      for a dashboard; other agents have others: agent-call(1) explains each.
      """,
    synopsis: "[options] COMMAND [GUILD | AUTOMATION | PATH | METHOD]",
    operands: .verbs(operationNames.map { .init($0) }),
    options: [
      Option(
        "g", "guild", "GUILD", "of this guild (the profile's, or the only one)",
        .word.offering(OfferedNames.guilds)
      ) { $0.arguments.guild = $1 },
      Option("c", "channel", "ID", "of this channel; join: the text channel to answer in", .word) {
        $0.arguments.channel = $1
      },
      Option(
        "u", "user", "USER", "join: the voice channel that this user is in",
        .word.offering(OfferedNames.users)
      ) { $0.arguments.user = $1 },
      Option("n", "count", "COUNT", "only the first COUNT records", .wholeNumber()) {
        $0.arguments.count = $1
      },
      Option(
        "S", "since", "TIME", "not older than 15m, 2h, 3d, today, tue 9:00, or a time", .moment
      ) {
        $0.arguments.since = $1
      },
      Option(
        "k", "kind", "KIND,...", "actions of these kinds", .list.offering(.words(ActionKind.all))
      ) { $0.arguments.kinds += $1 },
      Option(
        nil, "status", "STATUS,...", "automations of these states",
        .list.offering(.words(["active", "paused", "deleted", "all"]))
      ) { $0.arguments.statuses += $1 },
      Option(
        "d", "data", "DATA", "the JSON to send, or @FILE (default: standard input)",
        .path.offering(.none)
      ) { $0.arguments.data = $1 },
      RowOutput.Form.output.at(\.form), LookOptions.header.at(\.look),
      Caller.maxTime.at(\.maxTime),
      Option.quiet("print nothing; the exit status tells").at(\.arguments.isQuiet),
      Option.verbose("notes about each request").at(\.verbose),
    ] + AccessOptions.options.at(\.access)
      + LookOptions.options(width: "cut rows at COLUMNS, 0 for no cut (default: the terminal's)")
      .at(\.look)
  ) { options, words throws(UsageError) in try options.finish(words) }

  private let now: Timestamp

  init(now: Timestamp) { self.now = now }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    guard let word = words.operands.first else {
      throw UsageError("a command is needed: \(Self.all)")
    }
    self.word = word
    arguments.operand = words.operands.dropFirst().first
    extra = words.operands.dropFirst(2).first
    names = words.names
    let candidates = Self.operations.filter { $0.name == word }
    if candidates.isEmpty {
      let hint = NearestWord.hint(for: word, among: Self.operationNames)
      throw UsageError("unknown command \(word)\(hint.isEmpty ? ": not one of \(Self.all)" : hint)")
    }
    // Whose it is, only the configuration tells.
    if !candidates.contains(where: { (try? check($0)) != nil }) { try check(candidates[0]) }
    access.needsToken = !candidates.contains { $0.fetchesToken }
    if let kind = arguments.kinds.first(where: { $0.contains { "*?[".contains($0) } }) {
      throw UsageError("--kind \(kind): whole kinds alone; action-filter(1) knows patterns")
    }
    // The backend takes a window of no length for no window at all.
    if let since = arguments.since, since.timestamp(now: now) >= now {
      throw UsageError("--since: not in the past")
    }
    let readsInput = Operation.readInput.contains(word)
    let data = arguments.data
    if access.tokenFile == "-", data == "@-" || (data == nil && readsInput) {
      throw UsageError("standard input cannot be the token and the body")
    }
  }

  /// The operation as an agent has it: two kinds of agents may have one of a name.
  func operation(of backend: any AgentBackend, named name: String) throws -> Operation {
    let all = backend.operations + Operation.raw
    guard let operation = all.first(where: { $0.name == word }) else {
      let known = all.map(\.name).joined(separator: ", ")
      throw Failure(name, "\(backend.name) has no \(word); it has \(known)", .failure)
    }
    try check(operation)
    return operation
  }

  private func check(_ operation: Operation) throws(UsageError) {
    let word = operation.name
    let given = arguments.operand
    if let excess = operation.operand == nil ? given : extra {
      throw UsageError("too many words: \(excess)")
    }
    if let operand = operation.operand {
      if operand.isNeeded, given == nil { throw UsageError("\(word) needs a \(operand.name)") }
      if given?.isEmpty == true { throw UsageError("\(word): an empty \(operand.name)") }
      if operand.name == "GUILD", given != nil, arguments.guild != nil {
        throw UsageError("the guild is given twice")
      }
    }
    let particular = Self.operations.reduce(into: Set<String>()) { $0.formUnion($1.options) }
    for name in names where particular.contains(name) && !operation.options.contains(name) {
      throw UsageError("--\(name) is not for \(word)")
    }
  }
}
