import Web

/// A stream to follow: what is asked for, and how it is kept whole.
public struct FollowedStream {
  /// Whose it is, in records and messages; nil where that need not be said.
  public var profile: String?
  /// The stream's request.
  public var request: Request
  /// Whose token it carries, for words.
  public var backend: Backend
  /// The time-out of a connection when none was asked for, seconds; nil never.
  public var usualSilence: Double?
  /// The last event id to begin with, empty for none.
  public var lastEventID = ""
  /// What keeps it whole where ids do not.
  public var continuity: Continuity?
  /// The state file, nil without one.
  public var resume: ResumePoint?

  /// - Parameters:
  ///   - request: the stream's request.
  ///   - backend: whose token it carries.
  public init(_ request: Request, _ backend: Backend) {
    self.request = request
    self.backend = backend
  }
}
