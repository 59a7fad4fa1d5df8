import Core
import Frames

/// One connection of a WebSocket, as its client (RFC 6455). It connects once: for more,
/// see `SocketStream`.
public final class WebSocket {
  enum State {
    case connecting
    /// The request is on its way, or the body of another answer than 101.
    case asking(AnswerReader, until: Double)
    case open
    /// A close frame is on its way. The end is told when the other side has done its
    /// part, or at a time at the latest; nil while its close frame is awaited.
    case closing(SocketEnd?, until: Double)
    case ended
  }

  let client: WebClient
  let options: SocketOptions
  unowned let handler: (any SocketHandler)
  var request: Request
  /// Whether the token was refused, and another one was found.
  var hasRenewed = false
  let route: RequestRoute
  var state = State.connecting
  var upgrade: Upgrade
  var connection: RawConnection?
  var writer = FrameWriter()
  var reader: FrameReader?
  let region = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 4096)
  /// Whether frames of the region wait for `release`.
  var isHeld = false
  var hasFrames = false
  /// The payload of the newest ping that is not answered, because the network takes
  /// nothing. Older ones then need no answer (RFC 6455, section 5.5.3), so that a flood of
  /// them fills no memory.
  var duePong: [UInt8]?

  /// How much is read at a time before others get their turn, bytes.
  static let share = 1 << 20
  /// With more than this unsent, pings are answered later, bytes.
  static let crowded = 1 << 16

  /// The time of the last bytes received, seconds of `Clock.monotonic`; before any, of
  /// the beginning.
  public internal(set) var lastHeard = Clock.monotonic

  /// Connects at once. Its owner keeps it until `socketEnded`, or cancels it.
  ///
  /// - Parameters:
  ///   - client: whose `perform` drives it.
  ///   - request: the address, and the headers with the token; `http` means `ws`.
  ///     Redirects are followed; across origins private headers stay behind.
  ///   - options: what is asked of it.
  ///   - handler: told what happens, never from within this call; not retained, and
  ///     outlives the socket.
  public init(
    _ client: WebClient, _ request: Request, options: SocketOptions,
    handler: any SocketHandler
  ) {
    self.client = client
    var request = request
    request.token?.authorize(&request)
    self.request = request
    self.options = options
    self.handler = handler
    route = RequestRoute(request)
    upgrade = Upgrade(request, subprotocols: options.subprotocols, agent: client.agent)
    connect()
  }

  deinit {
    cancel()
    region.deallocate()
  }

  /// Whether messages can be sent: after `socketOpened`, until a close from either side.
  public var isOpen: Bool { if case .open = state { true } else { false } }

  /// Bytes that were not yet given to the network.
  public var unsent: Int { writer.unsent }

  /// Sends a text. It waits in memory until the network takes it.
  ///
  /// - Parameter text: UTF-8. Before the socket is open, and after its end, nothing is
  ///   sent.
  public func send(text: [UInt8]) { send(.text, text) }

  /// Sends bytes. They wait in memory until the network takes them.
  ///
  /// - Parameter binary: a message; nothing is sent while the socket is not open.
  public func send(binary: [UInt8]) { send(.binary, binary) }

  /// Asks the other side for a sign of life, which `lastHeard` then shows.
  public func ping() { send(.ping, []) }

  /// Ends the connection in order. `socketEnded` follows within `closeWait`; until then
  /// messages may still come.
  ///
  /// - Parameters:
  ///   - code: 1000 for a usual end; 3000 to 4999 have a meaning of the application's.
  ///   - reason: for people; cut off after 123 bytes.
  public func close(_ code: UInt16, _ reason: String) {
    guard isOpen else { return }
    beginClose(CloseFrame.payload(code, reason), nil)
  }

  /// Ends the connection at once; nothing more is told. The other side still gets what
  /// waits for it and a close frame, as far as the network takes them without a wait.
  ///
  /// - Parameter code: why; as for `close`.
  public func cancel(_ code: UInt16 = 1000) {
    takeLeave(code)
    state = .ended
    disconnect()
  }

  func send(_ opcode: FrameWriter.Opcode, _ payload: [UInt8]) {
    guard isOpen else { return }
    writer.add(opcode, payload)
    connection?.isReady = true
  }

  /// Takes no more bytes until `release`: TCP holds the other side back.
  public func hold() {
    isHeld = true
    connection?.wantsRead = false
  }

  /// Goes on after `hold`, with the next `perform`.
  public func release() {
    guard isHeld else { return }
    isHeld = false
    lastHeard = Clock.monotonic
    connection?.wantsRead = true
    connection?.isReady = true
  }

  /// Ends what has waited for too long.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  public func tick(now: Double) -> Double {
    switch state {
    case .connecting, .open, .ended: return .infinity
    case .asking(var reader, let until):
      if now < until { return until }
      if !reader.hasHead {
        finish(.network("no answer within \(StreamPolicy.seconds(options.answerWait)) s"))
      } else {
        take(reader.finish())
      }
    case .closing(let end, let until):
      if now < until { return until }
      finish(end ?? .closed(code: nil, reason: ""))
    }
    return .infinity
  }
}
