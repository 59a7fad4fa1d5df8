import Agent
import Core
import Screen

/// In which form sessions are printed: the argument of `--output`.
enum OutputForm: String, CaseIterable, Sendable {
  /// The cockpit, for people.
  case text
  /// Each session's own bytes, one a line.
  case json
  /// A plain line per change.
  case line
  /// An object for waybar(5), custom module with `return-type` json.
  case waybar
  /// A few words for the status line of tmux(1).
  case tmux
  /// A block of the i3bar protocol.
  case i3

  /// Whether this is a status bar's.
  var isBar: Bool { self == .waybar || self == .tmux || self == .i3 }
}

/// What the command line of voice-state asks for.
struct StateOptions {
  /// What is shown.
  enum Subject: Equatable {
    /// The sessions of the backend.
    case backend
    /// Those of records: a file's name, `-` for standard input.
    case records(String)
    /// Past sessions.
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
  /// No older than this, seconds.
  var since: Double?
  /// Times as fast as it was.
  var speed: Double?
  var maxTime: Double?
  var maxRetries: Int?
  var retryWait: Double?
  var idleTimeout: Double?
  var look = LookOptions()
  var access = AccessOptions()

  /// - Throws: `UsageError` for an argument that makes no sense.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    for item in parsed.items { try take(item) }
    try take(operands: parsed.operands, paths: parsed.paths)
    try check()
  }

  private mutating func take(_ item: ParsedOptions.Item) throws(UsageError) {
    if access.take(item) { return }
    if try look.take(item, widths: 20...1000) { return }
    let value = item.value
    switch item.name {
    case "watch": watches = true
    case "guild", "session":
      // An empty variable of a script would mean every session.
      if value.isEmpty { throw UsageError("--\(item.name): no id") }
      if item.name == "guild" { filter.guild = value } else { filter.session = value }
    case "panel": panels = (panels ?? []) + (try Self.panels(value))
    case "prompt":
      guard let name = PromptName(value) else {
        throw UsageError("--prompt \(value): not one of \(PromptName.all.joined(separator: ", "))")
      }
      prompt = name
    case "output":
      guard let form = OutputForm(rawValue: value) else {
        let known = OutputForm.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("--output \(value): not one of \(known)")
      }
      self.form = form
    case "quiet": isQuiet = true
    case "verbose": isVerbose = true
    case "count": count = try item.wholeNumber(in: 1...Int.max)
    case "since": since = try item.seconds()
    case "speed":
      guard let number = Double(value), number > 0, number <= 1e6,
        value.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 })
      else { throw UsageError("--speed \(value): not a number above 0") }
      speed = number
    case "max-time": maxTime = try item.seconds()
    case "max-retries": maxRetries = try item.wholeNumber()
    case "retry-wait": retryWait = try item.seconds()
    case "idle-timeout": idleTimeout = try item.seconds()
    default: break
    }
  }

  private mutating func take(operands: [String], paths: [String]) throws(UsageError) {
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

  private static func panels(_ list: String) throws(UsageError) -> [String] {
    var names: [String] = []
    for name in list.split(separator: ",", omittingEmptySubsequences: true).map(String.init) {
      if name == "all" {
        names += Panels.all.map { $0.name }
        continue
      }
      guard Panels.named(name) != nil else {
        let known = Panels.all.map { $0.name }.joined(separator: ", ")
        throw UsageError("--panel \(name): no such panel; there are \(known), all")
      }
      names.append(name)
    }
    if names.isEmpty { throw UsageError("--panel: no name") }
    return names
  }
}
