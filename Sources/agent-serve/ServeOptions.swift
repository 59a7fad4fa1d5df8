import Core

/// What the command line of agent-serve says.
struct ServeOptions: Equatable, Sendable {
  /// Where to listen.
  var listen = ListenAddress(loopback: 8787)
  /// The store's file, `:memory:`, or nil for the usual place.
  var database: String?
  /// What it may be called, beside loopback and where it listens.
  var hosts: [Authority] = []
  /// The file that holds the token, nil for the usual places.
  var tokenFile: String?
  /// A file of records to store first, `-` for standard input.
  var ingest: String?
  /// A recording to play.
  var replay: String?
  /// How many times faster; 0 for as fast as possible.
  var speed = 1.0
  /// A server that makes vectors of texts, nil for none.
  var embedURL: String?
  /// The model that is named to it.
  var embedModel: String?
  /// The bus that actions are published to; nil for none.
  var bus: BusFeed.Target?
  /// Where a subscriber's backlog ends, bytes.
  var backlog = 8 * 1024 * 1024
  /// The port of the gateway, 0 for a free one; nil for none.
  var gateway: UInt16?
  /// What makes a reply of a message.
  var replyCommand: String?
  /// Whether each reply needs an approval.
  var asksForReplies = false
  /// Whether each new device needs one.
  var asksForDevices = false
  /// The file that holds the secret of the voice server; nil for no such server.
  var voiceSecretFile: String?
  /// What makes text of clips.
  var transcriber: String?
  /// What makes sound of texts.
  var speaker: String?
  /// Whose turns are read aloud, nil for the usual place.
  var transcripts: String?
  /// Nothing on standard output.
  var isQuiet = false
  /// Notes on standard error.
  var isVerbose = false

  static let table = OptionTable<ServeOptions>(
    program: "agent-serve", summary: "Serve an agent's actions over HTTP, from SQLite.",
    synopsis: "[options]", operands: .none,
    options: [
      Option(
        "l", "listen", "HOST:PORT", "listen there (default: 127.0.0.1:8787); port 0: any",
        Reading { argument throws(UsageError) in try ListenAddress(argument.value) }
      ) { $0.listen = $1 },
      Option(
        "D", "database", "FILE", "keep the actions in FILE, or :memory: (default: a state file)",
        .path
      ) { $0.database = $1 },
      Option(nil, "host", "NAME", "answer requests for NAME too; may be repeated", Reading(host)) {
        $0.hosts.append($1)
      }.rare,
      Option(nil, "token-file", "FILE", "ask for the token in FILE", .path) {
        $0.tokenFile = $1
      },
      Option(
        nil, "ingest", "FILE", "store the records of FILE, - for standard input, then serve", .path
      ) { $0.ingest = $1 },
      Option(nil, "replay", "FILE", "play a recording of sse-tail -T as live actions", .path) {
        $0.replay = $1
      }.rare,
      Option(
        nil, "speed", "N", "replay N times faster (default: 1); 0: as fast as possible",
        .number("a number from 0") { $0 >= 0 }
      ) { $0.speed = $1 }.rare,
      Option(
        nil, "max-backlog", "BYTES", "disconnect a subscriber this far behind (default: 8388608)",
        .wholeNumber(in: 1...Int.max)
      ) { $0.backlog = $1 }.rare,
      Option(
        nil, "embed-url", "URL", "search facts by meaning too, with the embeddings of that server",
        Reading(embedURL)
      ) { $0.embedURL = $1 }.rare,
      Option(
        nil, "bus", "NAME[/AGENT]", "publish each action to the [bus NAME] of the configuration",
        Reading(bus, completion: CompletionNames.buses)
      ) { $0.bus = $1 }.rare,
      Option(nil, "embed-model", "NAME", "the model for that (default: nomic-embed-text)", .text) {
        $0.embedModel = $1
      }.rare,
      Option(
        nil, "gateway", "PORT", "speak the OpenClaw gateway on PORT too; port 0 takes a free one",
        .wholeNumber(in: 0...65535)
      ) { $0.gateway = UInt16($1) },
      Option(
        nil, "reply-command", "COMMAND", "make replies with COMMAND: message in, text out", .word
      ) { $0.replyCommand = $1 },
      Option(nil, "approve-replies", "run the reply command only when a client approves") {
        $0.asksForReplies = true
      }.rare,
      Option(nil, "pairing", "ask at the terminal before a new device may connect") {
        $0.asksForDevices = true
      }.rare,
      Option(
        nil, "voice-secret-file", "FILE", "be a voice server too, with the secret in FILE", .path
      ) { $0.voiceSecretFile = $1 },
      Option(
        nil, "transcriber", "COMMAND", "make text of clips with COMMAND: $1 is the file", .word
      ) { $0.transcriber = $1 },
      Option(
        nil, "speaker", "COMMAND", "read turns aloud with COMMAND: text in, sound out", .word
      ) { $0.speaker = $1 },
      Option(nil, "transcripts", "FOLDER", "read turns there (default: ~/.claude/projects)", .path)
      {
        $0.transcripts = $1
      }.rare,
      Option.quiet("print no records").at(\.isQuiet),
      Option.verbose("say more on standard error").at(\.isVerbose),
    ]
  ) { options, words throws(UsageError) in
    if options.embedModel != nil && options.embedURL == nil {
      throw UsageError("--embed-model: it needs --embed-url")
    }
    if options.replay == nil, words.names.contains("speed") {
      throw UsageError("--speed: it needs --replay")
    }
    if options.gateway == nil {
      if options.replyCommand != nil, options.voiceSecretFile == nil {
        throw UsageError("--reply-command: it needs --gateway or --voice-secret-file")
      }
      if options.asksForReplies { throw UsageError("--approve-replies: it needs --gateway") }
      if options.asksForDevices { throw UsageError("--pairing: it needs --gateway") }
    }
    if options.asksForReplies && options.replyCommand == nil {
      throw UsageError("--approve-replies: it needs --reply-command")
    }
    if options.voiceSecretFile == nil {
      for name in ["transcriber", "speaker"] where words.names.contains(name) {
        throw UsageError("--\(name): it needs --voice-secret-file")
      }
    }
    if options.transcripts != nil && options.speaker == nil {
      throw UsageError("--transcripts: it needs --speaker")
    }
    if let word = words.operands.first { throw UsageError("\(word): unexpected operand") }
  }

  @Sendable private static func host(_ argument: OptionArgument) throws(UsageError) -> Authority {
    guard let name = Authority(argument.value) else {
      throw argument.fault("not a host's name, with or without a port")
    }
    return name
  }

  @Sendable private static func bus(
    _ argument: OptionArgument
  ) throws(UsageError) -> BusFeed.Target {
    let words = argument.value.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    if words[0].isEmpty { throw argument.fault("no bus is named") }
    let agent = words.dropFirst().first.map(String.init)
    let isWord = agent?.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
      default: false
      }
    }
    if let agent, agent.isEmpty || agent.utf8.count > 64 || isWord == false {
      throw argument.fault("the agent's name: letters, digits, - and _")
    }
    return BusFeed.Target(bus: String(words[0]), agent: agent)
  }

  @Sendable private static func embedURL(_ argument: OptionArgument) throws(UsageError) -> String {
    guard EmbedAddress(argument.value) != nil else {
      throw argument.fault("not an http or https url")
    }
    return argument.value
  }
}
