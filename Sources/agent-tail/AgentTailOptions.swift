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

  static let table = OptionTable(
    program: "agent-tail",
    summary: "Follow what agents do, one JSON record per event.",
    synopsis: "[options] [-p NAME,...] [THREAD]", operands: .none,
    options: [
      FollowOptions.count,
      FollowOptions.receivedAt,
      FollowOptions.lifecycle,
      Option(nil, "state", "PLACE", "keep the resume points in PLACE", completion: .file),
    ] + FollowOptions.bounds + AccessOptions.tableOfSeveral + FollowOptions.notes)

  /// Reads parsed options.
  ///
  /// - Throws: `UsageError` for a value that makes no sense.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    for item in parsed.items {
      if item.name == "profile" {
        try name(item.value)
      } else if item.name == "state" {
        state = item.path
      } else if !access.take(item) {
        _ = try follow.take(item)
      }
    }
    if state?.isEmpty == true { throw UsageError("--state: no place is named") }
    if isSeveral && access.tokenFile != nil {
      throw UsageError("--token-file: one token for several profiles")
    }
    if parsed.operands.count > 1 {
      throw UsageError("one thread at a time: \(parsed.operands[1])")
    }
    if let thread = parsed.operands.first {
      throw UsageError("\(thread): a Clanky dashboard has no threads to follow")
    }
  }

  /// Whether records are to say whose they are.
  var isSeveral: Bool { profiles.count > 1 }

  private mutating func name(_ list: String) throws(UsageError) {
    for name in list.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      if name.isEmpty { throw UsageError("--profile \(list): an empty name") }
      if !profiles.contains(name) { profiles.append(name) }
    }
  }

  /// The configuration. What the environment says of one backend is no word on
  /// several: a token of one must not go to the others.
  func settings() throws(SettingsError) -> Settings {
    if !isSeveral { return try Settings() }
    let ofOne = ["AGENT_URL", "AGENT_TOKEN_FILE", "CREDENTIALS_DIRECTORY"]
    return try Settings { ofOne.contains($0) ? nil : Process.environment($0) }
  }
}
