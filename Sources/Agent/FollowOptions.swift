public import Core
public import Web

/// The options that say how long a stream is followed, and when a connection counts as
/// lost.
public struct ReconnectOptions: Sendable {
  /// `--retry-wait`, seconds.
  public var retryWait: Double?
  /// `--max-retries`.
  public var maxRetries: Int?
  /// `--max-time`, seconds.
  public var maxTime: Double?
  /// `--idle-timeout`, seconds; 0 for none.
  public var idleTimeout: Double?

  /// Nothing given.
  public init() {}

  /// For a command's table.
  public static let options = options(without: "an event")

  /// For the table of a command that follows something else than events.
  ///
  /// - Parameter success: what shows that a try was one: `a message`.
  public static func options(without success: String) -> [Option<ReconnectOptions>] {
    [
      Option(
        nil, "retry-wait", "SECONDS", "the first wait before a reconnect (default: 3)", .seconds
      ) {
        $0.retryWait = $1
      }.rare,
      Option(
        nil, "max-retries", "COUNT", "give up after this many tries without \(success)",
        .wholeNumber()
      ) { $0.maxRetries = $1 }.rare,
      Option(nil, "max-time", "SECONDS", "end after this time", .seconds) { $0.maxTime = $1 },
      Option(nil, "idle-timeout", "SECONDS", "reconnect after silence; 0 never", .seconds) {
        $0.idleTimeout = $1
      }.rare,
    ]
  }

  /// How a stream is followed.
  ///
  /// - Parameters:
  ///   - usualSilence: the time-out of a connection when none was given, seconds.
  ///   - longestWait: between two tries, seconds, where no longer one was given.
  public func policy(
    usualSilence: Double?, longestWait: Double = StreamPolicy().retryCap
  ) -> StreamPolicy {
    var policy = StreamPolicy()
    policy.retryWait = retryWait ?? policy.retryWait
    policy.retryCap = max(longestWait, retryWait ?? 0)
    policy.maxRetries = maxRetries
    policy.idleTimeout = idleTimeout ?? usualSilence
    if policy.idleTimeout == 0 { policy.idleTimeout = nil }
    return policy
  }
}

/// The options of a command that prints the events of streams.
public struct FollowOptions: Sendable {
  /// `--count`: the events of all streams together.
  public var count: Int?
  /// `--received-at`.
  public var receivedAt = false
  /// `--lifecycle`.
  public var lifecycle = false
  /// `--max-event-bytes`, or what that is called for what is followed.
  public var maxEventBytes: Int?
  /// The word for what is followed, in messages and the name above.
  public var thing = "event"
  /// `--quiet`.
  public var isQuiet = false
  /// `--verbose`.
  public var isVerbose = false
  /// Whether comments are printed as records.
  public var comments = false
  /// Whether an unfinished event at the end of a connection is printed.
  public var flushPartial = false
  /// How long, and when a connection counts as lost.
  public var reconnect = ReconnectOptions()
  /// Who follows several streams, each in a process of its own, and keeps their states; nil where
  /// this process stands alone.
  public var parent: FollowParent?

  /// Nothing given.
  public init() {}

  /// For a command's table; `comments` and `flushPartial` are not among them.
  public static let options = options(of: "event", article: "an")

  /// For the table of a command that follows something else than events.
  ///
  /// - Parameters:
  ///   - thing: the word for it: `event`, `message`.
  ///   - article: of the word.
  public static func options(of thing: String, article: String) -> [Option<FollowOptions>] {
    [
      Option("n", "count", "COUNT", "end after this many \(thing)s", .wholeNumber()) {
        $0.count = $1
      },
      Option("T", "received-at", "add to each record when it came") { $0.receivedAt = true },
      Option("L", "lifecycle", "print what happens to the connection, as records, too") {
        $0.lifecycle = true
      },
      Option(
        nil, "max-\(thing)-bytes", "BYTES", "drop \(thing)s larger than this", .wholeNumber()
      ) { $0.maxEventBytes = $1 }.rare,
      Option.quiet("say nothing about the connection").at(\.isQuiet),
      Option.verbose("tell about the connection, in a pipe, too").at(\.isVerbose),
    ] + ReconnectOptions.options(without: "\(article) \(thing)").at(\.reconnect)
  }

  func policy(usualSilence: Double?, longestWait: Double) -> StreamPolicy {
    var policy = reconnect.policy(usualSilence: usualSilence, longestWait: longestWait)
    policy.keepsComments = comments
    policy.maxEventBytes = maxEventBytes
    policy.flushPartial = flushPartial
    return policy
  }
}

/// Who has started this process to follow one of several streams.
public struct FollowParent: Sendable {
  /// What begins a line that is for the parent: an event is above it, or only news of the state.
  /// The state follows, one record, or nothing where none is kept. No record begins so.
  public static let (eventMark, stateMark) = ("\u{1e}+", "\u{1e}=")

  /// Whose stream it is, for records and messages.
  public var profile: String
  /// Whether what is printed comes to a terminal in the end.
  public var isTerminal: Bool

  public init(profile: String, isTerminal: Bool) {
    (self.profile, self.isTerminal) = (profile, isTerminal)
  }
}
