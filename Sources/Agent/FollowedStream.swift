public import Core
import Records
public import Web

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
