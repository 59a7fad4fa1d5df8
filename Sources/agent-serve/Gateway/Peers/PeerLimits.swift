import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Ends a connection that sends much before it is connected: the decoder alone would
/// keep all of a long frame.
final class OpeningLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// Thrown at the handlers behind.
  struct Passed: Error {}

  private let peer: Peer
  private var count = 0

  init(_ peer: Peer) { self.peer = peer }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !peer.isOpen {
      count += Self.unwrapInboundIn(data).readableBytes
      if count > 2 * PeerHandler.openingLimit { return context.fireErrorCaught(Passed()) }
    }
    context.fireChannelRead(data)
  }
}

/// Refuses the frames that the decoder lets pass (RFC 6455, sections 5.1 and 5.2). It
/// stands before the aggregator, behind which masks are gone.
final class FrameCheck: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias InboundOut = WebSocketFrame

  /// Thrown at the handlers behind.
  struct Violation: Error {}

  private var isBroken = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isBroken { return }
    let frame = Self.unwrapInboundIn(data)
    let isKnown =
      switch frame.opcode {
      case .continuation, .text, .binary, .connectionClose, .ping, .pong: true
      default: false
      }
    if isKnown && frame.maskKey != nil && frame.reservedBits.isEmpty {
      return context.fireChannelRead(data)
    }
    isBroken = true
    context.fireErrorCaught(Violation())
  }
}

extension SocketUpgrade {
  /// How many fragments a message may come in.
  private static let fragmentLimit = 16384

  /// The WebSockets of the gateway.
  ///
  /// - Parameters:
  ///   - messageLimit: the longest message, bytes.
  ///   - accepts: whether a request may.
  ///   - peer: makes the gateway's side of a connection.
  ///   - serve: what is done with it, until it is closed.
  init(
    messageLimit: Int, accepts: @escaping @Sendable (RequestHead) -> Bool,
    peer: @escaping @Sendable (any Channel) -> Peer,
    serve: @escaping @Sendable (Peer) async -> Void
  ) {
    self.init(accepts: accepts, frameLimit: messageLimit) { channel in
      let peer = peer(channel)
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(OpeningLimit(peer), position: .first)
      try pipeline.addHandler(FrameCheck())
      try pipeline.addHandler(
        NIOWebSocketFrameAggregator(
          minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Self.fragmentLimit,
          maxAccumulatedFrameSize: messageLimit))
      try pipeline.addHandler(PeerHandler(peer, serve: serve))
    }
  }
}
