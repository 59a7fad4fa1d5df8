import Web

/// An event that was kept, to be printed later or in place of another.
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
    var data = data
    type.withUnsafeBytes { type in
      id.withUnsafeBytes { id in
        data.withUnsafeMutableBytes { data in
          body(StreamEventView(type: type, id: id, data: data, isPartial: isPartial))
        }
      }
    }
  }
}
