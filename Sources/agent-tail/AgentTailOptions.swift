import Agent
import CLibc
import Core

struct AgentTailOptions {
  /// The profiles that are named, each once; none for the usual one.
  private(set) var profiles: [String] = []
  private(set) var follow = FollowOptions()
  private(set) var access = AccessOptions()
  private(set) var state: String?
  private(set) var resume: String?
  private(set) var wishes = FollowWishes()

  private static let past = "it follows from now on; agent-pulse -S shows a dashboard's past"

  static let table = OptionTable<AgentTailOptions>(
    program: "agent-tail",
    summary: "Follow what agents do, one JSON record per event.",
    synopsis: "[options] [-p NAME,...] [THREAD]", operands: .none,
    guesses: [
      "--json": "it prints JSON anyway", "--follow": "it follows anyway", "-f": "it follows anyway",
      "--since": past, "-S": past, "--last": past,
    ],
    options: [
      Option(
        "p", "profile", "NAME,...", "follow these profiles, see agentutils.conf(5)",
        .names.offering(CompletionNames.profiles)
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

  private static let (childProfile, childTerminal) = ("AGENT_TAIL_PROFILE", "AGENT_TAIL_TERMINAL")

  static func environment(profile: String, isTerminal: Bool) -> [String: String?] {
    [childProfile: profile, childTerminal: isTerminal ? "1" : nil]
  }

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
    if let reason = wishes.thread.flatMap(Reading.faultOfThreadName) {
      throw UsageError("THREAD: \(reason)")
    }
    if isSeveral, let name = Process.environment(Self.childProfile), profiles.contains(name) {
      follow.parent = FollowParent(
        profile: name, isTerminal: Process.environment(Self.childTerminal) != nil)
      profiles = [name]
    }
  }

  /// Follows the agents of this machine where nothing is named and nothing is configured.
  mutating func choose(_ settings: Settings, _ diagnostics: Diagnostics) {
    guard profiles.isEmpty, let name = settings.profileOrHere(nil, diagnostics) else { return }
    profiles = [name]
  }

  /// A profile whose agent is at a terminal: what it is called, and where; nil for any other.
  func host(_ name: String? = nil, in settings: Settings) -> (name: String, place: HostPlace)? {
    guard let profile = try? settings.profile(name ?? profiles.first), let place = profile.host
    else { return nil }
    return (profile.name ?? place, HostPlace(place))
  }

  /// What was asked for that only servers have, by the names of the options.
  var ofServers: [(String, Bool)] {
    [
      ("from", wishes.from != nil), ("state", state != nil), ("resume", resume != nil),
      ("received-at", follow.receivedAt),
    ]
  }

  /// Whether a person has nothing else on the screen.
  var tellsPerson: Bool { isatty(1) == 1 && !follow.isQuiet && follow.parent == nil }

  /// Whether each of several profiles is followed by a process of its own, of which this is none.
  var isSeveral: Bool { profiles.count > 1 && follow.parent == nil }
  private var isOfSeveral: Bool { profiles.count > 1 || follow.parent != nil }

  /// The state file of a profile: the place itself, or where that is a folder, as
  /// it is for several, a file of the profile's name in it.
  func state(of profile: String?) throws(Failure) -> ResumeFile? {
    if let kept = resume { return ResumeFile(kept, isFixed: true) }
    guard let place = state else { return nil }
    if !isOfSeveral, !place.hasSuffix("/"), stat(following: place)?.isFolder != true {
      return ResumeFile(place)
    }
    try Folders.make(place)
    return ResumeFile(Folders.join(place, Self.fileName(profile ?? "") + ".state"))
  }

  /// A name as that of a file: what may mean something in a path is `%2F`.
  static func fileName(_ name: String) -> String {
    let text = name.utf8.enumerated().flatMap { index, byte in
      let isPlain = byte.isOfName || byte >= 0x80 || byte == UInt8(ascii: ".") && index > 0
      return isPlain ? [byte] : Array("%\([byte].hex.uppercased())".utf8)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The configuration. What the environment says of one backend does not
  /// hold for several: a token of one must not go to the others.
  func settings() throws(Failure) -> Settings {
    if !isOfSeveral { return try Settings() }
    let ofOne = ["AGENT_URL", "AGENT_TOKEN_FILE", "CREDENTIALS_DIRECTORY"]
    return try Settings { ofOne.contains($0) ? nil : Process.environment($0) }
  }
}
