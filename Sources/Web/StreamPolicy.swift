import Core

/// How a stream is followed.
public struct StreamPolicy: Sendable {
  /// The first wait before a reconnect, seconds, until the server asks for another.
  public var retryWait = 3.0
  /// The longest wait before jitter, seconds.
  public var retryCap = 60.0
  /// Tries in a row without an event before giving up; nil for ever.
  public var maxRetries: Int?
  /// Seconds without a byte after which a connection counts as lost; nil never.
  public var idleTimeout: Double?
  /// Whether comments are handed over.
  public var keepsComments = false
  /// The most bytes of an event, nil for no limit.
  public var maxEventBytes: Int?
  /// Whether an unfinished event at the end of a connection is handed over.
  public var flushPartial = false
  /// The last event id to begin with, empty for none.
  public var lastEventID: [UInt8] = []

  /// The defaults: for ever, from 3 s to 60 s, no time-out, no limit.
  public init() {}

  /// The shortest wait that a server's `retry: 0` gives, seconds.
  static let shortestWait = 0.05
  /// How long the body of an error may take, seconds; then the head alone counts.
  static let errorWait = 5.0
}

/// The end of a stream.
public enum StreamEnd: Equatable, Sendable {
  /// The server said so (204).
  case noContent
  /// No later try would help.
  case failed(AnswerProblem)
  /// The tries were used up; the last reason.
  case gaveUp(String)
}

/// What a stream tells its owner, in order, from within `WebClient.perform`
/// or `EventStream.tick`.
public protocol StreamHandler: AnyObject {
  /// A connection is open: the stream's first or a later one; `down` are the
  /// seconds since the first failure before it, nil without one. The place is the
  /// address after redirects, for messages.
  func streamOpened(_ place: String, isFirst: Bool, down: Double?)
  /// An event, a comment or an event past the limit; `retry` is the stream's own affair.
  func streamItem(_ item: StreamItem)
  /// The connection is lost, the next is tried in `wait` seconds.
  func streamLost(_ reason: String, wait: Double)
  /// Nothing more will come.
  func streamEnded(_ end: StreamEnd, at place: String)
}
