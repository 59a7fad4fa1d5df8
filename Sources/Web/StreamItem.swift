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

/// One event in the parser's buffers.
public struct StreamEventView {
  /// The event type, empty for `message`.
  public let type: UnsafeRawBufferPointer
  /// The last event id of the stream at this event.
  public let id: UnsafeRawBufferPointer
  /// The data lines joined by LF.
  public let data: UnsafeMutableRawBufferPointer
  /// Whether the stream ended before the event's blank line.
  public let isPartial: Bool

  /// - Parameters:
  ///   - type: the event type, empty for `message`.
  ///   - id: the last event id at this event.
  ///   - data: the data lines joined by LF; may be changed by the taker.
  ///   - isPartial: whether the blank line is missing.
  public init(
    type: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer, data: UnsafeMutableRawBufferPointer,
    isPartial: Bool
  ) {
    self.type = type
    self.id = id
    self.data = data
    self.isPartial = isPartial
  }
}
