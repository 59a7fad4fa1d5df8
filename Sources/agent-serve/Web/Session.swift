import Core
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// One client's connection, request by request; it lives on the connection's loop.
final class Session: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// What is written of an answer at a time; the client has a while for each piece.
  private static let pieceSize = 64 * 1024

  /// Whose turn it is.
  enum State {
    /// The client's, to ask for something.
    case idle
    /// The client's, to send the body of `request`.
    case receiving
    /// Ours, to make an answer.
    case working
    /// The client's, to read this.
    case answering(Outgoing)
    /// It follows a stream.
    case following(ServedStream, Subscriber)
    /// All is said; what the client sends is not looked at.
    case closing
  }

  /// An answer under way.
  struct Outgoing {
    /// What is left of the body.
    var rest: ByteBuffer
    /// Whether the connection ends behind it.
    let closes: Bool
    /// Whether the request was read to its end.
    let isRead: Bool
    /// Whether the request had a body that says where it ends only by its length.
    let hadLength: Bool
  }

  private struct Incoming {
    let head: RequestHead
    var plan: BodyPlan
    var bytes: [UInt8] = []
    var count = 0
  }

  let service: any RequestService
  let connection: Connection
  var state = State.idle
  private let input: InputWatch
  private var request: Incoming?
  private var ticket: Ticket?
  /// Makes an answer that is held.
  private var held: Task<Void, Never>?
  private var isInputOver = false
  private var isWriting = false

  /// - Parameters:
  ///   - service: answers the requests.
  ///   - connection: the connection.
  ///   - input: sees the client's bytes first.
  init(_ service: any RequestService, _ connection: Connection, _ input: InputWatch) {
    self.service = service
    self.connection = connection
    self.input = input
  }

  // MARK: - What happens on the connection

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (Self.unwrapInboundIn(data), state) {
    case (.head(let head), .idle): begin(head, context)
    case (.body(let bytes), .receiving): take(bytes, context)
    case (.end, .receiving): finish(context)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch state {
    case .idle where error is NIOWebSocketUpgradeError:
      // The request comes by itself, and is answered.
      return
    case .idle, .receiving:
      guard let error = error as? HTTPParserError else { break }
      return refuse(error == .headerOverflow ? .headTooLarge : .malformed, context)
    default: break
    }
    context.close(promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let overdue as Connection.Overdue:
      switch (overdue.kind, state) {
      case (.head, .idle), (.body, .receiving): refuse(.late, context)
      case (_, .idle), (.room, .answering), (.room, .closing): context.close(promise: nil)
      // Who took nothing for so long is as good as gone.
      case (.piece, .following(_, let subscriber)): subscriber.end(.cut)
      default: break
      }
    case ChannelEvent.inputClosed:
      isInputOver = true
      switch state {
      case .working: held?.cancel()
      case .answering: break
      default: context.close(promise: nil)
      }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) { write(context) }

  func channelInactive(context: ChannelHandlerContext) {
    if case .following(let stream, let subscriber) = state {
      subscriber.end(.cut)
      stream.close(subscriber)
    }
    state = .closing
    ticket = nil
    request = nil
    held?.cancel()
    context.fireChannelInactive()
  }

  // MARK: - A request

  private func begin(_ parsed: HTTPRequestHead, _ context: ChannelHandlerContext) {
    ticket = service.tickets.take()
    if ticket == nil { return context.close(promise: nil) }
    let head: RequestHead
    do throws(RequestFault) { head = try RequestHead(parsed) } catch {
      return refuse(error, context)
    }
    connection.expect(.body)
    let length = if case .length(let count) = head.framing { count } else { 0 }
    var plan = service.bodyPlan(head)
    if length > plan.limit { plan.keeps = false }
    request = Incoming(head: head, plan: plan)
    // A client that waits for our word need not send what will be refused.
    if length > (head["expect"] == nil ? plan.patience : plan.limit) {
      return work(.tooLarge, isRead: false, context)
    }
    if head["expect"]?.lowercased() == "100-continue" {
      let ready = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(Self.wrapOutboundOut(.head(ready)), promise: nil)
    }
    state = .receiving
  }

  private func take(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    guard let head = request?.head, let plan = request?.plan else { return }
    let count = (request?.count ?? 0) + bytes.readableBytes
    request?.count = count
    if count <= plan.limit {
      guard plan.keeps else { return }
      if plan.share?.take(bytes.readableBytes) ?? true {
        request?.bytes += bytes.readableBytesView
      } else {
        request = nil
        send(.busy, to: head, isRead: false, context)
      }
    } else {
      request?.bytes = []
      request?.plan.share = nil
      if count > plan.patience { work(.tooLarge, isRead: false, context) }
    }
  }

  private func finish(_ context: ChannelHandlerContext) {
    guard let request else { return }
    let head = request.head
    if let stream = service.stream(head) {
      connection.expect(nil)
      ticket = nil
      self.request = nil
      return follow(stream, isOld: head.isOld, context)
    }
    let isTooLarge = request.count > request.plan.limit
    work(isTooLarge ? .tooLarge : .whole(request.bytes), isRead: true, context)
  }

  private func work(_ body: RequestBody, isRead: Bool, _ context: ChannelHandlerContext) {
    guard let request else { return }
    let (head, plan) = (request.head, request.plan)
    self.request = nil
    state = .working
    connection.expect(nil)
    let here = NIOLoopBound((session: self, context: context), eventLoop: context.eventLoop)
    let task = Task { [service, loop = context.eventLoop] in
      let answer = await service.respond(to: head, body: body)
      withExtendedLifetime(plan.share) {}
      loop.execute {
        let (session, context) = here.value
        session.held = nil
        guard case .working = session.state else { return }
        switch answer {
        case .whole(let answer): session.send(answer, to: head, isRead: isRead, context)
        case .stream(let stream): session.follow(stream, isOld: head.isOld, context)
        }
      }
    }
    if plan.isHeld { held = task }
  }

  // MARK: - An answer

  /// Answers what is not a request; nothing behind it is read as one.
  private func refuse(_ fault: RequestFault, _ context: ChannelHandlerContext) {
    request = nil
    send(fault.answer, to: nil, isRead: false, context)
  }

  private func send(
    _ answer: WholeAnswer, to head: RequestHead?, isRead: Bool, _ context: ChannelHandlerContext
  ) {
    var answer = answer
    answer.closes = !isRead || head?.keepsAlive != true
    if answer.closes { input.isDeaf = true }
    let hadLength = head.map { $0.framing != .chunked && $0.framing != .length(0) } ?? false
    var outgoing = Outgoing(
      rest: ByteBuffer(bytes: head?.method == "HEAD" ? [] : answer.body),
      closes: answer.closes, isRead: isRead, hadLength: hadLength)
    // The head leaves together with the beginning of the body.
    context.write(Self.wrapOutboundOut(.head(answer.head())), promise: nil)
    writePiece(&outgoing, context)
    write(context)
  }

  /// Writes the next piece of an answer, if there is one, and what waits before it.
  private func writePiece(_ outgoing: inout Outgoing, _ context: ChannelHandlerContext) {
    let size = min(outgoing.rest.readableBytes, Self.pieceSize)
    if let piece = outgoing.rest.readSlice(length: size), size > 0 {
      context.write(Self.wrapOutboundOut(.body(.byteBuffer(piece))), promise: nil)
    }
    state = .answering(outgoing)
    connection.expect(.room)
    context.flush()
  }

  /// Writes as long as the client has room.
  func write(_ context: ChannelHandlerContext) {
    // A flush may say at once that there is room again.
    if isWriting { return }
    isWriting = true
    defer { isWriting = false }
    while context.channel.isActive && context.channel.isWritable {
      switch state {
      case .answering(var outgoing):
        if outgoing.rest.readableBytes > 0 {
          writePiece(&outgoing, context)
        } else {
          end(outgoing, context)
        }
      case .following(_, let subscriber):
        guard deliver(subscriber, context) else { return }
      default: return
      }
    }
  }

  private func end(_ outgoing: Outgoing, _ context: ChannelHandlerContext) {
    ticket = nil
    if !outgoing.closes && !isInputOver {
      state = .idle
      // Part of the next request may have come already.
      let hasBegun = !outgoing.hadLength && !input.endsRequest
      connection.expect(hasBegun ? .head : .next)
      // The next request may come before this returns.
      return context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }
    state = .closing
    if outgoing.isRead || isInputOver { return context.close(promise: nil) }
    // Closing over unread bytes would reset the connection, and the client might
    // never see the answer: what is under way is read for a moment.
    context.close(mode: .output, promise: nil)
    context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(2)) {
      context.close(promise: nil)
    }
  }
}
