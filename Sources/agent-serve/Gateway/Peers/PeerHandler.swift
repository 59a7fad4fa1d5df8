import Core
import NIOCore
import NIOWebSocket

/// The frames of one WebSocket (RFC 6455): what a client must not send ends the
/// connection with the code that says so.
final class PeerHandler: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = Peer.Outgoing
  typealias OutboundOut = WebSocketFrame

  /// How long a client has to connect.
  private static let patience = TimeAmount.seconds(15)
  /// How long it has to take what is left, and to close, before it is broken off.
  private static let closing = TimeAmount.seconds(5)
  /// The longest message before that, bytes (Agent/OpenClaw/CONTRACT.md 3).
  static let openingLimit = 64 * 1024

  private let peer: Peer
  private let serve: @Sendable (Peer) async -> Void
  private var hasClosed = false
  /// Whether a pong has not left yet, and what is to be answered then.
  private var isPonging = false
  private var ping: ByteBuffer?

  /// - Parameters:
  ///   - peer: the connection as the gateway knows it.
  ///   - serve: what is done with it, until it is closed.
  init(_ peer: Peer, serve: @escaping @Sendable (Peer) async -> Void) {
    self.peer = peer
    self.serve = serve
  }

  func handlerAdded(context: ChannelHandlerContext) {
    Task { [serve, peer] in await serve(peer) }
    // The kernel keeps little for a client that does not read, and asks after one
    // that says nothing.
    let options = context.channel.syncOptions
    try? options?.setOption(.socketOption(.so_sndbuf), value: 256 * 1024)
    try? options?.setOption(.socketOption(.so_keepalive), value: 1)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
      if !peer.isOpen { fail(CloseCode.policy, "connect timed out", context) }
    }
  }

  func read(context: ChannelHandlerContext) {
    if !peer.holds() { context.read() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = Self.unwrapInboundIn(data)
    if hasClosed && frame.opcode != .connectionClose { return }
    var data = frame.unmaskedData
    switch frame.opcode {
    case .text:
      guard peer.isOpen || data.readableBytes <= Self.openingLimit else {
        return fail(CloseCode.tooLarge, "message too long", context)
      }
      let bytes = Array(data.readableBytesView)
      guard bytes.withUnsafeBytes(UTF8Text.isValid) else {
        return fail(CloseCode.notText, "", context)
      }
      peer.deliver(bytes)
    case .ping: answer(data, context)
    case .pong: break
    case .connectionClose:
      let code = data.readInteger(as: UInt16.self)
      let reason = data.readableBytesView
      let isGood = Self.isLegal(code, rest: reason.count) && UTF8Text.isValid(reason)
      fail(isGood ? code.map(Int.init) : CloseCode.protocolError, "", context)
      context.close(promise: nil)
    case .binary: fail(CloseCode.unsupported, "text messages only", context)
    default: fail(CloseCode.protocolError, "", context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case NIOWebSocketError.invalidFrameLength,
      NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge, is OpeningLimit.Passed:
      fail(CloseCode.tooLarge, "message too long", context)
    case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error, is FrameCheck.Violation:
      fail(CloseCode.protocolError, "", context)
    // It goes on coming, and nobody looks at it.
    case is ByteToMessageDecoderError where hasClosed: break
    default: context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A client that closes only its half cannot take part any more.
    if case ChannelEvent.inputClosed = event { return context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    peer.finish()
    peer.noteGone()
    context.fireChannelInactive()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch Self.unwrapOutboundIn(data) {
    case .text(let bytes):
      if hasClosed {
        promise?.succeed()
        return
      }
      let frame = WebSocketFrame(fin: true, opcode: .text, data: bytes)
      context.write(Self.wrapOutboundOut(frame), promise: promise)
    case .close(let code, let reason):
      fail(code, reason, context)
      promise?.succeed()
    }
  }

  /// Answers a ping; of those that come while an answer waits for the client, the last one
  /// alone (RFC 6455, section 5.5.3): who does not read must not pile them up.
  private func answer(_ ping: ByteBuffer, _ context: ChannelHandlerContext) {
    if isPonging {
      self.ping = ping
      return
    }
    isPonging = true
    let pong = WebSocketFrame(fin: true, opcode: .pong, data: ping)
    context.writeAndFlush(Self.wrapOutboundOut(pong)).assumeIsolated().whenComplete { [self] _ in
      isPonging = false
      guard let next = self.ping else { return }
      self.ping = nil
      if !hasClosed { answer(next, context) }
    }
  }

  /// Says goodbye, once, and gives the client a moment to do so.
  private func fail(_ code: Int?, _ reason: String, _ context: ChannelHandlerContext) {
    if hasClosed { return }
    hasClosed = true
    peer.finish()
    var data = ByteBuffer()
    if let code {
      data.writeInteger(UInt16(code))
      data.writeBytes(Self.short(reason))
    }
    send(WebSocketFrame(fin: true, opcode: .connectionClose, data: data), context)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.closing) {
      context.close(promise: nil)
    }
  }

  private func send(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
    context.writeAndFlush(Self.wrapOutboundOut(frame), promise: nil)
  }

  /// As much of a reason as a frame of control takes (RFC 6455, section 5.5).
  private static func short(_ reason: String) -> [UInt8] {
    var bytes = Array(reason.utf8.prefix(123))
    while !bytes.withUnsafeBytes(UTF8Text.isValid) { bytes.removeLast() }
    return bytes
  }

  /// Whether a client may say so (RFC 6455, section 7.4).
  private static func isLegal(_ code: UInt16?, rest: Int) -> Bool {
    guard let code else { return rest == 0 }
    return switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}

extension UTF8Text {
  fileprivate static func isValid(_ view: ByteBufferView) -> Bool {
    Array(view).withUnsafeBytes { isValid($0) }
  }
}
