import Core

struct ServeOptions: Equatable, Sendable {
  var listen = ListenAddress(loopback: 8787)
  var database: String?
  var hosts: [Authority] = []
  var tokenFile: String?
  var ingest: String?
  var replay: String?
  var speed = 1.0
  var embedURL: EmbedAddress?
  var embedModel: String?
  var bus: BusFeed.Target?
  /// Where a subscriber's backlog ends, bytes.
  var backlog = 8 * 1024 * 1024
  var gateway: UInt16?
  var replyCommand: String?
  var asksForReplies = false
  var asksForDevices = false
  var voiceSecretFile: String?
  var transcriber: String?
  var speaker: String?
  /// Whose turns are read aloud, nil for the usual place.
  var transcripts: String?
  var isQuiet = false
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
      Option(nil, "host", "NAME", "answer requests for NAME too; may be repeated", .host) {
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
        Reading("not an http or https url") { EmbedAddress($0) }
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
    let isVoice = options.voiceSecretFile != nil
    let isGateway = options.gateway != nil
    let needs: [(name: String, need: String, isThere: Bool)] = [
      ("embed-model", "--embed-url", options.embedURL != nil),
      ("speed", "--replay", options.replay != nil),
      ("reply-command", "--gateway or --voice-secret-file", isGateway || isVoice),
      ("approve-replies", "--gateway", isGateway), ("pairing", "--gateway", isGateway),
      ("approve-replies", "--reply-command", options.replyCommand != nil),
      ("transcriber", "--voice-secret-file", isVoice),
      ("speaker", "--voice-secret-file", isVoice),
      ("transcripts", "--speaker", options.speaker != nil),
    ]
    for (name, need, isThere) in needs where !isThere && words.names.contains(name) {
      throw UsageError("--\(name): it needs \(need)")
    }
    if let word = words.operands.first { throw UsageError("\(word): unexpected operand") }
  }

  @Sendable private static func bus(
    _ argument: OptionArgument
  ) throws(UsageError) -> BusFeed.Target {
    let words = argument.value.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    if words[0].isEmpty { throw argument.fault("no bus is named") }
    let agent = words.dropFirst().first.map(String.init)
    if let agent, !isPlainWord(agent, atMost: 64) {
      throw argument.fault("the agent's name: letters, digits, - and _")
    }
    return BusFeed.Target(bus: String(words[0]), agent: agent)
  }
}

extension Reading<Authority> {
  fileprivate static var host: Reading {
    Reading("not a host's name, with or without a port") { Authority($0) }
  }
}
