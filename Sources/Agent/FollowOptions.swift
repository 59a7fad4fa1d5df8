public import Core
import Records
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

/// A stream to follow: how it is read, and what is known of it before.
public struct FollowedStream {
  /// What reads it: called with whoever follows it, it gives the function that connects, reads and
  /// prints until it throws, and is called again. What outlives a connection is its own.
  public typealias Wire = (Follow) -> () throws(LinkEnd) -> Never

  /// The address, for messages.
  public var place: String
  /// The time-out of a connection when none was asked for, seconds; nil never.
  public var usualSilence: Double?
  /// The longest wait before a connection is tried again, seconds, unless a longer one is asked for.
  public var longestWait = StreamPolicy().retryCap
  /// Whether its events have numbers, which are their ids.
  public var isNumbered = false
  /// The last event id to begin with, empty for none.
  public var lastEventID: String
  /// The state file, nil without one.
  public var resume: ResumePoint?
  /// What the head and the body of an error mean; nil for what is no error.
  public var judge: (ResponseHead, [UInt8]) -> Failure? = { _, _ in nil }
  /// What reads it.
  public var wire: Wire

  /// - Parameters:
  ///   - place: the address, for messages.
  ///   - resume: the state of an earlier run; nil without one.
  public init(_ place: String, resume: ResumePoint? = nil, wire: @escaping Wire) {
    (self.place, self.resume, self.wire) = (place, resume, wire)
    lastEventID = resume?.state.lastEventID ?? ""
  }
}

extension FollowedStream {
  /// A server-sent event stream.
  ///
  /// - Parameter resume: the state of an earlier run; nil without one.
  public init(_ request: Request, _ server: AgentServer, resume: ResumePoint?) {
    self.init(request.address.display, resume: resume) { follow in
      let wire = EventWire(follow, request)
      return { () throws(LinkEnd) in
        let response = try wire.open()
        try wire.read(response) { item throws(LinkEnd) in try follow.print(item) }
      }
    }
    judge = { server.problem(of: $0, $1, method: request.method) }
  }
}

/// A time of which something may be missing.
struct StreamGap {
  /// What may be missing, for people.
  var thing = "actions"
  /// The time of the newest thing printed before it, nil if there was none.
  var after: String?
  /// The time of the oldest thing known behind it.
  var before: String?
  /// What could not be had, where that is known: words, `llm_call in guild 1`, empty when it may be
  /// anything; and one JSON object.
  var parts: [(words: String, record: String)] = []
}
