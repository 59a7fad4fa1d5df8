import CLibc
import Core
import Kinds

/// agentutils(1): the way in. Alone it shows what is here and which commands there are; `doctor`
/// looks whether all is in place, `demo` shows a made-up agent, and the name of a command runs it.
public func agentutilsMain() {
  FrontOptions.table.run(FrontOptions()) { options, diagnostics in
    guard let word = options.words.first else {
      try RecordWriter.print(try Overview.text())
      return .success
    }
    switch word {
    case "help": try RecordWriter.print(Overview.commands)
    case "doctor": return try Doctor().report()
    case "demo": try become([try demo()] + options.words.dropFirst())
    default: try become(options.words)
    }
    return .success
  }
}

/// Gives this process to a program. Comes back only when that fails.
private func become(_ words: [String]) throws(Failure) {
  var arguments = words.map { strdup($0) } + [nil]
  _ = execvp(words[0], &arguments)
  throw Failure(code: systemError, place: words[0])
}

/// Where the script of the demonstration is: beside the commands, installed or in the tree.
private func demo() throws(Failure) -> String {
  if let script = SharedFile.path("share/agentutils/demo", "Tests/demo") { return script }
  throw Failure("demo", "share/agentutils/demo: not found beside the commands")
}

struct FrontOptions {
  var words: [String] = []

  static let table = OptionTable<FrontOptions>(
    program: "agentutils",
    summary: """
      Show what is here and which commands there are.
      doctor looks whether all is in place, demo shows a made-up agent, help lists the
      commands, and a command's name runs it.
      """,
    synopsis: "[COMMAND [WORD ...]]",
    operands: .words(Overview.names + ["demo", "doctor", "help"]), endsAtOperand: true,
    guesses: ["--list": "'agentutils help' lists the commands"], options: []
  ) { options, words throws(UsageError) in
    options.words = words.paths
    guard let word = words.operands.first else { return }
    let own = ["demo", "doctor", "help"]
    guard (own + Overview.names + FormerName.all.map(\.name)).contains(word) else {
      let hint = NearestWord.hint(for: word, among: own + Overview.names)
      throw UsageError("\(word): not a command\(hint.isEmpty ? "; try 'agentutils help'" : hint)")
    }
    if word != "demo", own.contains(word), let other = words.operands.dropFirst().first {
      throw UsageError("\(other): \(word) takes no word")
    }
  }
}

// MARK: - What is here

private enum Overview {
  /// The commands by what they are for: those that most people need, and the others.
  private static let needs: [(need: String, usual: [String], others: [String])] = [
    ("begin", ["agent-setup", "agent-serve", "agentutils"], []),
    (
      "watch", ["agent-pulse", "agent-browse", "agent-tail", "sse-tail", "transcript-tail"],
      [
        "ws-tail", "action-filter", "action-format", "turn-fold", "turn-format", "agent-archive",
      ]
    ),
    ("ask", ["agent-status", "agent-cost", "voice-state", "agent-call"], ["agent-plot"]),
    ("talk", ["agent-chat", "agent-approve", "mem-search"], []),
    ("be told", ["agent-notify"], ["mail-triage"]),
    (
      "terminal", ["tmux-attach", "agent-say", "share-inbox"],
      ["agent-ask", "agent-state", "riff-up", "riff-claude", "riff-worktree-remove"]
    ),
    ("voice", [], ["agent-talk", "clip-transcribe", "reply-narrate", "voice-token"]),
    ("records", ["task", "pds-record", "outbox"], ["mail-draft", "script-options"]),
    ("machines", [], ["bus-up", "bus-put", "bus-get"]),
  ]

  static let names = needs.flatMap { $0.usual + $0.others }

  /// All of them, in lines that fit on a screen.
  static let commands = list { $0.usual + $0.others }

  private static func list(
    _ names: ((need: String, usual: [String], others: [String])) -> [String]
  ) -> String {
    needs.map { need in
      var lines: [String] = []
      for name in names(need) {
        if let last = lines.last, last.utf8.count + name.utf8.count < 67 {
          lines[lines.count - 1] += " " + name
        } else {
          lines.append(name)
        }
      }
      return lines.enumerated().map {
        padded($0.offset == 0 ? need.need : "", to: 12) + $0.element + "\n"
      }.joined()
    }.joined()
  }

  /// Looks at this machine alone: no server is asked, and no token read.
  static func text() throws(Failure) -> String {
    let settings = try Settings()
    let configuration = settings.configuration
    let servers = AgentSessions.all(configuration)
    let inbox = try? ProgramCall(["share-inbox", "list", "-o", "json"])
    let profiles = configuration.profiles.keys.sorted()
    let outboxes = profiles.compactMap { name in
      (try? ProgramCall(["outbox", "-p", name, "list", "-o", "json"])).map { (name, $0) }
    }
    ProgramCall.wait(for: servers.map(\.call) + outboxes.map(\.1) + [inbox].compactMap { $0 })

    var text = "agentutils \(suiteVersion)\n"
    var last = ""
    func row(_ title: String, _ line: String, _ advice: String) {
      text +=
        padded(title == last ? "" : title, to: 12) + padded(Visible.masked(line), to: 34)
        + Visible.masked(advice) + "\n"
      last = title
    }
    var waiting: [(line: String, advice: String)] = []
    for server in servers {
      let found = server.sessions
      if found.isEmpty { continue }
      let isUsual = server.label == AgentSessions.usualLabel(configuration)
      let label = isUsual ? "" : "--label \(server.label) "
      row("running", count(found.count, "session", "in tmux"), "tmux-attach \(label)-l .")
      waiting += found.filter { $0["state"]?.string == "waiting" }.map {
        let name = $0["name"]?.string ?? ""
        // An agent can name its session, and what stands here is to be typed.
        let word = name.map { $0 == "'" ? "'\\''" : String($0) }.joined()
        return ("\(name) waits for you", "tmux-attach \(label)-s '\(word)' .")
      }
    }
    let others = AgentSessions.elsewhere(servers)
    if !others.isEmpty {
      let isOutside = others.allSatisfy { $0["process"] != nil }
      row(
        "running", count(others.count, "agent", isOutside ? "outside tmux" : "elsewhere"),
        "agent-status -p .")
    }
    if last.isEmpty { row("running", "no agent in tmux", "tmux-attach . starts one") }
    let uses = ["clanky": "agent-pulse", "pds": "task list", "riff": "agent-talk"]
    let places =
      profiles.map { name in
        let kind = configuration.profiles[name].map(\.kind.name) ?? ""
        return ("\(name) (\(kind))", "\(uses[kind] ?? "agent-tail") -p \(name)")
      }
      + configuration.hosts.sorted { $0.key < $1.key }.map { name, host in
        ("the host \(name)" + (host.kind.map { " (\($0))" } ?? ""), "tmux-attach \(name)")
      }
    for (what, use) in places.prefix(most) { row("configured", what, use) }
    if places.count > most { row("configured", "\(places.count - most) more", "agentutils doctor") }
    if last != "configured" { row("configured", "nothing yet", "agent-setup") }
    if let inbox, !inbox.lines.isEmpty {
      waiting.append((count(inbox.lines.count, "file", "in the inbox"), "share-inbox list"))
    }
    for (name, call) in outboxes where !call.lines.isEmpty {
      waiting.append(
        (count(call.lines.count, "change", "of \(name) not sent"), "outbox -p \(name) list"))
    }
    for each in waiting.prefix(most - 1) { row("waiting", each.line, each.advice) }
    if case let rest = waiting.count - most + 1, rest > 0 { row("waiting", "\(rest) more", "") }
    return text + "\n" + list { $0.usual } + """

      agentutils doctor   checks what is there, and says what to do next
      agentutils demo     shows a made-up agent
      agentutils help     lists all commands
      COMMAND --help      shows the options of a command, man COMMAND all of it
      man 7 agentutils    tells how they fit together

      """
  }

  /// As many lines as fit on a screen, of each sort.
  private static let most = 3
}

private func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(1, width - text.count))
}

private func count(_ number: Int, _ what: String, _ rest: String) -> String {
  "\(number) \(what)\(number == 1 ? "" : "s") \(rest)"
}

// MARK: - Whether all is in place

/// A line for each check, as `tmux-attach --check` prints them.
private struct Doctor {
  private var text = ""
  private var isWell = true
  private var advice: [String] = []

  /// The programs of others, and who needs one of each line.
  private static let programs: [(names: [String], need: String)] = [
    (["tmux"], "tmux-attach ."), (["ssh"], "hosts of ~/.ssh/config"), (["git"], "riff-claude"),
    (["fzf"], "agent-browse and mem-search --pick"), (["gnuplot"], "the pictures of agent-plot"),
    (["nats-server"], "bus-up"), (["arecord", "pw-record", "sox"], "agent-talk"),
  ]

  private mutating func say(_ mark: String, _ what: String, _ words: String) {
    text += padded(mark, to: 8) + padded(what, to: 12) + Visible.masked(words) + "\n"
    if mark == "FAILED" { isWell = false }
  }

  init() throws {
    for program in Self.programs {
      if let found = program.names.first(where: ProgramCall.isThere) {
        say("ok", "program", found)
      } else {
        let names = program.names.joined(separator: " or ")
        say("missing", "program", "\(names): \(program.need) needs it")
      }
    }
    let settings = try Settings()
    let configuration = settings.configuration
    for fault in configuration.faults.prefix(20) {
      say("FAILED", "config", "\(configuration.path):\(fault.line): \(fault.reason)")
    }
    let profiles = configuration.profiles.sorted { $0.key < $1.key }
    if profiles.isEmpty, configuration.hosts.isEmpty {
      say("missing", "config", "no agent and no host in \(configuration.path)")
      advice.append("agent-setup")
    } else if configuration.faults.isEmpty {
      say("ok", "config", configuration.path)
    }
    try ask(
      profiles.filter { $0.value.fault == nil && $0.value.kind.setup != nil }
        .map { ($0.key, $0.value.kind) })
    try look(at: configuration.hosts.filter { $0.value.fault == nil }, configuration.path)
    agents(configuration)
    hooks(settings.folders)
    let terminal = Process.environment("TERM") ?? ""
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { Process.environment($0) }
    let locale = names.first { !$0.isEmpty } ?? ""
    if terminal.isEmpty || terminal == "dumb" {
      say("missing", "terminal", "TERM is '\(terminal)': screens need another")
    } else if !["utf-8", "utf8"].contains(where: locale.lowercased().hasSuffix) {
      say("missing", "terminal", "\(terminal), but the locale '\(locale)' is not of UTF-8")
    } else {
      say("ok", "terminal", "\(terminal), \(locale)")
    }
  }

  /// Whether the servers of the profiles answer, all at once.
  private mutating func ask(_ profiles: [(name: String, kind: KindFacts)]) throws(Failure) {
    let calls = try profiles.map { name, kind throws(Failure) in
      let client =
        kind == .pds
        ? ["pds-record", "--timeout", "10", "--max-retries", "0"]
        : ["agent-call", "--max-time", "10", "-o", "tsv"]
      let unset: [String: String?] = ["AGENT_URL": nil, "AGENT_TOKEN_FILE": nil]
      return try ProgramCall(
        client + ["-p", name] + (kind.setup?.word ?? []), environment: unset)
    }
    ProgramCall.wait(for: calls)
    for ((name, kind), call) in zip(profiles, calls) {
      if call.status == 0 || call.status == 1 && kind.setup?.mayBeEmpty == true {
        say("ok", "profile", "\(name): \(kind.line)")
      } else {
        let start = "\(name): "
        let said = call.faults.last ?? "no answer"
        say(
          "FAILED", "profile",
          start + (said.hasPrefix(start) ? String(said.dropFirst(start.count)) : said))
        advice.append("agent-setup -p \(name)")
      }
    }
  }

  /// Whether the hosts have what they need, all at once.
  private mutating func look(
    at sections: [String: Configuration.HostSection], _ file: String
  ) throws(Failure) {
    let hosts = sections.keys.sorted()
    let calls = try hosts.map { host throws(Failure) in
      try ProgramCall(["tmux-attach", "--check", "--max-time", "10", host])
    }
    ProgramCall.wait(for: calls)
    for (host, call) in zip(hosts, calls) {
      let wrong = call.lines.filter { $0.hasPrefix("FAILED") }.map {
        String($0.dropFirst(6).drop { $0 == " " })
      }
      // Those of the file are said already.
      let faults =
        wrong + (call.status == 0 ? [] : call.faults.filter { !$0.hasPrefix("\(file):") })
      if faults.isEmpty { say("ok", "host", host + (sections[host]?.kind.map { ": \($0)" } ?? "")) }
      for fault in faults { say("FAILED", "host", "\(host): \(fault)") }
      if !faults.isEmpty { advice.append("tmux-attach --check \(host)") }
    }
  }

  /// What runs at the terminals of this machine.
  private mutating func agents(_ configuration: Configuration) {
    let servers = AgentSessions.all(configuration)
    ProgramCall.wait(for: servers.map(\.call))
    let found = servers.flatMap(\.sessions) + AgentSessions.elsewhere(servers)
    if found.isEmpty { return say("missing", "agents", AgentSessions.noneHere) }
    let names = Set(found.map { $0["agent"]?.string ?? $0["command"]?.string ?? "" }).sorted()
    let run = found.count == 1 ? "1 runs" : "\(found.count) run"
    say(
      "ok", "agents", "\(run) here (\(names.joined(separator: ", "))): agent-status -p . shows them"
    )
  }

  /// Whether Claude Code on this machine tells what it does.
  private mutating func hooks(_ folders: Folders) {
    let folder = Process.environment("CLAUDE_CONFIG_DIR") ?? folders.expandHome("~/.claude")
    guard access(folder, F_OK) == 0 else { return }
    let file = Folders.join(folder, "settings.json")
    let settings = (try? BoundedFile.given(file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    if settings.holds("agent-state") {
      say("ok", "hooks", "Claude Code tells by agent-state what it does")
      if !settings.holds("agent-ask") { advice.append("man agent-ask") }
    } else {
      say("missing", "hooks", "Claude Code is here, and \(file) has no hook with agent-state")
      advice.append("man agent-state")
    }
  }

  func report() throws -> ExitStatus {
    let next = advice.isEmpty ? "" : "\nnext:\n" + advice.map { "  \($0)\n" }.joined()
    try RecordWriter.print(text + next)
    return isWell ? .success : .negative
  }
}
