/// One message of a WebSocket, whole.
public struct SocketMessage {
  /// Whether it is text, and then valid UTF-8; else it is binary.
  public let isText: Bool
  /// Its bytes, valid during the call of a handler only.
  public let bytes: UnsafeRawBufferPointer

  /// - Parameter isText: whether the bytes are checked UTF-8.
  public init(isText: Bool, bytes: UnsafeRawBufferPointer) {
    (self.isText, self.bytes) = (isText, bytes)
  }
}
