import CLibc
import Core
import Kinds
import Screen

/// agent-status(1): how agents are, in one, four or eight lines, or as a block of a status bar.
///
/// Each agent is asked by a run of agent-call: for its stats, and then for the actions of the
/// last day where they are shown, or, of a system of several parts, for its health. All agents
/// are asked at once.
public func agentStatusMain() {
  StatusOptions.table.run(StatusOptions()) { options, diagnostics in
    let isOfSeveral = options.profiles.count > 1
    let settings = try Settings()
    let profiles: [String?] =
      options.profiles.isEmpty ? [settings.namesNoAgent ? "." : nil] : options.profiles
    // What its agent is asked is another matter where that is at a terminal.
    var hosts = try profiles.map { name throws(Failure) -> HostState? in
      guard let profile = try? settings.profile(name), let place = profile.host else { return nil }
      return try HostState(profile.name ?? place, at: place, options)
    }
    HostState.wait(for: hosts.compactMap { $0 })
    // Nobody named this machine, and nothing runs here: what has to be configured is said.
    if options.profiles.isEmpty, hosts[0]?.isEmpty == true {
      hosts[0] = nil
      diagnostics.tellPerson(AgentSessions.noneHere)
    }
    let others = zip(profiles, hosts).filter { $0.1 == nil }.map { $0.0 == "." ? nil : $0.0 }
    var asked = others.isEmpty ? [] : try states(of: others, options, diagnostics)[...]
    let shown = hosts.map { $0?.shown ?? asked.removeFirst().shown(options.form) }
    var text = ""
    for (name, state) in zip(profiles, shown) {
      report(state.faults, of: isOfSeveral ? name : nil, diagnostics)
      let name = Visible.masked(name ?? "")
      switch options.form {
      case _ where !isOfSeveral: text = state.text
      case .small where !state.text.isEmpty:
        let blanks = String(repeating: " ", count: max(0, 9 - name.utf8.count))
        text += "\(name)\(blanks) \(state.text)"
      case .tmux: text += (text.isEmpty ? "" : "  ") + state.text.prefix { $0 != "\n" }
      case .medium, .large:
        text += (text.isEmpty ? "" : "\n") + (state.text.isEmpty ? "" : "\(name)\n\(state.text)")
      default: break
      }
    }
    if isOfSeveral, options.form == .tmux { text += "\n" }
    try RecordWriter.print(text)
    // What no later try can mend is worse than what one may.
    let order: [Int32] = [0, 1, 75, 2, 77]
    let worst = shown.map(\.status).max {
      (order.firstIndex(of: $0) ?? 3) < (order.firstIndex(of: $1) ?? 3)
    }
    Process.exit(code: worst ?? 0)
  }
}

private func states(
  of profiles: [String?], _ options: StatusOptions, _ diagnostics: Diagnostics
) throws -> [AgentState] {
  // What the environment says about one agent does not hold for several.
  let one = ["AGENT_URL", "AGENT_TOKEN_FILE", "CREDENTIALS_DIRECTORY"]
  let environment: [String: String?] =
    profiles.count > 1 ? Dictionary(uniqueKeysWithValues: one.map { ($0, nil) }) : [:]
  func ask(_ profile: String?, _ words: [String]) throws -> ProgramCall {
    try ProgramCall(
      ["agent-call"] + options.words + (profile.map { ["--profile=\($0)"] } ?? [])
        + ["-o", "tsv"] + words,
      environment: environment)
  }
  let stats = try profiles.map { try ask($0, ["stats"]) }
  ProgramCall.wait(for: stats)
  let more = try zip(profiles, stats).map { profile, stats -> ProgramCall? in
    if AgentState.hasParts(stats) { return try ask(profile, ["health"]) }
    guard stats.status == 0, [.medium, .large].contains(options.form) else { return nil }
    // The backend gives no more than 1000.
    return try ask(profile, ["-S", "24h", "-n", "1000", "actions"])
  }
  ProgramCall.wait(for: more.compactMap { $0 })
  return zip(profiles, zip(stats, more)).map { profile, asked in
    AgentState(profile, asked.0, asked.1)
  }
}

/// Many a message names the profile itself.
private func report(_ faults: [String], of name: String?, _ diagnostics: Diagnostics) {
  for fault in faults {
    let start = name.map { "\($0): " } ?? ""
    diagnostics.say(Visible.masked(fault.hasPrefix(start) ? fault : start + fault))
  }
}

struct StatusOptions {
  enum Form: String, CaseIterable {
    case small, medium, large, waybar, tmux, i3

    /// A bar hides a block whose command fails, and shows no message.
    var isBar: Bool { [.waybar, .tmux, .i3].contains(self) }
  }

  var form = Form.medium
  var profiles: [String] = []
  var limit = "10"
  var token: String?
  var others: [String] = []

  var words: [String] {
    others + (token.map { ["--token-file=\($0)"] } ?? []) + ["--max-time=\(limit)"]
  }

  private static let again = "'watch agent-status' shows it again and again"

  static let table = OptionTable<StatusOptions>(
    program: "agent-status",
    summary: "Show whether the agent is connected, and what it does and costs.",
    synopsis: "[options] [-p NAME,...]", operands: .none,
    guesses: [
      "--json": "agent-call prints JSON", "--watch": again, "-w": again, "-f": again,
    ],
    options: [
      Option(
        "o", "output", "FORM", "small, medium, large, waybar, tmux or i3 (default: medium)", .form
      ) { $0.form = $1 },
      Option(
        "p", "profile", "NAME,...", "use these profiles, see agentutils.conf(5)",
        .names.offering(CompletionNames.profiles)
      ) { $0.profiles += $1 },
      Option(nil, "allow-plaintext", "send the token over plain http to any host") {
        $0.others.append("--allow-plaintext")
      },
      Option(nil, "cacert", "FILE", "trust the certificate authorities in FILE", .path) {
        $0.others.append("--cacert=\($1)")
      },
      Option(nil, "max-time", "SECONDS", "give up after this time (default: 10)", .text) {
        $0.limit = $1
      },
      Option(nil, "token-file", "FILE", "read the token from FILE", .path) { $0.token = $1 },
    ]
  ) { options, words throws(UsageError) in
    if let word = words.operands.first { throw UsageError("no operand is taken: \(word)") }
    guard options.profiles.count > 1 else { return }
    if [.waybar, .i3].contains(options.form) {
      throw UsageError("--output \(options.form.rawValue): a block is of one agent")
    }
    if options.token != nil { throw UsageError("--token-file: one token for several profiles") }
  }
}

extension Reading<StatusOptions.Form> {
  fileprivate static var form: Reading {
    let words = StatusOptions.Form.allCases.map(\.rawValue)
    return Reading(
      { argument throws(UsageError) in
        if let form = StatusOptions.Form(rawValue: argument.value) { return form }
        throw argument.fault(
          "not one of \(words.joined(separator: " "))"
            + NearestWord.hint(for: argument.value, among: words))
      }, completion: .words(words))
  }
}

/// How the agents at the terminals of a host are: of each session a line.
struct HostState {
  private let host: String
  private let session: String?
  private let call: ProgramCall
  private let form: StatusOptions.Form
  private let now = Timestamp.now()

  private static let order = ["waiting", "working", "idle", "unknown"]

  /// Asks tmux-attach(1), which makes blocks of bars itself.
  ///
  /// - Parameter place: `box:`, `box:site` or `.`.
  init(_ profile: String, at place: String, _ options: StatusOptions) throws(Failure) {
    form = options.form
    (host, session) = AgentPlace.parts(ofHost: place)
    if form.isBar, session != nil {
      throw Failure(profile, "a block is of a whole host: \(host):", .failure)
    }
    let output = form.isBar ? form.rawValue : "json"
    call = try ProgramCall(
      ["tmux-attach", "-l", "-o", output, "--max-time", options.limit, host])
  }

  /// Waits for what all of them say.
  static func wait(for states: [HostState]) { ProgramCall.wait(for: states.map(\.call)) }

  /// Whether the host was asked and has no session.
  var isEmpty: Bool { call.status == 1 || call.status == 0 && call.lines.isEmpty }

  /// What is shown, as of `AgentState`.
  var shown: AgentState.Shown {
    if form.isBar {
      return AgentState.Shown(text: call.lines.joined(separator: "\n") + "\n")
    }
    if call.status > 1 {
      let words = call.status == 77 ? "refused" : "unreachable"
      let text = "○ \(words)" + (call.faults.last.map { ": \(Visible.masked($0))" } ?? "")
      return AgentState.Shown(text: text + "\n", status: call.status)
    }
    let rows = call.lines.compactMap { try? JSONValue.parse(text: $0) }.filter {
      session == nil || $0["name"]?.string == session && $0["label"] == nil && $0["process"] == nil
    }
    let states = rows.map { $0["state"]?.string ?? "unknown" }
    let kinds = Self.order.filter(states.contains)
    let head = kinds.map { kind in "\(states.count { $0 == kind }) \(kind)" }
    let sign = kinds.first == "waiting" || kinds.isEmpty ? "○" : "●"
    let none = "no agent" + (session.map { " in session \(Visible.masked($0))" } ?? "")
    var lines = ["\(sign) " + (kinds.isEmpty ? none : head.joined(separator: " · "))]
    if kinds.isEmpty {
      lines.append("claude in tmux makes one: tmux-attach \(Visible.masked(host))")
    }
    if form != .small {
      if kinds.first == "waiting" {
        let name = host == "." ? "." : "\(host):"
        lines.append("agent-approve -p \(Visible.masked(name)) -i answers what waits")
      }
      let width = min(rows.map { ($0["name"]?.string ?? "").count }.max() ?? 0, 20)
      lines += rows.map { line($0, width) }
    }
    return AgentState.Shown(
      text: lines.joined(separator: "\n") + "\n", status: kinds.isEmpty ? 1 : 0)
  }

  private func line(_ row: JSONValue, _ width: Int) -> String {
    let name = Plain.line(row["name"]?.string ?? "", limit: 60)
    let padding = String(repeating: " ", count: max(0, width - name.count))
    var words = row["state"]?.string ?? "unknown"
    if let since = row["since"]?.string.flatMap({ Timestamp(rfc3339: $0) }) {
      words += " for " + AgentState.words(of: now.seconds - since.seconds)
    }
    if words == "unknown", let agent = row["agent"]?.string { words += " (\(agent))" }
    if let reason = row["reason"]?.string { words += ": " + Plain.line(reason, limit: 200) }
    if let label = row["label"]?.string { words += " (--label \(Plain.line(label, limit: 60)))" }
    if row["process"] != nil { words += " (outside tmux)" }
    return "\(name)\(padding)  \(words)"
  }
}
