/// One message of a WebSocket, whole.
public struct SocketMessage {
  /// Whether it is text, and then valid UTF-8; else it is binary.
  public let isText: Bool
  /// Its bytes, which may be changed; valid during the call only.
  public let bytes: UnsafeMutableRawBufferPointer

  /// - Parameters:
  ///   - isText: whether the bytes are checked UTF-8.
  ///   - bytes: of the message; may be changed by the taker.
  public init(isText: Bool, bytes: UnsafeMutableRawBufferPointer) {
    self.isText = isText
    self.bytes = bytes
  }
}
