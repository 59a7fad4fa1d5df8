import Core
import NIOCore
import NIOHTTP1

extension Session {
  /// Begins a stream, which lasts until the client is gone or the server ends.
  func follow(_ feed: ServedFeed, _ head: RequestHead, _ context: ChannelHandlerContext) {
    state = .following(feed, nil)
    let here = NIOLoopBound((session: self, context: context), eventLoop: context.eventLoop)
    Task { [service, loop = context.eventLoop] in
      let resumeAfter = try await feed.resumePoint(head["last-event-id"])
      let subscriber = Subscriber(limit: service.backlogLimit) {
        loop.execute { here.value.session.wake(here.value.context) }
      }
      let isOpen = try await loop.submit {
        here.value.session.open(subscriber, isOld: head.isOld, here.value.context)
      }.get()
      if isOpen { await subscriber.catchUp(with: feed, resumeAfter: resumeAfter) }
    }
  }

  /// - Returns: false when there is no stream: the client is gone, or the server
  ///   is about to stop.
  private func open(
    _ subscriber: Subscriber, isOld: Bool, _ context: ChannelHandlerContext
  ) -> Bool {
    guard case .following(let feed, nil) = state else { return false }
    guard feed.hub.add(subscriber) else {
      context.close(promise: nil)
      return false
    }
    state = .following(feed, subscriber)
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
    return true
  }

  /// Looks at what the subscriber has got.
  private func wake(_ context: ChannelHandlerContext) {
    guard case .following(_, let subscriber?) = state else { return }
    if subscriber.isCut { context.close(promise: nil) } else { write(context) }
  }

  /// Writes the next piece of a stream.
  ///
  /// - Returns: false when there is none.
  func deliver(_ subscriber: Subscriber, _ context: ChannelHandlerContext) -> Bool {
    switch subscriber.next() {
    case .bytes(let bytes):
      context.writeAndFlush(Self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
      return true
    case .nothing: break
    case .finished:
      context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).assumeIsolated()
        .whenComplete { _ in context.close(promise: nil) }
    }
    return false
  }
}

extension ServedFeed {
  /// The action after which a client wants to go on; nil when it names none, or
  /// one that this store never gave out: then it needs a snapshot.
  fileprivate func resumePoint(_ text: String?) async throws -> Int64? {
    guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
      let id = Int64(text), id <= (try await store.newestID())
    else { return nil }
    return id
  }
}
