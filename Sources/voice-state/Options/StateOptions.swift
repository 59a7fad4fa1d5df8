import Agent
import CLibc
import Core
import Screen

struct StateOptions {
  enum Subject: Equatable {
    case backend
    /// Those of records: a file's name, `-` for standard input.
    case records(String)
    case history
    /// A past session: its id, or the beginning of it.
    case replay(String)
  }

  var subject = Subject.backend
  var watches = false
  var filter = SessionFilter()
  /// Names of panels; nil for what fits.
  var panels: [String]?
  var prompt: PromptName?
  var form: OutputForm?
  var isQuiet = false
  var isVerbose = false
  var count: Int?
  var since: Moment?
  var speed: Double?
  var reconnect = ReconnectOptions()
  var look = LookOptions()
  var access = AccessOptions()

  static let table = OptionTable<StateOptions>(
    program: "voice-state",
    summary: "Show what the agent does in voice, once or live.",
    synopsis: "[options] [FILE | - | history | replay SESSION]",
    operands: .verbs([.init("history"), .init("replay"), .file]),
    options: [
      Option("w", "watch", "follow: a live screen, or a line per change", \.watches),
      Option(
        "g", "guild", "GUILD", "only the sessions of this guild",
        .word.offering(OfferedNames.guilds), \.filter.guild),
      Option(
        "s", "session", "ID", "only this session; the beginning of its id is enough", .word,
        \.filter.session),
      Option(
        nil, "panel", "NAME,...", "these panels (default: what fits the width)",
        Reading(panels, completion: .words(Panels.names + ["all"]))
      ) { $0.panels = ($0.panels ?? []) + $1 },
      Option(
        nil, "prompt", "NAME", "print one prompt whole: system, classifier, generation, bridge",
        .choice(of: PromptName.self), \.prompt),
      Option(
        "o", "output", "FORM", "text, json, line, waybar, tmux or i3", .choice(of: OutputForm.self),
        \.form),
      Option(
        "n", "count", "COUNT", "end after this many: states, lines, or past sessions",
        .wholeNumber(in: 1...Int.max), \.count),
      Option("S", "since", "TIME", "history: sessions that ended since TIME", .moment, \.since),
      Option(
        nil, "speed", "FACTOR", "replay and records: FACTOR times as fast",
        .number("a number above 0") { $0 > 0 && $0 <= 1e6 }, \.speed),
      Option.quiet("print nothing; status 0 when a session is active, else 1").at(\.isQuiet),
      Option.verbose("tell about the connection, in a pipe, too").at(\.isVerbose),
    ] + ReconnectOptions.options.at(\.reconnect) + AccessOptions.options.at(\.access)
      + LookOptions.options(
        width: "lay out for COLUMNS (default: the terminal's, else 80)", in: 20...1000
      ).at(\.look)
  ) { options, words throws(UsageError) in
    try options.read(operands: words.operands, paths: words.paths)
    try options.check()
  }

  private mutating func read(operands: [String], paths: [String]) throws(UsageError) {
    guard let first = operands.first else { return }
    switch first {
    case "history":
      if operands.count > 1 { throw UsageError("history takes no operand: \(operands[1])") }
      subject = .history
    case "replay":
      guard operands.count > 1, !operands[1].isEmpty else {
        throw UsageError("replay needs the id of a session; see voice-state history")
      }
      if operands.count > 2 { throw UsageError("one session at a time: \(operands[2])") }
      subject = .replay(operands[1])
    default:
      let hint = NearestWord.hint(for: first, among: ["history", "replay"])
      if !hint.isEmpty, CLibc.access(paths[0], F_OK) != 0 {
        throw UsageError("\(first): \(systemReason(ENOENT))\(hint)")
      }
      if operands.count > 1 { throw UsageError("one file at a time: \(operands[1])") }
      subject = .records(paths[0])
    }
  }

  /// Options that would silently do nothing are mistakes.
  private func check() throws(UsageError) {
    if isQuiet && (watches || subject == .history) {
      throw UsageError("--quiet only asks for the sessions now")
    }
    if since != nil && subject != .history { throw UsageError("--since is for history") }
    if prompt != nil && (watches || form != nil) {
      throw UsageError("--prompt prints one prompt, once")
    }
    switch subject {
    case .history:
      if watches { throw UsageError("history cannot be watched") }
      if let form, form != .text, form != .json {
        throw UsageError("--output \(form.rawValue): history has text and json")
      }
      if speed != nil { throw UsageError("--speed is for replay and records") }
    case .replay:
      if form?.isBar == true { throw UsageError("a replay has no form for status bars") }
    case .backend:
      if speed != nil { throw UsageError("--speed is for replay and records") }
      if count != nil && !watches { throw UsageError("--count is for --watch and history") }
    case .records: break
    }
  }

  @Sendable private static func panels(_ argument: OptionArgument) throws(UsageError) -> [String] {
    let names = argument.words.filter { !$0.isEmpty }
    for name in names where name != "all" && Panels.named(name) == nil {
      let known = Panels.names.joined(separator: ", ")
      let hint = NearestWord.hint(for: name, among: Panels.names)
      throw UsageError("--panel \(name): no such panel; there are \(known), all\(hint)")
    }
    if names.isEmpty { throw argument.fault("nothing is named") }
    return names.flatMap { $0 == "all" ? Panels.names : [$0] }
  }
}
