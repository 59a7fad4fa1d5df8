import CLibc
import Core
import Kinds

/// script-options(1): what scripts that run the commands have in common.
public func scriptOptionsMain() {
  ScriptCommand.table.run(ScriptCommand()) { options, diagnostics in
    switch options.job {
    case .words: try print(words(options))
    case .tell:
      diagnostics.say(Visible.masked(options.words.joined(separator: " ")))
    case .give: try options.words.isEmpty ? copy(diagnostics) : print(options.words.joined())
    case .host: try print(hostWords(of: options.words.first))
    case .visible: try mask(diagnostics)
    case .section(let kind):
      let section = try ScriptSection(kind)
      guard let name = options.words.first else {
        try print(section.all)
        break
      }
      guard let members = try section.members(of: name) else { return .negative }
      try print(members)
    }
    return .success
  }
}

/// What a script evaluates. What is wrong in its words is told in its name, and ends us.
private func words(_ options: ScriptCommand) -> String {
  let help = CommandUsage.standardInput
  let diagnostics = Diagnostics(program: options.script)
  let asked = options.asked.map { AskedCommand(name: $0, help: help) }
  do {
    let base = asked?.isPassedOn == true ? try asked?.usage() : nil
    do {
      return try ScriptWords(help: help, asked: asked, base: base).words(of: options.words)
    } catch let error as UsageError where error.problem.hasPrefix("unknown option") {
      // It may be a letter of earlier versions, or say what an option has as an argument.
      let script = ScriptWords(help: help, asked: asked, base: try base ?? asked?.usage())
      do {
        return try script.words(of: options.words)
      } catch let error as UsageError {
        throw UsageError(error.problem + (try asked?.hint(for: error) ?? ""))
      }
    }
  } catch let error as UsageError {
    let usage = ScriptWords(help: help, asked: nil, base: nil).usage
    diagnostics.usage(UsageError(Visible.masked(error.problem)), usage)
  } catch let failure as CommandRun.Failure {
    let name = options.asked ?? ""
    switch failure {
    case .broken: diagnostics.fail("\(name) is not in PATH")
    case .interrupted(let signal): Process.die(by: signal)
    // What was wrong, it has told.
    case .ended, .killed: Process.exit(.failure)
    case .late, .tooLong: diagnostics.fail("\(name): \(failure.reason)")
    }
  } catch {
    diagnostics.fail("\(error)")
  }
}

private func print(_ text: String) throws(WriteFailure) {
  let writer = RecordWriter()
  try writer.write(FileName.bytes(text))
  try writer.flush()
}

private func copy(_ diagnostics: Diagnostics) throws(WriteFailure) {
  let writer = RecordWriter()
  try eachPiece(diagnostics) { piece throws(WriteFailure) in
    try writer.write(piece)
    try writer.flush()
  }
}

/// Line by line, so that no character is in two pieces.
private func mask(_ diagnostics: Diagnostics) throws(WriteFailure) {
  let writer = RecordWriter()
  var begun: [UInt8] = []
  func write(_ line: ArraySlice<UInt8>, _ end: String) throws(WriteFailure) {
    try writer.write(Visible.masked(FileName.text(Array(line))) + end)
  }
  try eachPiece(diagnostics) { piece throws(WriteFailure) in
    begun += piece
    while let end = begun.firstIndex(of: UInt8(ascii: "\n")) {
      try write(begun[..<end], "\n")
      begun.removeSubrange(...end)
    }
    try writer.flush()
  }
  if !begun.isEmpty { try write(begun[...], "") }
  try writer.flush()
}

private func eachPiece(
  _ diagnostics: Diagnostics, _ body: ([UInt8]) throws(WriteFailure) -> Void
) throws(WriteFailure) {
  var piece = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = read(0, &piece, piece.count)
    if count < 0 && systemError == EINTR { continue }
    if count < 0 { diagnostics.fail("standard input: \(systemReason(systemError))") }
    if count == 0 { return }
    try body(Array(piece[..<count]))
  }
}

struct ScriptCommand {
  enum Job {
    case words, tell, give, host, visible
    case section(ScriptSection.Kind)
  }

  var job = Job.words
  var asked: String?
  var script = ""
  var words: [String] = []

  static let table = OptionTable<ScriptCommand>(
    program: "script-options",
    summary: "Read the words of a script by its help, for the script to evaluate.",
    synopsis: "[--ask COMMAND] NAME [WORD ...]", operands: .none, endsAtOperand: true,
    options: [
      Option(nil, "ask", "COMMAND", "what the help has of COMMAND is asked of it", .word, \.asked),
      Option(nil, "give", "print the words, or standard input", \.job, .give),
      Option(nil, "host", "print the host of a profile whose agent is at a terminal", \.job, .host),
      Option(
        nil, "section", "KIND", "print what a section of the configuration has",
        .choice(of: ScriptSection.Kind.self)
      ) { $0.job = .section($1) },
      Option(nil, "tell", "say the words on standard error", \.job, .tell),
      Option(nil, "visible", "print standard input with nothing hidden in it", \.job, .visible),
    ]
  ) { options, words throws(UsageError) in
    options.words = words.paths
    if case .section = options.job {
      if let word = words.paths.dropFirst().first { throw UsageError("\(word): one word too many") }
      if words.paths == [""] { throw UsageError("--section: nothing is named") }
    }
    if case .host = options.job, let word = words.paths.dropFirst().first {
      throw UsageError("\(word): one word too many")
    }
    guard case .words = options.job else { return }
    guard let name = words.paths.first else { throw UsageError("which script?") }
    options.script = name
    options.words.removeFirst()
  }
}

/// What the configuration says, for a script to evaluate: no secret, nor what prints one.
struct ScriptSection {
  enum Kind: String, CaseIterable { case profile, host, bus }

  private let kind: Kind
  private let settings: Settings
  private let names: [String]
  /// The section that is meant where none is named, or a host that has no section.
  private let usual: String

  init(_ kind: Kind) throws(Failure) {
    self.kind = kind
    // The section is asked for, not what AGENT_URL and the like make of it.
    settings = try Settings { $0.hasPrefix("AGENT_") ? nil : Process.environment($0) }
    let configuration = settings.configuration
    let named: String?
    switch kind {
    case .profile:
      (names, named) = (configuration.profiles.keys.sorted(), configuration.defaultProfile)
    case .host: (names, named) = (configuration.hosts.keys.sorted(), configuration.defaultHost)
    case .bus:
      names = configuration.buses.keys.sorted()
      named = names.contains("local") ? "local" : ""
    }
    let isOnlyOne = configuration.defaultFault == nil && names.count == 1
    usual = named ?? (names.contains("default") ? "default" : isOnlyOne ? names[0] : "")
  }

  var all: String {
    "default=\(ScriptWords.quoted(usual))\n"
      + "set --\(names.map { " " + ScriptWords.quoted($0) }.joined())\n"
  }

  /// A variable for each member, empty for what is not said; nil where there is no such section.
  func members(of name: String) throws(Failure) -> String? {
    guard names.contains(name) else { return nil }
    let members =
      switch kind {
      case .profile: Self.members(try settings.profile(name))
      case .host: try settings.host(name).map(Self.members) ?? []
      case .bus: try settings.bus(name).map(Self.members) ?? []
      }
    return members.map { key, value in
      "\(key.exchanging("-", for: "_"))=\(ScriptWords.quoted(value ?? ""))\n"
    }.joined()
  }

  private static func members(_ profile: Settings.Profile) -> [(String, String?)] {
    [
      ("kind", profile.kind.name), ("url", plain(profile.url)), ("token-file", profile.tokenFile),
    ]
      + KindFacts.all.flatMap(\.keys).map { key in
        (key.name, key.value == "URL" ? plain(profile.own[key.name]) : profile.own[key.name])
      }
  }

  private static func members(_ host: Configuration.HostSection) -> [(String, String?)] {
    [
      ("hostname", host.hostname), ("port", host.port.map(String.init)), ("user", host.user),
      ("identity", host.identity), ("session", host.session), ("directory", host.directory),
      ("harness", host.harness),
    ]
  }

  private static func members(_ bus: Configuration.BusSection) -> [(String, String?)] {
    let files = ["creds-file", "nkey-file", "token-file", "user-file", "ca", "cert", "key"]
    return [
      ("servers", bus.servers.compactMap(plain).joined(separator: ",")), ("stream", bus.stream),
    ] + files.map { ($0, bus.files[$0]) }
  }

  /// A URL that surely has no password in it, nor a token in its query.
  private static func plain(_ url: String?) -> String? {
    url?.contains { "@?#".contains($0) } == true ? nil : url
  }
}

/// Where the agent of a profile is at a terminal, for a script to evaluate: the host as
/// tmux-attach(1) and transcript-tail(1) take it, empty for an agent that is elsewhere, and the
/// conversation of a session that is named, empty without one.
///
/// - Parameter profile: nil for the usual one.
func hostWords(of profile: String?) throws -> String {
  func words(_ host: String, _ conversation: String = "") -> String {
    "host=\(ScriptWords.quoted(host))\nconversation=\(ScriptWords.quoted(conversation))\n"
  }
  let settings = try Settings()
  // What is wrong with a profile says who asks its agent.
  let name = profile ?? (settings.namesNoAgent ? "." : nil)
  guard let place = (try? settings.profile(name))?.host else { return words("") }
  let (host, session) = AgentPlace.parts(ofHost: place)
  guard let session else { return words(host) }
  let list = try ProgramCall(["tmux-attach", "-l", "-o", "json", host])
  ProgramCall.wait(for: [list])
  if list.status > 1 {
    let reason = list.faults.first ?? "\(host): its sessions cannot be listed"
    throw Failure(reason, ExitStatus(rawValue: list.status) ?? .failure)
  }
  let found = list.lines.compactMap { try? JSONValue.parse(text: $0) }.last {
    $0["name"]?.string == session && $0["label"] == nil && $0["process"] == nil
  }
  guard let found else { throw Failure(host, "no session \(session)") }
  guard let id = found["conversation"]?.string else {
    throw Failure("session \(session)", "its agent keeps no transcript")
  }
  return words(host, id)
}
