import CLibc
import Core
import Kinds

/// What is on this machine that the configuration can name.
struct Finding {
  private let talk: SetupTalk
  private let file: ProfileFile
  private let all: [Find]
  private var missing: [Find] { all.filter { !file.has(section: $0.kind, $0.name) } }

  private struct Find {
    /// Of its section.
    let kind: String
    let name: String
    let what: String
    var lines: [String] = []
    let next: [String]

    var section: [String] { ["[\(kind) \(name)]"] + lines }
  }

  /// Looks at this machine alone, and sends no token.
  init(_ file: ProfileFile, _ talk: SetupTalk) throws {
    (self.file, self.talk) = (file, talk)
    let settings = try Settings()
    let servers = AgentSessions.all(settings.configuration)
    // A port of its own is what these servers read, too.
    func url(_ variable: String, _ port: Int) -> String {
      let own = Process.environment(variable).flatMap { Int($0) } ?? port
      return "127.0.0.1:\((1...65535).contains(own) ? own : port)"
    }
    let addresses = [url("OPENCLAW_GATEWAY_PORT", 18789), url("DASHBOARD_PORT", 8787)]
    var environment: [String: String?] = ["XDG_CONFIG_HOME": talk.folder]
    for name in ["AGENT_PROFILE", "AGENT_TOKEN_FILE", "CREDENTIALS_DIRECTORY"] {
      environment[name] = .some(nil)
    }
    let questions = try addresses.map { address throws(Failure) in
      environment["AGENT_URL"] = "http://" + address
      return try ProgramCall(
        ["agent-call", "--max-time", "3", "-o", "json", "get", "/health"], environment: environment)
    }
    ProgramCall.wait(for: servers.map(\.call) + questions, clean: talk.clean)

    var all: [Find] = []
    for (address, question) in zip(addresses, questions) {
      let answer = question.lines.first.flatMap { try? JSONValue.parse(text: $0) }
      if answer?["status"]?.string == "live" {
        all.append(
          Self.profile("openclaw", .openclaw, "ws://" + address, "an OpenClaw gateway"))
      } else if question.status == 0 || question.status == 77 {
        all.append(Self.profile("clanky", .clanky, "http://" + address, "a Clanky dashboard"))
      }
    }
    if access("/tmp/joelclaw/gateway.ws.port", R_OK) == 0 {
      all.append(Self.profile("joelclaw", .joelclaw, "", "a joelclaw gateway"))
    }
    // Where several have agents, the first is the one that tmux-attach uses.
    if let server = servers.first(where: { !$0.sessions.isEmpty }) {
      let commands = Set(server.sessions.compactMap { $0["command"]?.string })
      let kind = commands.count == 1 ? commands.filter(ProfileFile.isName) : []
      let usual = AgentSessions.usualLabel(settings.configuration)
      let count = server.sessions.count
      all.append(
        Find(
          kind: "host", name: ".",
          what: "this machine: \(count) session\(count == 1 ? "" : "s") of agents in tmux",
          lines: (server.label == usual ? [] : ["label = \(server.label)"])
            + kind.map { "kind = \($0)" }, next: ["tmux-attach -l ."]))
    }
    for name in CompletionNames.sshAliases(settings.folders)
    where ProfileFile.isName(name) && !name.hasPrefix("-") && name.utf8.count <= 40 {
      all.append(
        Find(
          kind: "host", name: name, what: "a host of ~/.ssh/config",
          next: ["tmux-attach --check \(name)"]))
    }
    self.all = all
  }

  private static func profile(
    _ name: String, _ kind: KindFacts, _ url: String, _ what: String
  ) -> Find {
    Find(
      kind: "profile", name: name, what: what + (url.isEmpty ? "" : " at \(url)"),
      lines: (kind == .clanky ? [] : ["kind = \(kind.name)"]) + (url.isEmpty ? [] : ["url = \(url)"]),
      next: (kind.setup ?? SetupFacts()).commands(name))
  }

  private func list(_ finds: [Find], _ title: String) {
    talk.say(title)
    for find in finds {
      let room = String(repeating: " ", count: max(1, 12 - find.name.count))
      talk.say("  \(find.name)\(room)\(find.what)")
    }
  }

  func show() {
    if missing.isEmpty { return }
    list(missing, "Found here:")
    talk.say("agent-setup --found writes that. Else this is about one agent:")
  }

  /// Writes what is not there yet. Returns the exit status.
  func write() throws -> Int32 {
    if all.isEmpty {
      talk.say(
        "Nothing was found: no gateway, no dashboard, no agent in tmux, no host in ~/.ssh/config.")
      talk.say(next: ["agent-setup", "tmux-attach .", "agentutils demo"])
      return 1
    }
    var chosen = missing
    if chosen.isEmpty {
      list(all, "All that was found here is in \(file.path):")
    } else {
      list(chosen, "Found here:")
      if isatty(0) == 1 { chosen = choose(among: chosen) }
      if chosen.isEmpty {
        talk.say("Nothing was changed.")
        return 1
      }
      try file.add(chosen.map(\.section))
      talk.say("Wrote \(chosen.map(\.name).joined(separator: ", ")) to \(file.path).")
    }
    let others = all.filter { find in
      !chosen.contains { $0.kind == find.kind && $0.name == find.name }
    }
    let next = try (chosen + others).prefix(2).map { find in
      guard find.kind == "profile", let said = try refusal(of: find.name) else { return find.next }
      talk.say("\(find.name): \(said)")
      return ["agent-setup -p \(find.name)"]
    }
    // The first of each, and then what else the only one has.
    talk.say(
      next: next.compactMap(\.first) + (next.count == 1 ? Array(next[0].dropFirst().prefix(1)) : [])
        + ["agentutils doctor", "agentutils"])
    return 0
  }

  /// Why an agent does not answer with its profile; nil where it does.
  private func refusal(of profile: String) throws -> String? {
    let settings = try Settings()
    let kind = settings.configuration.profiles[profile]?.kind ?? .clanky
    let words = kind.setup ?? SetupFacts()
    let call = try ProgramCall(
      ["agent-call", "-p", profile, "--max-time", "5", "-o", "tsv", "-q"] + words.word,
      environment: ["AGENT_URL": nil, "AGENT_TOKEN_FILE": nil])
    ProgramCall.wait(for: [call], clean: talk.clean)
    if call.status == 0 || call.status == 1 && words.mayBeEmpty { return nil }
    return call.faults.last ?? "no answer"
  }

  private func choose(among finds: [Find]) -> [Find] {
    while true {
      let answer = talk.ask("Write which of them? (all, none or names)", "all")
      if answer == "none" || answer == "n" { return [] }
      if ["all", "y", "yes"].contains(answer) { return finds }
      let names = answer.split { $0 == " " || $0 == "," }
      if let wrong = names.first(where: { name in !finds.contains { $0.name == name } }) {
        talk.say("\(wrong): not one of them.")
      } else {
        return finds.filter { names.contains(Substring($0.name)) }
      }
    }
  }
}
