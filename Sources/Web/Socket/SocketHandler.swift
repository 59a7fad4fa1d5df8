public import Frames

/// What is asked of a WebSocket.
public struct SocketOptions: Sendable {
  /// The subprotocols that are offered, the dearest first; the server takes one or none.
  public var subprotocols: [String] = []
  /// The largest message that is handed over, bytes; nil for `largest`.
  public var maxMessageBytes: Int?
  /// How long the answer to the request may take once the connection is made, seconds.
  public var answerWait = 30.0
  /// How long the other side has for its part of the end, seconds.
  public var closeWait = 2.0

  /// Whether a redirect to another origin is refused: for a protocol that shows its secrets
  /// in messages, and not in headers, which stay behind.
  public var staysAtOrigin = false

  /// No subprotocol, messages of any size up to `largest`.
  public init() {}

  /// The largest message that is taken, bytes.
  public static let largest = FrameReader.largest
}

/// What a WebSocket tells its owner, from within `WebClient.perform` or `tick`.
public protocol SocketHandler: AnyObject {
  /// The connection is open. The place is the address behind all redirects, for
  /// messages; the subprotocol is the one that the server took.
  func socketOpened(_ place: String, subprotocol: String?)
  /// A whole message came.
  func socketMessage(_ message: SocketMessage)
  /// A message over the limit is dropped, of which so many bytes are known of; the
  /// connection goes on.
  func socketOversize(bytes: Int)
  /// Nothing more comes. Told once.
  func socketEnded(_ end: SocketEnd)
}

extension SocketHandler {
  /// Does nothing.
  public func socketOversize(bytes: Int) {}
}

/// Why a WebSocket ended.
public enum SocketEnd {
  /// In order, with the code and the words of the other side. The code is nil when it
  /// gave none.
  case closed(code: UInt16?, reason: String)
  /// The server gave another answer than 101: its head, and the body or the beginning
  /// of it.
  case refused(ResponseHead, [UInt8])
  /// The redirects make no sense; one line.
  case redirects(String)
  /// The server answered 101 as no server of WebSockets does; one line.
  case notSocket(String)
  /// The other side broke the protocol, for which the connection was failed with a
  /// code; one line.
  case violated(code: UInt16, String)
  /// The network failed; one line.
  case network(String)
}
