import Core
import Web

/// The options of a command that follows streams: how long, what is told besides
/// the events, and when a connection counts as lost.
public struct FollowOptions: Sendable {
  /// `--count`: the events of all streams together.
  public var count: Int?
  /// `--received-at`.
  public var receivedAt = false
  /// `--lifecycle`.
  public var lifecycle = false
  /// `--retry-wait`, seconds.
  public var retryWait: Double?
  /// `--max-retries`.
  public var maxRetries: Int?
  /// `--max-time`, seconds.
  public var maxTime: Double?
  /// `--idle-timeout`, seconds; 0 for none.
  public var idleTimeout: Double?
  /// `--max-event-bytes`.
  public var maxEventBytes: Int?
  /// `--quiet`.
  public var quiet = false
  /// `--verbose`.
  public var verbose = false
  /// Whether comments are printed as records.
  public var comments = false
  /// Whether an unfinished event at the end of a connection is printed.
  public var flushPartial = false

  /// Nothing given.
  public init() {}

  /// `-n`.
  public static let count = Option("n", "count", "COUNT", "end after this many events")
  /// `-T` and `-L`, which add to what is printed.
  public static let receivedAt = Option("T", "received-at", nil, "add the time of receipt")
  /// See `receivedAt`.
  public static let lifecycle = Option(
    "L", "lifecycle", nil, "print open, lost, resumed, gap and end as records")
  /// The times and bounds.
  public static let bounds = [
    Option(nil, "retry-wait", "SECONDS", "the first wait before a reconnect (3)"),
    Option(nil, "max-retries", "COUNT", "give up after this many tries without an event"),
    Option(nil, "max-time", "SECONDS", "end after this time"),
    Option(nil, "idle-timeout", "SECONDS", "reconnect after silence; 0 never"),
    Option(nil, "max-event-bytes", "BYTES", "drop events larger than this"),
  ]
  /// `-q` and `-v`.
  public static let notes = [
    Option("q", "quiet", nil, "no notes about the link on a terminal"),
    Option("v", "verbose", nil, "notes about the link, always"),
  ]

  /// Takes one option.
  ///
  /// - Returns: false when it is none of these.
  /// - Throws: `UsageError` for a value that makes no sense.
  public mutating func take(_ item: ParsedOptions.Item) throws(UsageError) -> Bool {
    switch item.name {
    case "count": count = try item.wholeNumber()
    case "received-at": receivedAt = true
    case "lifecycle": lifecycle = true
    case "retry-wait": retryWait = try item.seconds()
    case "max-retries": maxRetries = try item.wholeNumber()
    case "max-time": maxTime = try item.seconds()
    case "idle-timeout": idleTimeout = try item.seconds()
    case "max-event-bytes": maxEventBytes = try item.wholeNumber()
    case "quiet": quiet = true
    case "verbose": verbose = true
    default: return false
    }
    return true
  }

  /// How a stream is followed.
  ///
  /// - Parameters:
  ///   - usualSilence: the time-out of a connection when none was given, seconds.
  ///   - lastEventID: where to begin.
  func policy(usualSilence: Double?, lastEventID: [UInt8]) -> StreamPolicy {
    var policy = StreamPolicy()
    if let wait = retryWait {
      policy.retryWait = wait
      policy.retryCap = max(60, wait)
    }
    policy.maxRetries = maxRetries
    policy.idleTimeout = idleTimeout ?? usualSilence
    if policy.idleTimeout == 0 { policy.idleTimeout = nil }
    policy.keepsComments = comments
    policy.maxEventBytes = maxEventBytes
    policy.flushPartial = flushPartial
    policy.lastEventID = lastEventID
    return policy
  }
}
