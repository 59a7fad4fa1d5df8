public import Core

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
  /// The most bytes of an event or a message, nil for no limit.
  public var maxEventBytes: Int?
  /// Whether an unfinished event at the end of a connection is handed over.
  public var flushPartial = false

  /// The defaults: for ever, from 3 s to 60 s, no time-out, no limit.
  public init() {}

  /// How long the body of an error may take, seconds; then the head alone counts.
  static let errorWait = 5.0
}

/// What a stream carries, as the parser hands it over. Pointers are valid
/// during the call only, and may hold invalid UTF-8 as it came.
public enum StreamItem {
  /// A dispatched event.
  case event(StreamEventView)
  /// A comment line without its colon and one following space.
  case comment(UnsafeRawBufferPointer)
  /// The reconnection time a server asked for, milliseconds, at the moment
  /// its line ends.
  case retry(milliseconds: UInt64)
  /// An event that was dropped because it passed the limit; its size so far.
  case oversize(bytes: Int)
}

/// One event, in the parser's buffers or where it came.
public struct StreamEventView {
  /// The event type, empty for `message`.
  public let type: UnsafeRawBufferPointer
  /// The last event id of the stream at this event.
  public let id: UnsafeRawBufferPointer
  /// The data lines joined by LF.
  public let data: UnsafeRawBufferPointer
  /// Whether the stream ended before the event's blank line.
  public let isPartial: Bool
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
    (self.type, self.id, self.data) = (type, id, data)
  }

  /// A copy of what the stream dispatched.
  public init(_ event: StreamEventView) {
    self.init(type: Array(event.type), id: Array(event.id), data: Array(event.data))
    isPartial = event.isPartial
  }

  /// Hands the event to a function as if the stream had just dispatched it.
  public func withView<Value>(_ body: (StreamEventView) -> Value) -> Value {
    type.withUnsafeBytes { type in
      id.withUnsafeBytes { id in
        data.withUnsafeBytes { data in
          body(StreamEventView(type: type, id: id, data: data, isPartial: isPartial))
        }
      }
    }
  }
}

/// The end of a stream.
public enum StreamEnd: Equatable, Sendable {
  /// The server said so (204).
  case noContent
  /// No later try would help.
  case failed(Failure)
  /// The tries were used up; the last reason.
  case gaveUp(String)
}
