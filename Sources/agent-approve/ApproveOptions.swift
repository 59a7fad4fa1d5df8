import Agent
import CLibc
import Core
import Records
import Screen

struct ApproveOptions {
  enum Task: Equatable {
    case list, watch, ask
    case edit(String)
    case decide([ApprovalDecision])
    case read
    case readIDs(decision: String, reason: String?)
  }

  private(set) var task = Task.read
  private(set) var isVerbose = false
  private(set) var isQuiet = false
  private(set) var waits = false
  private(set) var isAll = false
  /// With `ask`: until nothing waits any more.
  private(set) var isOnce = false
  /// Nil: text on a terminal, else JSON.
  private(set) var form: RowOutput.Form?
  private(set) var look = LookOptions()
  private(set) var reconnect = ReconnectOptions()
  private(set) var access = AccessOptions()
  private var modes: [String] = []
  private var words: [(id: String, decision: String)] = []

  static let table = OptionTable<ApproveOptions>(
    program: "agent-approve",
    summary: """
      List, follow and answer what an agent asks approval for.
      With - or nothing, standard input says what to answer, a record each.
      """,
    synopsis: "[options] -l|-w|-i|-|--approve ID|--deny ID|--answer ID ...",
    operands: .none,
    options: [
      Option(
        nil, "all", "also what runs of other devices ask: a gateway has to grant operator.admin"
      ) {
        $0.isAll = true
      },
      Option(nil, "answer", "ID", "answer this question: a choice or words for each part", .word) {
        $0.words.append(($1, "answer"))
      },
      Option(
        nil, "approve", "ID", "allow this once, - for all of standard input; repeatable", .word
      ) {
        $0.words.append(($1, "approve"))
      },
      Option(nil, "deny", "ID", "deny this, - for all of standard input; repeatable", .word) {
        $0.words.append(($1, "deny"))
      },
      Option(nil, "edit", "ID", "allow this with another command, written in $EDITOR", .word) {
        $0.choose("edit", .edit($1))
      },
      Option("i", "interactive", "ask on the terminal for each that waits") {
        $0.choose("interactive", .ask)
      },
      Option("l", "list", "print what waits for an answer") { $0.choose("list", .list) },
      Option(nil, "once", "with -i: end when nothing waits any more") { $0.isOnce = true }
        .rare,
      Option("w", "watch", "print approvals as they come and change") {
        $0.choose("watch", .watch)
      },
      Option(nil, "wait", "wait until a gateway lets this device in") { $0.waits = true },
      RowOutput.Form.output.at(\.form),
      Option.quiet("print nothing; the exit status tells").at(\.isQuiet),
      Option.verbose("tell about the connection, in a pipe, too").at(\.isVerbose),
      LookOptions.colour.at(\.look),
      LookOptions.header.at(\.look),
    ] + ReconnectOptions.options.at(\.reconnect) + AccessOptions.options.at(\.access)
  ) { options, words throws(UsageError) in try options.finish(words.operands) }

  /// Whose approvals they are: `-p box:,claw`.
  var profiles: [String] {
    var names: [String] = []
    for name in (access.profile ?? "").split(separator: ",").map(String.init)
    where !names.contains(name) { names.append(name) }
    return names
  }

  /// Whether this is one of several that another of the same name reads.
  var isPart: Bool { task == .watch && Process.environment(ProgramApprovals.isPart) != nil }

  var wishes: ApprovalWishes {
    ApprovalWishes(
      waits: waits || task == .watch || task == .ask, isAll: isAll,
      answers: ![.list, .watch].contains(task))
  }

  /// The words of the same command for one of several profiles, without the task.
  func words(for profile: String) -> [String] {
    let flags = [
      ("--all", isAll), ("--wait", waits), ("--allow-plaintext", access.allowPlaintext),
      ("--verbose", isVerbose),
    ]
    return ["agent-approve", "-o", "json", "-p", profile] + flags.filter(\.1).map(\.0)
      + (access.authorities.map { ["--cacert", $0] } ?? [])
      + (reconnect.maxRetries.map { ["--max-retries", String($0)] } ?? [])
  }

  /// How long one question and its answer may take, seconds, unless something else is
  /// asked for.
  static let usualTime = 30.0

  var maxTime: Double? {
    switch task {
    case .list, .decide: reconnect.maxTime ?? (waits ? nil : Self.usualTime)
    case .watch, .ask, .edit, .read, .readIDs: reconnect.maxTime
    }
  }

  private mutating func choose(_ name: String, _ task: Task) {
    if !modes.contains(name) { modes.append(name) }
    self.task = task
  }

  private mutating func finish(_ operands: [String]) throws(UsageError) {
    if !words.isEmpty { modes.append(words[0].decision) }
    if modes.count > 1 { throw UsageError("--\(modes[0]) and --\(modes[1]): one at a time") }
    if let name = modes.first, words.isEmpty {
      if let word = operands.first { throw UsageError("--\(name) takes no words: \(word)") }
    } else if words.isEmpty {
      guard operands.isEmpty || operands == ["-"] else {
        throw UsageError("what is to be done with \(operands[0])?")
      }
      try checkInput()
      if operands.isEmpty, isatty(0) == 1 {
        throw UsageError("-l, -w, -i, --approve, --deny, or decisions on standard input")
      }
    } else {
      try decide(reason: operands)
    }
    if access.tokenFile != nil, profiles.count > 1 {
      throw UsageError("--token-file: one token for several profiles")
    }
    if task == .ask, isatty(0) != 1 || isatty(1) != 1 {
      throw UsageError("--interactive needs a terminal")
    }
    if isOnce, task != .ask { throw UsageError("--once is for --interactive") }
    if task == .ask, form != nil || isQuiet {
      throw UsageError("--interactive: the terminal shows text alone")
    }
  }

  private func checkInput() throws(UsageError) {
    if access.tokenFile == "-" {
      throw UsageError("standard input cannot be the token and the decisions")
    }
  }

  private mutating func decide(reason operands: [String]) throws(UsageError) {
    if let answered = words.first(where: { $0.decision == "answer" }) {
      if words.count > 1 { throw UsageError("--answer: one question at a time") }
      if operands.isEmpty { throw UsageError("--answer: what is to be answered?") }
      task = .decide([ApprovalDecision(id: answered.id, answers: operands)])
      return
    }
    let reason = operands.isEmpty ? nil : operands.joined(separator: " ")
    if let word = operands.first, words.count > 1 || words[0].decision != "deny" {
      throw UsageError("a reason is for one --deny alone: \(word)")
    }
    if words.contains(where: { $0.id == "-" }) {
      if words.count > 1 { throw UsageError("- is all of standard input: one decision for it") }
      try checkInput()
      task = .readIDs(decision: words[0].decision, reason: reason)
      return
    }
    for (index, word) in words.enumerated()
    where words[..<index].contains(where: { $0.id == word.id && $0.decision != word.decision }) {
      throw UsageError("--approve and --deny: both for \(Visible.line(word.id))")
    }
    task = .decide(
      words.map { ApprovalDecision(id: $0.id, decision: $0.decision, reason: reason) })
  }
}
