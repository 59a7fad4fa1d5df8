import CLibc
import Core
import Kinds

/// agent-setup(1): asks for an agent's URL and token, checks them, and writes a profile for the
/// commands of the suite.
///
/// The token is never a word of a command or a variable of its environment: it goes through
/// pipes.
public func agentSetupMain() {
  umask(0o077)
  SetupOptions.table.run(SetupOptions()) { options, diagnostics in
    EndSignals.watch()
    let file = try ProfileFile()
    let talk = SetupTalk(diagnostics)
    defer { talk.clean() }
    let code: Int32
    if options.isFinding {
      code = try Finding(file, talk).write()
    } else {
      // It is an addition: what hinders it is no fault of the dialogue.
      if options.isEmpty, isatty(0) == 1 { try? Finding(file, talk).show() }
      var setup = Setup(options, file, talk)
      code = try setup.run()
    }
    talk.clean()
    Process.exit(code: code)
  }
}

struct SetupOptions {
  var kind: KindFacts?
  var profile: String?
  var isFinding = false

  /// Whether nothing says what is to be set up.
  var isEmpty: Bool { kind == nil && profile == nil }

  static let kinds: [KindFacts] = KindFacts.all.filter { $0.setup != nil }

  static let table = OptionTable<SetupOptions>(
    program: "agent-setup",
    summary: "Ask for an agent's URL and token, check them, and write a profile.",
    synopsis: "[-k KIND] [-p NAME] | --found", operands: .none,
    options: [
      Option(
        "k", "kind", "KIND",
        "\(KindFacts.list(kinds)) (default: by the URL)", .kind
      ) { $0.kind = $1 },
      Option(
        "p", "profile", "NAME", "the profile to write (default: asked for)",
        .text.offering(CompletionNames.profiles)
      ) { $0.profile = $1 },
      Option(
        nil, "found", "write what is found here: gateways, agents in tmux, hosts of ~/.ssh/config"
      ) { $0.isFinding = true },
    ]
  ) { options, words throws(UsageError) in
    if options.isFinding, !options.isEmpty {
      throw UsageError("--found takes neither --kind nor --profile")
    }
    if let word = words.operands.first { throw UsageError("no operand is taken: \(word)") }
  }
}

extension Reading<KindFacts> {
  fileprivate static var kind: Reading {
    let words = SetupOptions.kinds.map(\.name)
    return Reading(
      { argument throws(UsageError) in
        if let kind = KindFacts.named(argument.value), SetupOptions.kinds.contains(kind) {
          return kind
        }
        throw UsageError(
          "option --kind: not \(KindFacts.list(SetupOptions.kinds)): \(argument.value)"
            + NearestWord.hint(for: argument.value, among: words))
      }, completion: .words(words))
  }
}

/// What is on this machine that the configuration can name.
struct Finding {
  private let talk: SetupTalk
  private let file: ProfileFile
  private let all: [Find]
  private var missing: [Find] { all.filter { !file.has(section: $0.kind, $0.name) } }

  private struct Find: Equatable {
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
    let configuration = settings.configuration
    let servers = AgentSessions.all(configuration)
    // A port of its own is what these servers read, too.
    func address(_ variable: String, _ port: Int) -> String {
      let own = Process.environment(variable).flatMap { Int($0) } ?? port
      return "127.0.0.1:\((1...65535).contains(own) ? own : port)"
    }
    func ask(_ address: String, _ words: [String]) throws(Failure) -> ProgramCall {
      var environment: [String: String?] = [
        "XDG_CONFIG_HOME": talk.folder, "AGENT_URL": "http://" + address,
      ]
      for name in ["AGENT_PROFILE", "AGENT_TOKEN_FILE", "CREDENTIALS_DIRECTORY"] {
        environment[name] = .some(nil)
      }
      return try ProgramCall(
        ["agent-call", "--max-time", "3", "-o", "json"] + words, environment: environment)
    }
    let gateway = address("OPENCLAW_GATEWAY_PORT", 18789)
    let dashboard = address("DASHBOARD_PORT", 8787)
    let isGateway = try ask(gateway, ["get", "/health"])
    let isDashboard = try ask(dashboard, ["health"])
    ProgramCall.wait(for: servers.map(\.call) + [isGateway, isDashboard], clean: talk.clean)

    var all: [Find] = []
    let answer = isGateway.lines.first.flatMap { try? JSONValue.parse(text: $0) }
    if answer?["status"]?.string == "live" {
      all.append(
        Self.profile("openclaw", .openclaw, "ws://" + gateway, "an OpenClaw gateway", configuration)
      )
    }
    if isDashboard.status == 0
      || isDashboard.status == 77 && isDashboard.faults.contains(where: { $0.holds("no token") })
    {
      all.append(
        Self.profile("clanky", .clanky, "http://" + dashboard, "a Clanky dashboard", configuration))
    }
    if access("/tmp/joelclaw/gateway.ws.port", R_OK) == 0 {
      all.append(Self.profile("joelclaw", .joelclaw, nil, "a joelclaw gateway", configuration))
    }
    // Where several have agents, the first is the one that tmux-attach uses.
    if let server = servers.first(where: { !$0.sessions.isEmpty }) {
      let commands = Set(server.sessions.compactMap { $0["command"]?.string })
      let kind = commands.count == 1 ? commands.filter(ProfileFile.isName) : []
      let usual = AgentSessions.usualLabel(configuration)
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

  /// One that has a profile already goes by its name.
  private static func profile(
    _ usual: String, _ kind: KindFacts, _ url: String?, _ what: String,
    _ configuration: Configuration
  ) -> Find {
    let own = configuration.profiles.filter { _, profile in
      guard let url else { return profile.kind == kind && profile.url == nil }
      let there = profile.url?.exchanging(text: "//localhost", for: "//127.0.0.1")
      return there == url || there?.hasPrefix(url + "/") == true
    }
    let name = own.keys.min() ?? usual
    return Find(
      kind: "profile", name: name, what: what + (url.map { " at \($0)" } ?? ""),
      lines: (kind == .clanky ? [] : ["kind = \(kind.name)"]) + (url.map { ["url = \($0)"] } ?? []),
      next: (kind.setup ?? .usual).commands(name))
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
    let there = all.filter { chosen.contains($0) || !missing.contains($0) }
    let next = try there.prefix(2).map { find in
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
    let words = kind.setup ?? .usual
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
