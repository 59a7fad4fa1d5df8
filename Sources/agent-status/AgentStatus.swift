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
    if form.isBar { return AgentState.Shown(text: call.lines.joined(separator: "\n") + "\n") }
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
    if let since = row["since"]?.time {
      words += " for " + AgentState.words(of: now.seconds - since.seconds)
    }
    if words == "unknown", let agent = row["agent"]?.string { words += " (\(agent))" }
    if let reason = row["reason"]?.string { words += ": " + Plain.line(reason, limit: 200) }
    if let label = row["label"]?.string { words += " (--label \(Plain.line(label, limit: 60)))" }
    if row["process"] != nil { words += " (outside tmux)" }
    return "\(name)\(padding)  \(words)"
  }
}

struct AgentState {
  struct Shown {
    var text = ""
    var faults: [String] = []
    var status: Int32 = 0
  }

  private let profile: String?
  private let status: Int32
  private let faults: [String]
  private let facts: Facts
  private let parts: [[String]]?
  /// How many in the last day: `12`, `1000+`; nil where nobody asked.
  private let actions: String?

  init(_ profile: String?, _ stats: ProgramCall, _ more: ProgramCall?) {
    self.profile = profile
    let hasParts = Self.hasParts(stats)
    let told = hasParts ? more ?? stats : stats
    let rows = told.lines.map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    (status, faults, facts) = (told.status, told.faults, Facts(rows))
    parts = hasParts && status != 2 ? rows : nil
    // 1: there were none.
    actions = more.flatMap { more in
      hasParts || more.status > 1
        ? nil : more.lines.count > 999 ? "1000+" : "\(more.lines.count)"
    }
  }

  static func hasParts(_ stats: ProgramCall) -> Bool {
    stats.status == 2
      && stats.faults.contains { $0.holds(" has no stats; it has ") }
  }

  func shown(_ form: StatusOptions.Form) -> Shown {
    // An error in the options or the configuration is not a state of the agent.
    if status == 2, !form.isBar { return Shown(faults: faults, status: 2) }
    let shown = parts.map { system($0, form) } ?? agent(form)
    return Shown(text: shown.text + "\n", status: form.isBar ? 0 : shown.status)
  }

  // MARK: A system of several parts

  private func system(
    _ parts: [[String]], _ form: StatusOptions.Form
  ) -> (text: String, status: Int32) {
    let rows = parts.filter { $0.count > 3 }.map { (name: $0[0], state: $0[1], about: $0[3]) }
    let bad = rows.filter { $0.state != "healthy" }
    let light: Light
    switch status {
    case 0: light = .green("healthy")
    case 1: light = .amber("degraded")
    case 77: light = .red("refused")
    default: light = .red("down")
    }
    let names = bad.map(\.name).joined(separator: ", ")
    let head = "\(light.sign) \(light.state)\(names.isEmpty ? "" : ": \(names)")"
    if form == .small { return (head, status) }
    if form == .large {
      let lines = rows.map { padded($0.name, 11) + " " + joined($0.state, $0.about) }
      return (lines.joined(separator: "\n"), status)
    }
    let lines = bad.prefix(3).map { "\($0.name) \(joined($0.state, $0.about))" }
    let text = ([head] + lines).joined(separator: "\n")
    return (block(form, light, text, brief: names.isEmpty ? light.state : names), status)
  }

  // MARK: An agent

  private func agent(_ form: StatusOptions.Form) -> (text: String, status: Int32) {
    let ready = facts["runtime.isReady"]
    let light: Light
    switch status {
    case 77: light = .red("refused")
    case 75: light = .red("unreachable")
    case 0 where facts["runtime.gateway.reconnectInFlight"] == "true" && !ready.isEmpty:
      light = .amber("reconnecting")
    case 0 where !ready.isEmpty:
      light = ready == "true" ? .green("connected") : .red("disconnected")
    default: light = .red("unknown")
    }
    let isKnown = status == 0 && !ready.isEmpty
    let reason = faults.last ?? (status == 0 ? "the answer is not that of a dashboard" : "")
    let since = status == 0 ? upSince(profile, isReady: ready == "true") : nil

    let spent = money(today)
    let tries = facts.count("runtime.gateway.reconnectAttempts")
    let voice = facts.count("runtime.voice.activeCount")
    let words = light.state + (light.state == "reconnecting" && tries > 0 ? ", try \(tries)" : "")
    let name = facts["runtime.userTag"].isEmpty ? "" : " as \(facts["runtime.userTag"])"
    let up = light.state == "connected" ? since.map { span($0) } ?? "" : ""
    let sessions = many(facts.count("stats.last24h.voice_session_start"), "voice session")
    let day = joined(actions.map { $0 == "1" ? "1 action" : "\($0) actions" } ?? "", sessions)
    let tunnel = facts["runtime.publicHttps.status"]
    let result = isKnown ? light.state == "connected" ? 0 : 1 : status == 0 ? 2 : status

    switch form {
    case .small:
      let text = isKnown ? "\(words)  \(spent) today" : "\(words): \(reason)"
      return ("\(light.sign) \(text)", result)
    case .large where isKnown:
      let waiting = facts.count("runtime.replyQueue.pending")
      let errors = some("voice_error", "voice error")
      let last = Timestamp(rfc3339: facts["runtime.lastBotMessageAt"])
      let place = facts["runtime.publicHttps.publicUrl"]
      let rows = [
        ("agent", words + name),
        ("up", up),
        ("guilds", facts["runtime.guildCount"]),
        ("voice", voice > 0 ? many(voice, "session") + " now" : "no session"),
        ("cost", "\(spent) today, \(money(facts.number("stats.totalCostUsd"))) kept"),
        ("24 h", day),
        ("", joined(some("llm_call", "model call"), some("sent_reply", "reply"), errors)),
        ("message", last.map { span($0) + " ago" } ?? ""),
        ("waiting", waiting > 0 ? many(waiting, "message") : ""),
        ("tunnel", tunnel.isEmpty ? "" : joined([tunnel, place], " ")),
        ("", facts["runtime.publicHttps.lastError"]),
      ]
      return (table(rows), result)
    case .large: return (table([("agent", words), ("reason", reason)]), result)
    default:
      var lines = [
        "\(light.sign) \(words)"
          + (isKnown ? name + (up.isEmpty ? "" : ", up \(up)") : ": \(reason)")
      ]
      if isKnown {
        let now = voice > 0 ? many(voice, "voice session") + " now, " : ""
        lines.append("\(many(facts.count("runtime.guildCount"), "guild")), \(now)\(spent) today")
        lines.append("24 h: \(day)")
        if !tunnel.isEmpty { lines.append("tunnel \(tunnel)") }
      }
      let brief = isKnown ? spent + (voice > 0 ? " ♪\(voice)" : "") : light.state
      let text = lines.joined(separator: "\n")
      return (block(form, light, text, brief: brief, hasVoice: voice > 0), result)
    }
  }

  /// What the list of days says of today (UTC): `[{"day":"...","usd":0.5},...]`.
  private var today: Double {
    let day = String(Timestamp.now().rfc3339.prefix(10))
    let days = (try? JSONValue.parse(text: facts["stats.dailyCost"]))?.elements ?? []
    return days.first { $0["day"]?.string == day }?["usd"]?.number ?? 0
  }

  private func some(_ kind: String, _ one: String) -> String {
    let count = facts.count("stats.last24h.\(kind)")
    return count > 0 ? many(count, one) : ""
  }

  // MARK: Forms

  private func block(
    _ form: StatusOptions.Form, _ light: Light, _ text: String, brief: String,
    hasVoice: Bool = false
  ) -> String {
    // Of several agents in a bar each has its name.
    let brief = joined([Visible.masked(profile ?? ""), brief], " ")
    switch form {
    case .tmux:
      return "#[fg=\(light.colour)]\(light.sign)#[default] " + BarBlock.tmux(brief)
    case .waybar:
      return BarBlock.waybar(
        "\(light.sign) \(brief)", alt: light.state, tooltip: text,
        classes: [light.state] + (hasVoice ? ["voice"] : []))
    case .i3:
      return BarBlock.i3(
        "\(light.sign) \(brief)", short: light.sign, colour: light.colour, name: "agent")
    default: return text
    }
  }

  private func table(_ rows: [(String, String)]) -> String {
    rows.filter { !$0.1.isEmpty }.map { padded($0.0, 9) + " " + $0.1 }.joined(separator: "\n")
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + Fit.spaces(width - text.utf8.count)
  }

  private func joined(_ texts: String...) -> String { joined(texts, ", ") }

  private func joined(_ texts: [String], _ mark: String) -> String {
    texts.filter { !$0.isEmpty }.joined(separator: mark)
  }

  private func many(_ count: Int, _ one: String) -> String {
    if count == 1 { return "1 \(one)" }
    return "\(count) " + (one.hasSuffix("y") ? "\(one.dropLast())ies" : "\(one)s")
  }

  private func money(_ dollars: Double) -> String { "$" + Amount.fixed(dollars, 2) }

  private func span(_ time: Timestamp) -> String {
    Self.words(of: Timestamp.now().seconds - time.seconds)
  }

  static func words(of seconds: Int64) -> String {
    let seconds = max(0, seconds)
    switch seconds {
    case ..<60: return "\(seconds)s"
    case ..<3600: return "\(seconds / 60)m"
    case ..<86_400: return "\(seconds / 3600)h \(seconds % 3600 / 60)m"
    default: return "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
    }
  }
}

private struct Light {
  let state: String, sign: String, colour: String

  static func green(_ state: String) -> Light { Light(state: state, sign: "●", colour: "#16a34a") }
  static func amber(_ state: String) -> Light { Light(state: state, sign: "◐", colour: "#d97706") }
  static func red(_ state: String) -> Light { Light(state: state, sign: "○", colour: "#dc2626") }
}

private struct Facts {
  private var values: [String: String] = [:]

  init(_ rows: [[String]]) {
    for row in rows where row.count > 1 { values[row[0]] = row[1] }
  }

  subscript(name: String) -> String { values[name] ?? "" }
  func number(_ name: String) -> Double { Double(self[name]) ?? 0 }
  func count(_ name: String) -> Int { Int(exactly: number(name).rounded(.towardZero)) ?? 0 }
}

/// Since when an agent is up. Its backend does not say so: what counts is when it was first seen
/// ready here, and never not ready since.
private func upSince(_ profile: String?, isReady: Bool) -> Timestamp? {
  // Without a home there is nothing to remember it in.
  guard
    Process.environment("HOME") != nil
      || Process.environment("XDG_STATE_HOME")?.hasPrefix("/") == true
  else { return isReady ? .now() : nil }
  // AGENT_URL wins over a profile.
  let agent =
    Process.environment("AGENT_URL")
    ?? "profile \(profile ?? Process.environment("AGENT_PROFILE") ?? "")"
  // FNV-1a.
  let mark = FileName.bytes(agent).reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
    ($0 ^ UInt64($1)) &* 0x100_0000_01b3
  }
  let folder = Folders.join(Folders().state, "agent-status")
  let path = Folders.join(folder, String(mark, radix: 16))
  var status = stat()
  if isReady, lstat(path, &status) == 0, status.isRegular,
    let line = try? StateFile(path: path).read(limit: 64)?.prefix(while: { $0 != 10 }),
    let seconds = Int64(String(decoding: line, as: UTF8.self)), seconds >= 0
  {
    return Timestamp(seconds: seconds)
  }
  // What is made anew is nobody's link.
  unlink(path)
  guard isReady else { return nil }
  let now = Timestamp.now()
  try? Folders.make(folder)
  try? StateFile(path: path).replace(with: Array("\(now.seconds)\n".utf8))
  return now
}
