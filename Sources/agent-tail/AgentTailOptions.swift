import Agent
import Core

/// What the command line of agent-tail asks for.
struct AgentTailOptions {
  /// The profiles that are named, each once; none for the usual one.
  private(set) var profiles: [String] = []
  private(set) var follow = FollowOptions()
  private(set) var access = AccessOptions()
  /// The argument of `--state`.
  private(set) var state: String?
  /// The argument of `--resume`.
  private(set) var resume: String?
  /// What is followed of each.
  private(set) var wishes = FollowWishes()

  static let table = OptionTable<AgentTailOptions>(
    program: "agent-tail",
    summary: "Follow what agents do, one JSON record per event.",
    synopsis: "[options] [-p NAME,...] [THREAD]", operands: .none,
    options: [
      Option(
        "p", "profile", "NAME,...", "follow these profiles, see agentutils.conf(5)",
        Reading(names, completion: CompletionNames.profiles)
      ) { options, names in
        for name in names where !options.profiles.contains(name) { options.profiles.append(name) }
      },
      Option("w", "wait", "wait until a gateway lets this device in") { $0.wishes.waits = true },
      Option(
        nil, "from", "NUMBER", "begin after this event; 0 begins with the first", .wholeNumber()
      ) {
        $0.wishes.from = Int64($1)
      },
      Option(
        nil, "state", "PLACE", "remember the place in this file or folder, and go on there", .path
      ) { $0.state = $1 },
      Option(nil, "resume", "FILE", "resume where bus-put --state FILE left off", .path) {
        $0.resume = $1
      }.rare,
    ] + FollowOptions.options.at(\.follow) + AccessOptions.credentials.at(\.access)
  ) { options, words throws(UsageError) in try options.finish(words) }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    if state?.isEmpty == true { throw UsageError("--state: no place is named") }
    if resume?.isEmpty == true { throw UsageError("--resume: no file is named") }
    if resume != nil, isSeveral || state != nil {
      throw UsageError("--resume is not for \(isSeveral ? "several profiles" : "--state")")
    }
    if isSeveral && access.tokenFile != nil {
      throw UsageError("--token-file: one token for several profiles")
    }
    let operands = words.operands
    if operands.count > 1 { throw UsageError("one thread at a time: \(operands[1])") }
    wishes.thread = operands.first
    if let reason = wishes.thread.flatMap(ThreadName.fault) {
      throw UsageError("THREAD: \(reason)")
    }
  }

  @Sendable private static func names(_ argument: OptionArgument) throws(UsageError) -> [String] {
    if argument.words.contains("") { throw argument.fault("an empty name") }
    return argument.words
  }

  /// Whether records are to say whose they are.
  var isSeveral: Bool { profiles.count > 1 }

  /// The configuration. What the environment says of one backend does not
  /// hold for several: a token of one must not go to the others.
  func settings() throws(SettingsError) -> Settings {
    if !isSeveral { return try Settings() }
    let ofOne = ["AGENT_URL", "AGENT_TOKEN_FILE", "CREDENTIALS_DIRECTORY"]
    return try Settings { ofOne.contains($0) ? nil : Process.environment($0) }
  }
}
