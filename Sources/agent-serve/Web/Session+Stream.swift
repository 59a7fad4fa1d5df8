import Core
import NIOCore
import NIOHTTP1

extension Session {
  /// Begins a stream, which lasts until the client is gone, all is said, or the server
  /// ends.
  func follow(_ stream: ServedStream, isOld: Bool, _ context: ChannelHandlerContext) {
    let here = NIOLoopBound((session: self, context: context), eventLoop: context.eventLoop)
    let subscriber = Subscriber(limit: service.backlogLimit) { [loop = context.eventLoop] in
      loop.execute { here.value.session.wake(here.value.context) }
    }
    guard stream.open(subscriber) else { return context.close(promise: nil) }
    state = .following(stream, subscriber)
    begin(isOld: isOld, context)
    Task { await stream.fill(subscriber) }
  }

  private func begin(isOld: Bool, _ context: ChannelHandlerContext) {
    // The kernel keeps little for a client that does not read, and asks after one
    // that says nothing.
    let options = context.channel.syncOptions
    try? options?.setOption(.socketOption(.so_sndbuf), value: 256 * 1024)
    try? options?.setOption(.socketOption(.so_keepalive), value: 1)
    var headers = HTTPHeaders([
      ("Date", Timestamp.now().httpDate), ("Content-Type", "text/event-stream"),
      ("Cache-Control", "no-cache"), ("Connection", "keep-alive"), ("X-Accel-Buffering", "no"),
    ])
    // A client of HTTP/1.0 knows no chunks: the end of the connection ends it.
    if !isOld { headers.add(name: "Transfer-Encoding", value: "chunked") }
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
    context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
  }

  /// Looks at what the subscriber has got.
  private func wake(_ context: ChannelHandlerContext) {
    guard case .following(_, let subscriber) = state else { return }
    if subscriber.isCut { context.close(promise: nil) } else { write(context) }
  }

  /// Writes the next piece of a stream.
  ///
  /// - Returns: false when there is none.
  func deliver(_ subscriber: Subscriber, _ context: ChannelHandlerContext) -> Bool {
    switch subscriber.next() {
    case .bytes(let bytes):
      connection.expect(.piece)
      context.writeAndFlush(Self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
      return true
    case .nothing: connection.expect(nil)
    case .finished:
      connection.expect(.piece)
      context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).assumeIsolated()
        .whenComplete { _ in context.close(promise: nil) }
    }
    return false
  }
}
