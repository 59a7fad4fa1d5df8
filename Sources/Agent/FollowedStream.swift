import Records
public import Web

/// A stream to follow: how it is opened, and how it is kept whole.
public struct FollowedStream {
  /// Whose it is, in records and messages; nil where that need not be said.
  public var profile: String?
  /// The address, for messages.
  public let place: String
  /// The time-out of a connection when none was asked for, seconds; nil never.
  public var usualSilence: Double?
  /// The last event id to begin with, empty for none.
  public var lastEventID: String
  /// What keeps it whole where ids do not.
  public var continuity: (any Continuity)?
  /// The state file, nil without one.
  public let resume: ResumePoint?
  /// Opens it; what it tells goes to the handler.
  public let open: (WebClient, StreamPolicy, any StreamHandler) -> any StreamLink

  /// A stream of any kind.
  ///
  /// - Parameters:
  ///   - place: the address, for messages.
  ///   - resume: the state of an earlier run; nil without one.
  ///   - open: makes the link, which a `WebClient` drives.
  public init(
    place: String, resume: ResumePoint?,
    open: @escaping (WebClient, StreamPolicy, any StreamHandler) -> any StreamLink
  ) {
    self.place = place
    self.resume = resume
    self.open = open
    lastEventID = resume?.state.lastEventID ?? ""
  }

  /// A server-sent event stream.
  ///
  /// - Parameters:
  ///   - request: the stream's, with its token.
  ///   - server: reads the errors.
  ///   - resume: the state of an earlier run; nil without one.
  ///   - resuming: what goes with a last event id.
  public init(
    _ request: Request, _ server: AgentServer, resume: ResumePoint?,
    resuming: @escaping () -> [Header] = { [] }
  ) {
    self.init(place: request.address.display, resume: resume) { client, policy, handler in
      EventStream(
        client, request, policy: policy,
        judge: { server.problem(of: $0, $1, method: request.method) }, resuming: resuming,
        handler: handler)
    }
  }

  /// A WebSocket.
  ///
  /// - Parameters:
  ///   - request: its address and headers, with the token.
  ///   - server: reads the errors.
  ///   - options: what is asked of each connection.
  ///   - pingEvery: how often a ping is sent, seconds; nil for never.
  ///   - made: told the stream as soon as it is there, before it connects.
  public init(
    socket request: Request, _ server: AgentServer, options: SocketOptions, pingEvery: Double?,
    made: @escaping (SocketStream) -> Void
  ) {
    self.init(place: request.address.socketDisplay, resume: nil) { client, policy, handler in
      let stream = SocketStream(
        client, request, options: options, policy: policy, pingEvery: pingEvery,
        judge: { server.problem(of: $0, $1) }, handler: handler)
      made(stream)
      return stream
    }
  }
}

/// Keeps a stream whole over reconnects where the ids of its events do not: holds
/// it while what was missed is fetched, then lets go in order.
public protocol Continuity: AnyObject {
  /// Told what is to be printed; set before the stream begins.
  var handler: (any ContinuityHandler)? { get set }
  /// What a later run resumes at; nil before anything was printed.
  var newest: String? { get }
  /// Whether events wait.
  var isHolding: Bool { get }
  /// Takes an event that the stream dispatched.
  ///
  /// - Returns: whether it is to be printed now; else it is held until the
  ///   handler is told to release the stream.
  func take(_ event: StreamEventView) -> Bool
  /// The connection is gone, and what was held is forgotten.
  ///
  /// - Returns: whether anything was held, so that the resume point is to go back.
  func connectionLost() -> Bool
  /// Notices a fetch that is silent.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double
}

/// Whoever prints a stream that a `Continuity` keeps whole.
public protocol ContinuityHandler: AnyObject {
  /// Prints an event that the stream itself never had.
  func printExtra(_ event: HeldEvent)
  /// Prints an event that was held; false when nothing more is to be printed.
  func printHeld(_ event: HeldEvent) -> Bool
  /// Tells a person something; one line.
  func say(_ words: String)
  /// Reports a gap.
  func report(_ gap: StreamGap)
  /// The connection cannot be trusted any more; one line.
  func dropStream(_ reason: String)
  /// Lets the stream go on.
  func releaseStream()
}

/// A time of which something may be missing.
public struct StreamGap: Equatable {
  /// What was not to be had, where that is known.
  public struct Part: Equatable {
    /// For people: `llm_call in guild 1`; empty when it may be anything.
    public var words: String
    /// One JSON object.
    public var record: String
  }

  /// The time of the newest thing printed before it, nil if there was none.
  public var after: String?
  /// The time of the oldest thing known behind it.
  public var before: String?
  /// What could not be had, where that is known.
  public var parts: [Part] = []
  /// The numbers of the events that were lost, where events have numbers.
  public var numbers: ClosedRange<Int64>?
}

/// An event that was kept, to be printed later or instead of another.
public struct HeldEvent {
  /// The event type, empty for `message`.
  public var type: [UInt8]
  /// The last event id of the stream at this event.
  public var id: [UInt8]
  /// The data lines joined by LF.
  public var data: [UInt8]
  /// Whether the blank line is missing.
  public var isPartial = false

  /// - Parameters:
  ///   - type: the event type, empty for `message`.
  ///   - id: the last event id at this event.
  ///   - data: the data lines joined by LF.
  public init(type: [UInt8], id: [UInt8] = [], data: [UInt8]) {
    self.type = type
    self.id = id
    self.data = data
  }

  /// A copy of what the stream dispatched.
  public init(_ event: StreamEventView) {
    self.init(type: Array(event.type), id: Array(event.id), data: Array(event.data))
    isPartial = event.isPartial
  }

  /// Hands the event to a function as if the stream had just dispatched it.
  public func withView(_ body: (StreamEventView) -> Void) {
    type.withUnsafeBytes { type in
      id.withUnsafeBytes { id in
        data.withUnsafeBytes { data in
          body(StreamEventView(type: type, id: id, data: data, isPartial: isPartial))
        }
      }
    }
  }
}
